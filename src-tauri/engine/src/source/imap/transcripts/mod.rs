//! What real servers will not do on demand, played line by line against the code above the socket.

mod reading;
mod signing_in;
mod waiting;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::clock::Clock;
use crate::model::ids::{AccountId, DeliveryKey};
use crate::model::mailbox::{FolderCursor, ImapServer, SpecialUse, Tls};
use crate::model::sighting::{Intent, Report, Sighting, Verdict};
use crate::source::imap::catch_up::check;
use crate::source::imap::desk::Desk;
use crate::source::imap::place::Place;
use crate::source::imap::session::conn::ImapConn;
use crate::source::imap::session::login::Session;
use crate::source::imap::watched::{Reader, Trouble, Watched};
use crate::source::{Context, Found, Health, NotStored, Sink};

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
/// `OPEN` nothing until the client does. At the end the line is closed.
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
            let _ = line.read_line(&mut String::new()).await;
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
        woken: watch::channel(0).1,
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
        desk: Desk { context, old_ms: 2 * DAY_MS, absence_ms: 600_000, poll_ms: 600_000, record_check_ms: 1000 },
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

const PAGE: &str = "(UID INTERNALDATE BODY.PEEK[]<0.262144>)";

fn asks(set: &str) -> String {
    format!("C: $ UID FETCH {set} {PAGE}")
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
