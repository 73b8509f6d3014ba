//! What is posted to a webhook source: only a signed, fresh, readable mail of a sensible size is taken.

use serde_json::Value;

use crate::support::http_peer::HttpPeer;
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::webhook_caller::Post;

#[test]
fn what_is_not_signed_fresh_and_readable_is_refused_by_its_status() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let caller = program.add_source(&mailbox);
    let mut running = program.start_headless();
    let mail = Mail::new("By a stranger").bytes();
    let right = Post::mail("event", &mail);
    let large = vec![b'x'; 32 * 1024 * 1024 + 1];
    let refused = |post: Post<'_>, status: u16, why: &str| {
        let (given, answer) = caller.post(&post);
        assert_eq!(given, status, "{why}: {answer}");
    };
    refused(Post { forged: true, ..right.clone() }, 401, "another body's signature");
    refused(Post { skew: -301, ..right.clone() }, 401, "a stale timestamp");
    refused(Post { skew: 302, ..right.clone() }, 401, "one of the future");
    refused(Post { body: &large, ..right.clone() }, 413, "over 32 MiB");
    refused(Post { content_type: "text/html", ..right.clone() }, 415, "no mail");
    refused(Post { body: b"", ..right.clone() }, 422, "nothing");
    refused(Post { body: &[0, 255, 254, 1, 2], ..right.clone() }, 422, "no header");
    refused(Post::notice("event", b"{\"message_id\": "), 422, "broken JSON");
    refused(Post::notice("event", b"{\"subject\": \"x\"}"), 422, "no name");
    let refused_all = program.db().number("SELECT count(*) FROM deliveries", []);
    assert_eq!((refused_all, peer.requests().len()), (0, 0), "nothing is stored of what was refused");

    let answer: Value = caller.post_mail("event", &mail);
    assert_eq!(answer["verdict"], "new", "and the right one is still taken");
    program.settle();
    assert_eq!(peer.app().taken().len(), 1);
    let log = running.log();
    assert!(running.stop().success() && !log.contains("panicked"), "it runs to its end: {log}");
    program.assert_sound();
}
