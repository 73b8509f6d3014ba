//! What real servers will not do on demand, played line by line against the code above the socket.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::ids::{AccountId, DeliveryKey};
use crate::model::mailbox::{Backfill, BackfillPurpose, FolderCursor, ImapServer, Mailbox, SpecialUse, Tls};
use crate::model::sighting::{Intent, Report, Sighting, Verdict};
use crate::net::guard::Violation;
use crate::source::imap::backfill;
use crate::source::imap::catch_up::{Woken, check, wake};
use crate::source::imap::desk::Desk;
use crate::source::imap::place::Place;
use crate::source::imap::session::conn::ImapConn;
use crate::source::imap::session::failure::Next;
use crate::source::imap::session::folder::{Numbers, examine};
use crate::source::imap::session::idle::{Why, idle};
use crate::source::imap::session::login::{Session, greet, sign_in};
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::watch::{ImapSettings, ImapSource};
use crate::source::imap::watched::{Reader, Trouble, Watched};
use crate::source::{Context, Exit, Found, Health, HealthState, Method, NotStored, Sink, Source as _};

/// 1 January 2026.
const NOW: i64 = 1_767_225_600_000;
const DAY_MS: i64 = 86_400_000;

/// Remembers what was reported.
#[derive(Default)]
struct Recorder {
    reports: Mutex<Vec<Report>>,
    cursors: Mutex<HashMap<String, FolderCursor>>,
    unknown: Mutex<Vec<DeliveryKey>>,
}

impl Sink for Recorder {
    fn report(&self, report: Report) -> BoxFuture<'_, Result<Vec<Found>, NotStored>> {
        let found = report.sightings.iter().map(|sighting| Found {
            verdict: Verdict::New,
            message_key: sighting.delivery_key.as_str().into(),
            awaits_mail: false,
        });
        let found = found.collect();
        if let Some(moved) = &report.cursor {
            self.cursors.lock().unwrap().insert(moved.folder.clone(), moved.cursor.clone());
        }
        self.reports.lock().unwrap().push(report);
        Box::pin(async { Ok(found) })
    }

    fn cursor<'a>(
        &'a self,
        _: &'a AccountId,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Option<FolderCursor>, NotStored>> {
        let cursor = self.cursors.lock().unwrap().get(folder).cloned();
        Box::pin(async { Ok(cursor) })
    }

    fn known<'a>(&'a self, deliveries: &'a [DeliveryKey]) -> BoxFuture<'a, Result<Vec<bool>, NotStored>> {
        let unknown = self.unknown.lock().unwrap();
        let known = deliveries.iter().map(|key| !unknown.contains(key)).collect();
        Box::pin(async { Ok(known) })
    }
}

/// Plays the server. `C: ` is expected, with `$` for the tag and a final `*` for any rest; `S: ` is sent, with `$` for
/// the last tag and `%` for the one before it; `S~ ` is sent without a line end; `HANG` says nothing for ever,
/// `OPEN` until the client has gone. At the end the line is closed.
async fn serve(line: impl AsyncRead + AsyncWrite + Unpin, script: Vec<String>) {
    let mut line = BufReader::new(line);
    let mut tags = vec![String::new(), String::new()];
    for step in script {
        if let Some(expected) = step.strip_prefix("C: ") {
            let mut said = String::new();
            line.read_line(&mut said).await.unwrap();
            let mut said = said.trim_end().to_owned();
            if let Some((tag, rest)) = expected.strip_prefix("$ ").and_then(|_| said.split_once(' ')) {
                tags.push(tag.to_owned());
                said = format!("$ {rest}");
            }
            match expected.strip_suffix('*') {
                Some(start) => assert!(said.starts_with(start), "expected {expected:?}, got {said:?}"),
                None => assert_eq!(said, expected),
            }
        } else if step == "OPEN" {
            let mut rest = Vec::new();
            let _ = line.read_to_end(&mut rest).await;
        } else if step == "HANG" {
            std::future::pending::<()>().await;
        } else {
            let text = step[3..].replace('$', &tags[tags.len() - 1]).replace('%', &tags[tags.len() - 2]);
            let end = if step.starts_with("S~") { "" } else { "\r\n" };
            let _ = line.write_all(format!("{text}{end}").as_bytes()).await;
        }
    }
}

struct Scene {
    reader: Reader<DuplexStream>,
    desk: Desk,
    watched: Watched,
    sink: Arc<Recorder>,
    server: JoinHandle<()>,
}

fn lines(parts: &[&[String]]) -> Vec<String> {
    parts.concat()
}

fn text(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

/// EXAMINE of INBOX, whose server knows no X-GUID.
fn opened(exists: u32, uid_next: u32) -> Vec<String> {
    let mut lines = reopened(exists, uid_next);
    lines.extend(text(&["C: $ FETCH 1 (X-GUID)", "S: $ BAD Unknown item"]));
    lines
}

fn reopened(exists: u32, uid_next: u32) -> Vec<String> {
    vec![
        "C: $ EXAMINE \"INBOX\"".to_owned(),
        format!("S: * {exists} EXISTS"),
        "S: * NO A warning is no error".to_owned(),
        "S: * OK [UIDVALIDITY 3] valid".to_owned(),
        format!("S: * OK [UIDNEXT {uid_next}] next"),
        "S: $ OK [READ-ONLY] done".to_owned(),
    ]
}

/// What the server says of a mail.
fn mail(uid: u32, date: &str) -> String {
    let mail =
        format!("Subject: mail {uid}\r\nMessage-ID: <{uid}@x.example>\r\nDate: 1 Jan 2026 00:00:00 +0000\r\n\r\ntext");
    format!("S: * 1 FETCH (UID {uid} INTERNALDATE \"{date}\" BODY[]<0> {{{}}}\r\n{mail})", mail.len())
}

fn fresh(uid: u32) -> String {
    mail(uid, "01-Jan-2026 00:00:00 +0000")
}

fn stored() -> FolderCursor {
    FolderCursor {
        uid_validity: 3,
        next_uid: 7,
        floor_uid: 5,
        backfill: None,
        newest_known_at: None,
        last_check_at: Some(NOW),
    }
}

fn conn(script: Vec<String>) -> (ImapConn<DuplexStream>, JoinHandle<()>) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let mut conn = ImapConn::new(near);
    conn.skip_greeting();
    (conn, tokio::spawn(serve(far, script)))
}

fn scene(script: Vec<String>) -> Scene {
    let sink = Arc::new(Recorder::default());
    sink.cursors.lock().unwrap().insert("INBOX".to_owned(), stored());
    next_scene(sink, None, script)
}

/// Another session of the same watching.
fn next_scene(sink: Arc<Recorder>, watched: Option<Watched>, script: Vec<String>) -> Scene {
    let (conn, server) = conn(script);
    let context = Context {
        sink: sink.clone(),
        health: watch::channel(Health::default()).0,
        poke: Arc::new(Notify::new()),
        clock: Clock::manual(NOW),
    };
    let place = Place {
        account_id: "account".into(),
        mailbox_id: "owner@example.com".into(),
        folder: "INBOX".to_owned(),
        special_use: SpecialUse::None,
    };
    Scene {
        reader: Reader::new(Session { conn, capabilities: Vec::new() }, None),
        desk: Desk { context, old_ms: 2 * DAY_MS, record_check_ms: 1000 },
        watched: watched.unwrap_or_else(|| Watched::new(place)),
        sink,
        server,
    }
}

impl Scene {
    async fn check(&mut self, look_back: bool) -> Result<u32, Trouble> {
        check(&mut self.reader, &self.desk, &mut self.watched, look_back).await
    }

    fn sightings(&self) -> Vec<Sighting> {
        self.sink.reports.lock().unwrap().iter().flat_map(|report| report.sightings.clone()).collect()
    }

    /// UIDs and intents in the order of the reports.
    fn told(&self) -> Vec<(u32, Intent)> {
        let uid = |sighting: &Sighting| sighting.locator.rsplit_once("UID=").unwrap().1.parse().unwrap();
        self.sightings().iter().map(|sighting| (uid(sighting), sighting.intent)).collect()
    }

    fn next_uid(&self) -> u32 {
        self.sink.cursors.lock().unwrap()["INBOX"].next_uid
    }

    /// The server saw all that it expected.
    async fn over(self) -> (Arc<Recorder>, Watched) {
        drop(self.reader);
        timeout(Duration::from_secs(5), self.server).await.expect("the script is not over").unwrap();
        (self.sink, self.watched)
    }
}

/// A whole watching, each of whose sessions has a script; its last health, and what it told.
async fn watching(scripts: Vec<Vec<String>>, until: impl Fn(&Health, &Recorder) -> bool) -> (Health, Arc<Recorder>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
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
    let context =
        Context { sink: sink.clone(), health: sender, poke: Arc::new(Notify::new()), clock: Clock::manual(NOW) };
    let imap = ImapServer { host: "127.0.0.1".into(), port, ..account("owner") };
    let mailbox = Mailbox {
        account_id: "account".into(),
        mailbox_id: "owner@example.com".into(),
        email: "owner@example.com".into(),
        imap: Some(imap),
        folders: vec!["INBOX".into()],
        paused: false,
    };
    let settings = ImapSettings { poll: Duration::from_secs(3600), old: Duration::from_secs(172_800) };
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

fn broke(result: Result<u32, Trouble>) -> ImapError {
    match result {
        Err(Trouble::Line(error)) => error,
        other => panic!("expected a broken line: {other:?}"),
    }
}

const PAGE: &str = "(UID INTERNALDATE BODY.PEEK[]<0.262144>)";

fn asks(set: &str) -> String {
    format!("C: $ UID FETCH {set} {PAGE}")
}

#[tokio::test(start_paused = true)]
async fn a_page_is_complete_whatever_way_the_server_tells_it() {
    let case = async |name: &str, uid_next: u32, script: Vec<String>, told: &[(u32, Intent)]| {
        let mut scene = scene(lines(&[&opened(6, uid_next), &script]));
        let result = scene.check(false).await;
        assert!(result.is_ok(), "{name}: {result:?}");
        assert_eq!(scene.told(), told, "{name}");
        assert_eq!(scene.next_uid(), uid_next, "{name}");
        scene.over().await;
    };
    let ok = || "S: $ OK done".to_owned();
    let arrived = |uids: &[u32]| uids.iter().map(|uid| (*uid, Intent::Arrival)).collect::<Vec<_>>();
    case("nothing new", 7, vec![], &[]).await;
    case("one mail", 8, vec![asks("7:7"), fresh(7), ok()], &arrived(&[7])).await;
    let flags = "S: * 1 FETCH (UID 7 FLAGS (\\Seen))".to_owned();
    case("two responses for one mail", 8, vec![asks("7:7"), fresh(7), flags.clone(), ok()], &arrived(&[7])).await;
    case("flags first", 8, vec![asks("7:7"), flags, fresh(7), ok()], &arrived(&[7])).await;
    case("out of order", 9, vec![asks("7:8"), fresh(8), fresh(7), ok()], &arrived(&[7, 8])).await;
    case("a foreign tag's NO", 8, vec![asks("7:7"), "S: X9 NO other".into(), fresh(7), ok()], &arrived(&[7])).await;
    case("the last mail again, though it is older", 8, vec![asks("7:7"), fresh(6), fresh(7), ok()], &arrived(&[7]))
        .await;
    let search = |set: &str, found: &str| {
        vec![format!("C: $ UID SEARCH UID {set}"), format!("S: * SEARCH{found}"), "S: $ OK done".to_owned()]
    };
    let missing =
        [vec![asks("7:9"), fresh(7), fresh(9), ok()], search("7:9", " 7 8 9"), vec![asks("8:8"), fresh(8), ok()]];
    case("one did not come", 10, missing.concat(), &arrived(&[7, 8, 9])).await;
    let gone = [vec![asks("7:9"), fresh(7), fresh(9), ok()], search("7:9", " 7 9")];
    case("one is gone", 10, gone.concat(), &arrived(&[7, 9])).await;
    let none = [vec![asks("7:7"), ok()], vec!["C: $ UID SEARCH UID 7:7".into(), ok()]];
    case("no SEARCH line at all", 8, none.concat(), &[]).await;
    let odd = "S: * 2 FETCH (UID 99999999999 BODY[]<0> {1}\r\nx)".to_owned();
    let no_uid = [vec![asks("7:8"), fresh(7), odd, ok()], search("7:8", " 7 8"), vec![asks("8:8"), fresh(8), ok()]];
    case("a response without UID", 9, no_uid.concat(), &arrived(&[7, 8])).await;
    let noise = ["S: * XYZZY 5 (", "S: * 2 FETCH (UID 8 INTERNALDATE NIL)", "S: * 3 FETCH (FLAGS (\"", "S: "];
    let noisy = [text(&[&asks("7:7")]), text(&noise), vec![fresh(7), ok()]];
    case("what cannot be understood is left out", 8, noisy.concat(), &arrived(&[7])).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_fetch_is_not_no_mail() {
    for refusal in ["S: $ NO [SERVERBUG] Internal error", "S: $ BAD"] {
        let no = |set: &str| vec![asks(set), refusal.to_owned()];
        let search = |set: &str, found: &str| {
            text(&[&format!("C: $ UID SEARCH UID {set}"), &format!("S: * SEARCH{found}"), "S: $ OK done"])
        };
        let ok = |uids: &[u32], set: &str| {
            lines(&[&[asks(set)], &uids.iter().map(|uid| fresh(*uid)).collect::<Vec<_>>(), &text(&["S: $ OK done"])])
        };
        let script = [
            opened(9, 11),
            no("7:10"),
            search("7:10", " 7 8 9 10"),
            // The whole again, then halves.
            no("7:10"),
            ok(&[7, 8], "7:8"),
            no("9:10"),
            no("9:9"),
            no("9:9"),
            search("9:9", " 9"),
            ok(&[10], "10:10"),
        ];
        let mut scene = scene(script.concat());
        scene.check(false).await.unwrap();
        let expected = [(7, Intent::Arrival), (8, Intent::Arrival), (9, Intent::Unreadable), (10, Intent::Arrival)];
        assert_eq!(scene.told(), expected, "{refusal}");
        assert_eq!(scene.next_uid(), 11);
        scene.over().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_breaks_in_a_page_moves_nothing() {
    let case = async |script: Vec<String>, expected: ImapError| {
        let mut scene = scene(lines(&[&opened(6, 9), &[asks("7:8"), fresh(7)], &script]));
        let error = broke(scene.check(false).await);
        assert_eq!(error, expected);
        assert_eq!((scene.told().len(), scene.next_uid()), (0, 7), "{expected}");
        if expected != ImapError::Timeout {
            scene.over().await;
        }
    };
    case(vec![], ImapError::Eof).await;
    case(text(&["S~ * 2 FETCH (UID 8 BODY[]<0> {100}\r\nhalf"]), ImapError::Eof).await;
    case(text(&["HANG"]), ImapError::Timeout).await;
    let large = Violation::LiteralTooLarge { announced: 500_000_000, allowed: 266_240 };
    case(text(&["S: * 2 FETCH (UID 8 BODY[]<0> {500000000}", "S: xxx"]), ImapError::Guard(large)).await;
    case(vec![format!("S: * OK {}", "x".repeat(1 << 20))], ImapError::Guard(Violation::LineTooLong(1 << 20))).await;
    let mut scene = scene(lines(&[&opened(6, 9), &[asks("7:8")], &text(&["S: * BYE [UNAVAILABLE] later"])]));
    assert!(matches!(broke(scene.check(false).await), ImapError::Bye(words) if words.code == "UNAVAILABLE"));
}

#[tokio::test(start_paused = true)]
async fn a_mail_that_breaks_every_session_is_set_aside_and_the_others_are_read() {
    let poison = text(&["S: * 2 FETCH (UID 8 BODY[]<0> {500000000}"]);
    let search = |set: &str, found: &str| {
        text(&[&format!("C: $ UID SEARCH UID {set}"), &format!("S: * SEARCH{found}"), "S: $ OK done"])
    };
    let mut first = scene(lines(&[&opened(8, 10), &[asks("7:9"), fresh(7)], &poison]));
    broke(first.check(false).await);
    let (sink, watched) = first.over().await;
    let second = [
        opened(8, 10),
        vec![asks("7:7"), fresh(7), "S: $ OK".into()],
        search("8:9", " 8 9"),
        vec![asks("8:8")],
        poison,
    ];
    let mut second = next_scene(sink, Some(watched), second.concat());
    broke(second.check(false).await);
    assert_eq!(second.next_uid(), 8, "what came before it is stored");
    let (sink, watched) = second.over().await;
    let third = [opened(8, 10), search("8:9", " 8 9"), vec![asks("9:9"), fresh(9), "S: $ OK".into()]];
    let mut third = next_scene(sink, Some(watched), third.concat());
    third.check(false).await.unwrap();
    assert_eq!(third.told(), [(7, Intent::Arrival), (8, Intent::Unreadable), (9, Intent::Arrival)]);
    assert_eq!(third.next_uid(), 10);
    third.over().await;
}

#[tokio::test(start_paused = true)]
async fn a_wide_gap_is_crossed_by_asking_what_there_is() {
    let script = text(&[
        "C: $ UID SEARCH UID 7:2007",
        "S: $ OK none",
        "C: $ UID SEARCH UID 2008:6008",
        "S: * SEARCH 3000 3001",
        "S: $ OK done",
    ]);
    let rest = [
        vec![asks("3000:6008"), fresh(3000), fresh(3001), "S: $ OK".into()],
        text(&["C: $ UID SEARCH UID 6009:8009", "S: * SEARCH", "S: $ OK"]),
    ];
    let rest_end = text(&["C: $ UID SEARCH UID 8010:8999", "S: * SEARCH", "S: $ OK"]);
    let mut scene = scene([opened(8, 9000), script, rest.concat(), rest_end].concat());
    scene.check(false).await.unwrap();
    assert_eq!(scene.told(), [(3000, Intent::Arrival), (3001, Intent::Arrival)]);
    assert_eq!(scene.next_uid(), 9000);
    scene.over().await;
}

#[tokio::test(start_paused = true)]
async fn old_means_older_than_the_last_check_by_far() {
    let page = vec![
        asks("7:8"),
        mail(7, "29-Dec-2025 23:59:59 +0000"),
        mail(8, "30-Dec-2025 00:00:00 +0000"),
        "S: $ OK".into(),
    ];
    let mut scene = scene([opened(6, 9), page].concat());
    scene.check(false).await.unwrap();
    assert_eq!(scene.told(), [(7, Intent::Old), (8, Intent::Arrival)]);
}

#[tokio::test(start_paused = true)]
async fn a_mail_that_became_visible_late_is_taken_at_the_poll() {
    let script = text(&["C: $ UID SEARCH UID 5:6", "S: * SEARCH 5 6", "S: $ OK"]);
    let mut scene = scene([opened(6, 7), script, vec![asks("5:5"), fresh(5), "S: $ OK".into()]].concat());
    *scene.sink.unknown.lock().unwrap() = vec![scene.watched.place.delivery_key(3, 5)];
    scene.check(true).await.unwrap();
    assert_eq!(scene.told(), [(5, Intent::Arrival)]);
    assert_eq!(scene.next_uid(), 7);
    scene.over().await;
}

#[tokio::test(start_paused = true)]
async fn missing_numbers_are_asked_for() {
    let case = async |script: &[&str], expected: Numbers| {
        let mut all = text(&["C: $ EXAMINE \"A \\\"b\"", "S: * 5 EXISTS", "S: $ OK"]);
        all.extend(text(script));
        let (mut conn, server) = conn(all);
        assert_eq!(examine(&mut conn, "A \"b").await.unwrap(), expected, "{script:?}");
        drop(conn);
        server.await.unwrap();
    };
    let status = "C: $ STATUS \"A \\\"b\" (UIDNEXT UIDVALIDITY)";
    let numbers = |uid_next, uid_validity| Numbers { uid_validity, uid_next, exists: 5 };
    case(&[status, "S: * STATUS \"A \\\"b\" (UIDNEXT 9 UIDVALIDITY 4) ", "S: $ OK"], numbers(Some(9), Some(4))).await;
    let last = ["C: $ UID SEARCH UID *", "S: * SEARCH 12 ", "S: $ OK"];
    case(&[&[status, "S: * STATUS x ()", "S: $ OK"], &last[..]].concat(), numbers(Some(13), None)).await;
    case(&[&[status, "S: $ NO"], &["C: $ UID SEARCH UID *", "S: $ BAD"][..]].concat(), numbers(None, None)).await;
}

/// IDLE, what the server says then, and how the waiting ends.
async fn idled(script: &[&str]) -> Result<(Why, bool), ImapError> {
    let mut all = text(&["C: $ IDLE"]);
    all.extend(text(script));
    let (mut conn, _server) = conn(all);
    let due = Instant::now() + Duration::from_secs(7200);
    let ended = idle(&mut conn, due, &Notify::new(), &CancellationToken::new()).await;
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
        let (why, tag) = idle(scene.reader.conn(), due, &Notify::new(), &CancellationToken::new()).await.unwrap();
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

fn account(username: &str) -> ImapServer {
    ImapServer {
        host: "imap.example.com".into(),
        port: 143,
        tls: Tls::None,
        username: username.into(),
        ca_file: None,
        pin: None,
        allow_plaintext: false,
    }
}

#[tokio::test(start_paused = true)]
async fn signing_in_as_each_server_wants_it() {
    // "\0owner\0secret"
    const PLAIN: &str = "AG93bmVyAHNlY3JldA==";
    let case = async |username: &str, password: &str, script: &[&str], expected: Result<(), Next>| {
        let (near, far) = tokio::io::duplex(1 << 16);
        let server = tokio::spawn(serve(far, text(script)));
        let mut conn = ImapConn::new(near);
        let greeting = greet(&mut conn).await.unwrap();
        let session = sign_in(conn, &account(username), greeting, &SecretString::from(password)).await;
        assert_eq!(session.map(|_| ()).map_err(|failure| failure.next), expected, "{script:?}");
        timeout(Duration::from_secs(5), server).await.expect("the script is not over").unwrap();
    };
    let after = ["S: $ OK [CAPABILITY IMAP4rev1] in", "C: $ CAPABILITY", "S: * CAPABILITY IMAP4rev1 IDLE", "S: $ OK"];
    let with = |before: &[&'static str]| -> Vec<&'static str> { [before, &after].concat() };
    let ir = format!("C: $ AUTHENTICATE PLAIN {PLAIN}").leak() as &str;
    let answer = format!("C: {PLAIN}").leak() as &str;
    let plain = with(&["S: * OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi", ir]);
    case("owner", "secret", &plain, Ok(())).await;
    let no_ir = with(&["S: * OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hi", "C: $ AUTHENTICATE PLAIN", "S: +", answer]);
    case("owner", "secret", &no_ir, Ok(())).await;
    let refused_ir = with(&[
        "S: * OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi",
        ir,
        "S: $ BAD what",
        "C: $ AUTHENTICATE PLAIN",
        "S: + ",
        answer,
    ]);
    case("owner", "secret", &refused_ir, Ok(())).await;
    let login = with(&[
        "S: * OK hi",
        "C: $ CAPABILITY",
        "S: * CAPABILITY IMAP4rev1",
        "S: $ OK",
        "C: $ LOGIN \"ow ner\" \"se\\\"cr\\\\et\"",
    ]);
    case("ow ner", "se\"cr\\et", &login, Ok(())).await;
    let literal = with(&["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN \"owner\" {3}", "S: + go on", "C: sü"]);
    case("owner", "sü", &literal, Ok(())).await;
    let both = with(&["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN {2}", "S: +", "C: ü {2}", "S: +", "C: ö"]);
    case("ü", "ö", &both, Ok(())).await;
    let preauth = ["S: * PREAUTH hi", "C: $ CAPABILITY", "S: * CAPABILITY IMAP4rev1", "S: $ OK"];
    case("owner", "secret", &preauth, Ok(())).await;
    let odd = [
        "S: * OK [CAPABILITY IMAP4rev1] Coremail ready",
        "C: $ LOGIN *",
        "S: $ OK",
        "C: $ CAPABILITY",
        "S: * CAPABILITY IMAP4rev1 ID",
        "S: $ OK",
        "C: $ ID (\"name\" \"Ringonce\"*",
        "S: $ BAD no",
    ];
    case("owner", "secret", &odd, Ok(())).await;
    case("owner", "secret", &["S: * OK [CAPABILITY IMAP4rev1 LOGINDISABLED] hi"], Err(Next::Owner)).await;
    let wrong = ["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN *", "S: $ NO [AUTHENTICATIONFAILED] no"];
    case("owner", "secret", &wrong, Err(Next::Refused { certain: true })).await;
    let busy = ["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN *", "S: $ NO [LIMIT] too many", "S: * BYE"];
    case("owner", "secret", &busy, Err(Next::Retry)).await;
}

#[tokio::test]
async fn what_comes_after_starttls_ok_is_dropped() {
    let (mut conn, server) = conn(text(&["C: $ STARTTLS", "S~ $ OK go\r\n* OK injected\r\nR2 OK injected\r\n"]));
    conn.run_small("STARTTLS").await.unwrap();
    server.await.unwrap();
    let mut rest = Vec::new();
    conn.into_line().read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"", "it was said before the protection and counts for nothing");
}

#[tokio::test(start_paused = true)]
async fn a_baseline_reads_headers_and_more_only_where_they_are_thin() {
    let headers = |uid: u32, header: &str| {
        format!(
            "S: * 1 FETCH (UID {uid} INTERNALDATE \"01-Jan-2026 00:00:00 +0000\" BODY[HEADER]<0> {{{}}}\r\n{header})",
            header.len()
        )
    };
    let good = "Subject: a\r\nMessage-ID: <a@x.example>\r\nDate: 1 Jan 2026 00:00:00 +0000\r\n\r\n";
    let header_page = |set: &str| format!("C: $ UID FETCH {set} (UID INTERNALDATE BODY.PEEK[HEADER]<0.262144>)");
    let script = [
        opened(4, 7),
        text(&["C: $ UID SEARCH UID 1:4", "S: * SEARCH 2 3 4", "S: $ OK"]),
        vec![
            header_page("2:4"),
            headers(2, good),
            headers(3, "Subject: b\r\n\r\n"),
            headers(4, good),
            "S: $ OK".into(),
        ],
        vec![asks("3:3"), fresh(3), "S: $ OK".into()],
    ];
    let mut scene = scene(script.concat());
    let backfill = Some(Backfill { from_uid: 1, to_uid: 4, purpose: BackfillPurpose::Baseline, mails_left: 9 });
    scene.watched.cursor = Some(FolderCursor { backfill, ..stored() });
    scene.check(false).await.unwrap();
    backfill::step(&mut scene.reader, &scene.desk, &mut scene.watched).await.unwrap();
    assert_eq!(scene.told(), [2, 3, 4].map(|uid| (uid, Intent::Baseline)));
    let bodies: Vec<bool> = scene.sightings().iter().map(|sighting| sighting.facts.body.is_some()).collect();
    assert_eq!(bodies, [false, true, false]);
    let cursor = scene.sink.cursors.lock().unwrap()["INBOX"].clone();
    assert_eq!((cursor.backfill, cursor.next_uid, cursor.newest_known_at), (None, 7, Some(NOW)));
    scene.over().await;
}

#[tokio::test(start_paused = true)]
async fn a_baseline_ends_at_its_window_and_moves_with_each_page() {
    let case = async |mails_left: u32, date: &str, told: usize, left: Option<(u32, u32)>| {
        let page: Vec<String> = (1001..=1200).map(|uid| mail(uid, date)).collect();
        let first = 1200 - mails_left.min(200) + 1;
        let script = [
            opened(2000, 1201),
            text(&["C: $ UID SEARCH UID 1:1200"]),
            vec![format!("S: * SEARCH {}", (1..=1200).map(|uid| uid.to_string()).collect::<Vec<_>>().join(" "))],
            text(&["S: $ OK", &format!("C: $ UID FETCH {first}:1200 (*")]),
            page,
            text(&["S: $ OK"]),
        ];
        let mut scene = scene(script.concat());
        let backfill = Some(Backfill { from_uid: 1, to_uid: 1200, purpose: BackfillPurpose::Baseline, mails_left });
        scene.watched.cursor = Some(FolderCursor { backfill, next_uid: 1201, ..stored() });
        scene.check(false).await.unwrap();
        backfill::step(&mut scene.reader, &scene.desk, &mut scene.watched).await.unwrap();
        assert_eq!(scene.told().len(), told, "{mails_left} {date}");
        let rest = scene.sink.cursors.lock().unwrap()["INBOX"].backfill;
        assert_eq!(rest.map(|range| (range.to_uid, range.mails_left)), left, "{mails_left} {date}");
        scene.over().await;
    };
    case(2000, "31-Dec-2025 00:00:00 +0000", 200, Some((1000, 1800))).await;
    case(200, "31-Dec-2025 00:00:00 +0000", 200, None).await;
    case(50, "31-Dec-2025 00:00:00 +0000", 50, None).await;
    case(2000, "30-Nov-2025 00:00:00 +0000", 0, None).await;
}
