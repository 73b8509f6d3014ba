//! What the owner mistypes: each is refused with the reason, and nothing is kept of it.

use serde_json::json;

use crate::bad_input::{LIMIT, assert_refused};
use crate::support::dovecot::{Dovecot, Options, User};
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::program::{Output, Program};
use crate::support::receiver::Receiver;
use crate::support::wait;

/// `mailbox add` of a mailbox that is right but for `changes`: values of flags, in pairs.
fn add(program: &Program, dovecot: &Dovecot, user: &User, password: &str, changes: &[(&str, &str)]) -> Output {
    let (port, ca_file) = (dovecot.imaps_port.to_string(), dovecot.ca_file());
    let right = [
        ("--email", "owner@localhost"),
        ("--host", "localhost"),
        ("--port", &port),
        ("--username", &user.name),
        ("--ca-file", ca_file.to_str().expect("a plain path")),
        ("--folder", "INBOX"),
    ];
    let value = |flag: &str, value| changes.iter().find(|(changed, _)| *changed == flag).map_or(value, |(_, new)| *new);
    let kept = right.iter().map(|(flag, old)| (*flag, value(flag, *old)));
    let new = changes.iter().copied().filter(|(flag, _)| right.iter().all(|(known, _)| known != flag));
    let flags: Vec<&str> = kept.chain(new).filter(|(_, value)| !value.is_empty()).flat_map(|(f, v)| [f, v]).collect();
    program.run(&[&["mailbox", "add", "--password-stdin"], flags.as_slice()].concat(), format!("{password}\n"))
}

#[test]
fn a_mailbox_that_cannot_be_read_is_refused_with_the_reason() {
    let (dovecot, program) = (Dovecot::shared(), Program::new());
    let user = dovecot.fresh_user();
    let free = wait::free_port().to_string();
    let (imap, lmtp) = (dovecot.imap_port.to_string(), dovecot.lmtp_port.to_string());
    let refused = |changes: &[(&str, &str)], words: &str| {
        assert_refused(&add(&program, dovecot, &user, &user.password, changes), words);
    };
    refused(&[("--host", "no-such-host.invalid")], "no-such-host.invalid");
    refused(&[("--port", &free)], "refused");
    refused(&[("--port", &imap)], "TLS");
    refused(&[("--port", &lmtp), ("--tls", "starttls")], "");
    refused(&[("--ca-file", "")], "certificate");
    refused(&[("--ca-file", ""), ("--pin", &"0".repeat(64))], "certificate");
    refused(&[("--ca-file", "/nonexistent")], "/nonexistent");
    refused(&[("--username", "nobody")], "user name");
    refused(&[("--folder", "No such folder")], "No such folder");
    assert_refused(&add(&program, dovecot, &user, "wrong", &[]), "password");
    assert_refused(&add(&program, dovecot, &user, "", &[]), "password");
    assert_eq!(program.json(&["mailbox", "list"]), json!([]), "nothing is kept of what was refused");
    let secrets = std::fs::read_to_string(program.secrets_file()).unwrap_or_default();
    assert!(!secrets.contains("pass word"), "nor its password");

    assert!(add(&program, dovecot, &user, &user.password, &[]).status.success(), "the right one is taken");
    let pinned: &[(&str, &str)] =
        &[("--ca-file", ""), ("--pin", &dovecot.certificate_sha256), ("--email", "second@localhost")];
    assert!(add(&program, dovecot, &user, &user.password, pinned).status.success(), "and a pinned one");
    program.assert_sound();
}

#[test]
fn a_certificate_of_another_name_or_of_the_past_is_refused() {
    for (options, words) in [
        (Options { certificate_names: vec!["imap.example.com"], ..Options::default() }, "localhost"),
        (Options { certificate_expired: true, ..Options::default() }, "expired"),
    ] {
        let (dovecot, program) = (Dovecot::start_with(&options), Program::new());
        let user = dovecot.fresh_user();
        assert_refused(&add(&program, &dovecot, &user, &user.password, &[]), words);
    }
}

#[test]
fn a_server_that_goes_wrong_later_says_so_and_is_waited_for() {
    let (dovecot, peer, program) = (Dovecot::shared(), HttpPeer::start(Receiver::new()), Program::new());
    let user = dovecot.fresh_user();
    let mailbox = program.add_mailbox(dovecot, &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let wrong = ["mailbox", "set", &mailbox, "--password-stdin", "--no-test"];
    program.ok(&wrong, "wrong\n");
    let mut running = program.start_headless();
    let row = &program.json(&["status"])["mailboxes"][0];
    assert_eq!((&row["state"], &row["error"]["code"]), (&json!("sign_in"), &json!("sign_in")), "{row}");
    assert!(running.printed().contains("not watched"), "`ready` names it: {}", running.printed());
    dovecot.deliver(&user, &Mail::new("Waits for the password").bytes());
    program.ok(&["mailbox", "set", &mailbox, "--password-stdin"], format!("{}\n", user.password));
    let taken = peer.wait_taken(1, LIMIT);
    assert_eq!(taken[0].request.json()["subject"], "Waits for the password", "nothing is lost meanwhile");
    wait::until("it is watched", LIMIT, || program.json(&["status"])["mailboxes"][0]["state"] == "watching");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_destination_that_cannot_be_used_is_refused_with_the_reason() {
    let (peer, program) = (HttpPeer::start(Receiver::new()), Program::new());
    let url = format!("url={}/hook", peer.url());
    let add =
        |kind: &str, more: &[&str]| program.run(&[&["destination", "add", kind, "--name", "n"], more].concat(), "x\n");
    assert_refused(&add("webhook", &["--set", &url, "--set", "colour=red"]), "colour");
    assert_refused(&add("webhook", &[]), "url");
    assert_refused(&add("webhook", &["--set", "url=not a url"]), "url");
    assert_refused(&add("webhook", &["--set", "url=ftp://127.0.0.1/"]), "url");
    assert_refused(&add("webhook", &["--set", &url, "--secret", "secret=-"]), "secret");
    assert_refused(
        &add("webhook", &["--set", &url, "--set", "receiver_deduplicates=perhaps"]),
        "receiver_deduplicates",
    );
    assert_refused(&add("ntfy", &["--set", "topic=a b"]), "topic");
    assert_refused(&add("command", &["--set", "command=/nonexistent/program"]), "");
    assert_refused(&add("pigeon", &[]), "pigeon");
    peer.set(Mode::status(503));
    let failed = add("webhook", &["--set", &url]);
    assert_refused(&failed, "");
    assert!(failed.stderr.contains("--no-test"), "it names the way out: {}", failed.stderr);
    assert_eq!(program.json(&["destination", "list"]), json!([]), "nothing is kept of what was refused");

    peer.set(Mode::Accept);
    assert!(add("webhook", &["--set", &url]).status.success());
    assert_refused(&add("webhook", &["--set", &url, "--no-test"]), "");
    assert_eq!(program.json(&["destination", "list"]).as_array().unwrap().len(), 1, "one recipient, one destination");
    assert_eq!(program.json(&["status"])["today"]["rings"], 0, "a test is no ring");
    program.assert_sound();
}
