//! IDLE, and what follows it.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::mailbox::{FolderCursor, ImapServer, Mailbox};
use crate::net::tcp;
use crate::source::imap::catch_up::{Woken, wake};
use crate::source::imap::session::conn::ImapConn;
use crate::source::imap::session::idle::{Why, idle};
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::watch::{ImapSettings, ImapSource};
use crate::source::{Context, Exit, Health, HealthState, Method, Source as _};

use super::*;

const SILENCE: Duration = Duration::from_secs(280);

/// A whole watching, each of whose sessions has a script; its last health, and what it told.
async fn watching(scripts: Vec<Vec<String>>, until: impl Fn(&Health, &Recorder) -> bool) -> (Health, Arc<Recorder>) {
    let (listener, port) = tcp::loopback().await;
    let server = tokio::spawn(async move {
        let before = text(&[
            "S: * OK [CAPABILITY IMAP4rev1] hi",
            "C: $ LOGIN *",
            "S: $ OK",
            "C: $ CAPABILITY",
            "S: * CAPABILITY IMAP4rev1 IDLE",
            "S: $ OK",
        ]);
        for script in scripts {
            let (line, _) = listener.accept().await.unwrap();
            serve(line, [before.clone(), script].concat()).await;
        }
    });
    let sink = Arc::new(Recorder::default());
    sink.cursors.lock().unwrap().insert("INBOX".to_owned(), FolderCursor { floor_uid: 7, ..stored() });
    let (sender, mut health) = watch::channel(Health::default());
    let (_wake, woken) = watch::channel(0);
    let context =
        Context { sink: sink.clone(), health: sender, poke: Arc::new(Notify::new()), woken, clock: Clock::manual(NOW) };
    let imap = ImapServer { host: "127.0.0.1".into(), port, ..account("owner") };
    let mailbox = Mailbox {
        account_id: "account".into(),
        mailbox_id: "owner@example.com".into(),
        email: "owner@example.com".into(),
        imap: Some(imap),
        folders: vec!["INBOX".into()],
        link_template: None,
        paused: false,
    };
    let settings = ImapSettings {
        poll: Duration::from_secs(3600),
        dead_line: Duration::from_secs(300),
        old: Duration::from_secs(172_800),
        absence: Duration::from_secs(600),
    };
    let stop = CancellationToken::new();
    let source = Box::new(ImapSource { mailbox, password: "secret".into(), settings });
    let task = tokio::spawn(source.run(context, stop.clone()));
    let reached = timeout(Duration::from_secs(20), async {
        while !until(&health.borrow_and_update().clone(), &sink) {
            let _ = timeout(Duration::from_millis(50), health.changed()).await;
        }
    });
    let reached = reached.await;
    let last = health.borrow().clone();
    stop.cancel();
    assert_eq!(timeout(Duration::from_secs(10), task).await.unwrap().unwrap(), Exit::Stopped);
    if server.is_finished() {
        server.await.unwrap();
    }
    assert!(reached.is_ok(), "not reached, health is {last:?}");
    (last, sink)
}

fn told_of(sink: &Recorder, uid: u32) -> bool {
    let end = format!("UID={uid}");
    sink.reports.lock().unwrap().iter().flat_map(|report| &report.sightings).any(|one| one.locator.ends_with(&end))
}

#[tokio::test]
async fn where_idle_is_refused_the_server_is_asked_at_intervals() {
    let script = [opened(6, 7), text(&["C: $ IDLE", "S: $ NO not here", "OPEN"])].concat();
    let (health, _) = watching(vec![script], |health, _| health.method == Method::Poll).await;
    assert_eq!((health.state, health.error), (HealthState::Watching, None));
}

#[tokio::test]
async fn a_mail_that_can_be_fetched_only_later_is_not_forgotten() {
    let script = [
        opened(6, 7),
        text(&["C: $ IDLE", "S: + idling", "S: * 7 EXISTS", "C: DONE", &asks("7:206"), "S: % OK", "S: $ OK"]),
        reopened(7, 7),
        reopened(7, 7),
        reopened(7, 8),
        vec![asks("7:7"), fresh(7), "S: $ OK".into()],
        text(&["C: $ IDLE", "S: + idling", "OPEN"]),
    ];
    watching(vec![script.concat()], |_, sink| told_of(sink, 7)).await;
}

#[tokio::test]
async fn after_bye_or_the_end_of_the_line_comes_a_new_session_and_a_check() {
    let waits = |end: &[&str]| [opened(6, 7), text(&["C: $ IDLE", "S: + idling"]), text(end)].concat();
    // Whether there is X-GUID is known already.
    let mut last = reopened(7, 8);
    last.extend([asks("7:7"), fresh(7), "S: $ OK".into(), "OPEN".into()]);
    watching(vec![waits(&["S: * BYE timeout"]), last], |_, sink| told_of(sink, 7)).await;
}

/// IDLE, what the server says then, and how the waiting ends.
async fn idled(script: &[&str]) -> Result<(Why, bool), ImapError> {
    let mut all = text(&["C: $ IDLE"]);
    all.extend(text(script));
    let (mut conn, _server) = conn(all);
    let due = Instant::now() + Duration::from_secs(7200);
    let ended = idle(&mut conn, due, SILENCE, &Notify::new(), &CancellationToken::new()).await;
    ended.map(|(why, tag)| (why, tag.is_some()))
}

#[tokio::test(start_paused = true)]
async fn idle_ends_for_every_reason_there_is() {
    let case = async |script: &[&str], expected: (Why, bool)| {
        assert_eq!(idled(script).await, Ok(expected), "{script:?}");
    };
    case(&["S: + idling", "S: * 1 EXISTS", "HANG"], (Why::Mail, true)).await;
    case(&["S~ + idling\r\n* 1 EXISTS\r\n", "HANG"], (Why::Mail, true)).await;
    case(&["S: * 1 EXISTS", "S: + idling", "HANG"], (Why::Mail, true)).await;
    case(&["S: * FLAGS (\\Seen)", "S: +", "S: * 1 EXISTS", "HANG"], (Why::Mail, true)).await;
    case(&["S: + idling", "S: $ OK over"], (Why::Renew, false)).await;
    case(&["S: + idling", "S: $ NO not now"], (Why::Renew, false)).await;
    case(&["S: + idling", "S: $ BAD"], (Why::Renew, false)).await;
    case(&["S: + idling", "S: * OK Still here", "S: * 0 RECENT", "HANG"], (Why::Renew, true)).await;
    let many: Vec<String> = (1..=150).map(|n| format!("S: * {n} FETCH (FLAGS (\\Seen))")).collect();
    let flood = [text(&["S: + idling"]), many, text(&["S: * 151 EXISTS", "HANG"])].concat();
    case(&flood.iter().map(String::as_str).collect::<Vec<_>>(), (Why::Mail, true)).await;

    assert!(matches!(idled(&["S: $ NO no"]).await, Err(error @ ImapError::No(_)) if error.session_lives()));
    assert!(matches!(idled(&["S: $ BAD"]).await, Err(ImapError::Bad(_))));
    assert_eq!(idled(&["HANG"]).await, Err(ImapError::Timeout), "no `+`");
    assert_eq!(idled(&["S: + idling"]).await, Err(ImapError::Eof));
    assert!(matches!(idled(&["S: + idling", "S: * BYE so long"]).await, Err(ImapError::Bye(_))));
}

#[tokio::test(start_paused = true)]
async fn after_exists_done_and_fetch_leave_in_one_write() {
    let waits = text(&["C: $ IDLE", "S: + idling", "S: * 7 EXISTS", "C: DONE", &asks("7:206")]);
    let case = async |script: Vec<String>, expected: Woken, uids: &[u32], next_uid: u32| {
        let mut scene = scene([opened(6, 7), waits.clone(), script].concat());
        scene.check(false).await.unwrap();
        let due = Instant::now() + Duration::from_secs(60);
        let (why, tag) =
            idle(scene.reader.conn(), due, SILENCE, &Notify::new(), &CancellationToken::new()).await.unwrap();
        assert_eq!(why, Why::Mail);
        let woken = wake(&mut scene.reader, &scene.desk, &mut scene.watched, tag).await.unwrap();
        assert_eq!(woken, expected);
        assert_eq!(scene.told().iter().map(|(uid, _)| *uid).collect::<Vec<_>>(), uids);
        assert_eq!(scene.next_uid(), next_uid);
        scene.over().await;
    };
    let settled = |mails| Woken { mails, unsettled: false };
    let unsettled = |mails| Woken { mails, unsettled: true };
    case(vec!["S: % OK idle".into(), fresh(7), "S: $ OK".into()], settled(1), &[7], 8).await;
    case(vec!["S: % NO what".into(), fresh(7), "S: $ OK".into()], settled(1), &[7], 8).await;
    case(text(&["S: % OK idle", "S: $ OK"]), unsettled(0), &[], 7).await;
    case(text(&["S: % OK idle", "S: $ NO [SERVERBUG]"]), unsettled(0), &[], 7).await;
    let more = vec!["S: * 8 EXISTS".into(), "S: % OK idle".into(), fresh(7), "S: $ OK".into()];
    case(more, unsettled(1), &[7], 8).await;
    let swapped = vec!["S: * 2 EXPUNGE".into(), "S: % OK idle".into(), fresh(7), "S: $ OK".into()];
    case(swapped, settled(1), &[7], 8).await;
    let missed = vec!["S: * 1 EXPUNGE".into(), "S: * 7 EXISTS".into(), "S: % OK".into(), fresh(7), "S: $ OK".into()];
    case(missed, unsettled(1), &[7], 8).await;
    let gap = [
        vec!["S: * 8 EXISTS".into(), "S: % OK idle".into(), fresh(7), fresh(9), "S: $ OK".into()],
        text(&["C: $ UID SEARCH UID 8:9", "S: * SEARCH 9", "S: $ OK"]),
    ];
    case(gap.concat(), settled(2), &[7, 9], 10).await;
}

#[tokio::test(start_paused = true)]
async fn a_command_left_unfinished_ends_the_use_of_its_session() {
    let (mut conn, _server) = conn(text(&["C: $ NOOP", "HANG"]));
    let left = timeout(Duration::from_secs(1), conn.run_small("NOOP")).await;
    assert!(left.is_err());
    assert_eq!(conn.run_small("NOOP").await, Err(ImapError::Unfinished));
}

#[tokio::test(start_paused = true)]
async fn a_slow_line_is_not_a_dead_one() {
    let (mut far, near) = tokio::io::duplex(100);
    let mut conn = ImapConn::new(near);
    conn.skip_greeting();
    let server = tokio::spawn(async move {
        let mut command = vec![0; 9];
        far.read_exact(&mut command).await.unwrap();
        for octet in b"* 5 EXISTS\r\nR1 OK\r\n" {
            tokio::time::sleep(Duration::from_secs(20)).await;
            far.write_all(&[*octet]).await.unwrap();
        }
        far
    });
    assert!(conn.run_small("NOOP").await.is_ok());
    drop(server.await);
}
