//! Webhooks as they come: signed, stale, too large, unreadable, and repeated.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::*;
use crate::clock::Clock;
use crate::model::ids::{DeliveryKey, MessageKey};
use crate::model::mailbox::FolderCursor;
use crate::model::sighting::Verdict;
use crate::net::signature;
use crate::source::{Health, NotStored, Sink};

const NOW_AT: i64 = 1_700_000_000_000;
const MAIL: &[u8] = b"Message-ID: <a@example.com>\r\nFrom: Anna <anna@example.com>\r\nSubject: Hi\r\n\r\nText\r\n";

/// A way into the engine that only writes down what it is told.
#[derive(Default)]
struct Notes {
    reports: Mutex<Vec<Report>>,
    /// The database cannot be written.
    full: std::sync::atomic::AtomicBool,
    /// Waited for before anything is stored.
    hold: tokio::sync::Mutex<()>,
}

impl Sink for Notes {
    fn report(&self, report: Report) -> BoxFuture<'_, Result<Vec<Found>, NotStored>> {
        async {
            let _held = self.hold.lock().await;
            if self.full.load(Ordering::SeqCst) {
                return Err(NotStored("disk full".to_owned()));
            }
            let awaits_mail = report.sightings[0].facts.is_headerless();
            self.reports.lock().unwrap().push(report);
            Ok(vec![Found { verdict: Verdict::New, message_key: MessageKey::from("m1"), awaits_mail }])
        }
        .boxed()
    }

    fn cursor<'a>(&'a self, _: &'a AccountId, _: &'a str) -> BoxFuture<'a, Result<Option<FolderCursor>, NotStored>> {
        futures_util::future::ready(Ok(None)).boxed()
    }

    fn known<'a>(&'a self, _: &'a [DeliveryKey]) -> BoxFuture<'a, Result<Vec<bool>, NotStored>> {
        futures_util::future::ready(Ok(Vec::new())).boxed()
    }
}

struct Running {
    port: u16,
    secret: SecretString,
    notes: Arc<Notes>,
    woken: Arc<AtomicUsize>,
    health: watch::Receiver<Health>,
    endpoints: watch::Sender<Arc<[Endpoint]>>,
    stop: CancellationToken,
    task: JoinHandle<Exit>,
}

impl Running {
    async fn start() -> Self {
        loop {
            // Between being found free and being taken, a port may go to another test.
            if let Some(running) = Self::try_start().await {
                return running;
            }
        }
    }

    async fn try_start() -> Option<Self> {
        let secret = signature::new_secret().unwrap();
        let (endpoints, seen) = watch::channel(Arc::from([endpoint("ep1", &secret)]));
        let (woken, notes) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notes::default()));
        let counter = woken.clone();
        let wake_reader: WakeReader = Arc::new(move |account| {
            assert_eq!(account.as_str(), "acc-ep1");
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let (health_sender, mut health) = watch::channel(Health::default());
        let sink: Arc<dyn Sink> = notes.clone();
        let clock = Clock::manual(NOW_AT);
        let context =
            Context { sink, health: health_sender, poke: Arc::new(Notify::new()), woken: watch::channel(0).1, clock };
        let port = free_port().await.unwrap();
        let stop = CancellationToken::new();
        let source = Box::new(Webhook { port, endpoints: seen, wake_reader });
        let task = tokio::spawn(source.run(context, stop.clone()));
        let watching = health.wait_for(|health| health.state == HealthState::Watching).await.is_ok();
        watching.then_some(Self { port, secret, notes, woken, health, endpoints, stop, task })
    }

    /// Posts as a proper sender does.
    async fn post(&self, kind: &str, body: &[u8]) -> (u16, String) {
        self.send("ep1", "POST", Some(kind), &self.headers("evt_1", NOW_AT / 1000, body), body).await
    }

    fn headers(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let signature = Key::parse(&self.secret).unwrap().sign(id, timestamp, body);
        format!("webhook-id: {id}\r\nwebhook-timestamp: {timestamp}\r\nwebhook-signature: v1,AAAA {signature}\r\n")
    }

    async fn send(&self, id: &str, method: &str, kind: Option<&str>, headers: &str, body: &[u8]) -> (u16, String) {
        let kind = kind.map(|kind| format!("content-type: {kind}\r\n")).unwrap_or_default();
        let mut text = Vec::new();
        let length = body.len();
        write!(
            text,
            "{method} /v1/{id} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{kind}{headers}content-length: {length}\r\n\r\n"
        )
        .unwrap();
        text.extend_from_slice(body);
        raw(self.port, &text).await
    }

    fn stored(&self) -> usize {
        self.notes.reports.lock().unwrap().len()
    }

    async fn end(self) -> Exit {
        self.stop.cancel();
        tokio::time::timeout(Duration::from_secs(10), self.task).await.expect("it ends").unwrap()
    }
}

fn endpoint(id: &str, secret: &SecretString) -> Endpoint {
    Endpoint::new(id.into(), format!("acc-{id}").into(), "owner@example.com".into(), secret).unwrap()
}

/// Writes everything first, as simple callers do, then reads to the end.
async fn raw(port: u16, request: &[u8]) -> (u16, String) {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    socket.write_all(request).await.expect("it is read to its end");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.expect("an answer");
    let status = answer.split(' ').nth(1).expect("a status line").parse().unwrap();
    (status, answer.split_once("\r\n\r\n").expect("a body").1.to_owned())
}

#[tokio::test]
async fn a_signed_mail_is_stored_and_then_answered() {
    let running = Running::start().await;
    let (status, body) = running.post("message/rfc822", MAIL).await;
    assert_eq!((status, body.as_str()), (202, r#"{"message_key":"m1","verdict":"new"}"#));
    let sighting = running.notes.reports.lock().unwrap()[0].sightings[0].clone();
    assert_eq!(sighting.delivery_key, keys::webhook_delivery("ep1", "evt_1"));
    assert_eq!((sighting.account_id.as_str(), sighting.mailbox_id.as_str()), ("acc-ep1", "owner@example.com"));
    assert_eq!((sighting.source.as_str(), sighting.locator.as_str()), ("webhook", "ep1;ID=evt_1"));
    assert_eq!(sighting.facts.message_id.as_deref(), Some("a@example.com"));
    assert!(sighting.facts.body.is_some(), "the whole mail was read");
    assert_eq!(running.woken.load(Ordering::SeqCst), 0, "there is nothing left to fetch");
    assert_eq!(running.health.borrow().last_mail_at, Some(NOW_AT));
    assert_eq!(running.end().await, Exit::Stopped);
}

#[tokio::test]
async fn a_notice_without_headers_wakes_the_reader_after_the_commit() {
    let running = Running::start().await;
    let body = br#"{"message_id":"<a@example.com>","provider_id":"emailid:M17"}"#;
    let held = running.notes.hold.lock().await;
    let call = running.post("application/json", body);
    tokio::pin!(call);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut call).await;
    assert!(early.is_err(), "no answer before the commit");
    assert_eq!(running.woken.load(Ordering::SeqCst), 0, "and nobody is woken");
    drop(held);
    assert_eq!(call.await.0, 202);
    assert_eq!(running.woken.load(Ordering::SeqCst), 1);
    assert_eq!(running.notes.reports.lock().unwrap()[0].sightings[0].provider_ids.len(), 1);
    let full = br#"{"message_id":"<b@example.com>","from":"a@b.example","subject":"x","date":"2026-01-02T03:04:05Z"}"#;
    assert_eq!(running.post("application/json", full).await.0, 202);
    assert_eq!(running.woken.load(Ordering::SeqCst), 1, "a notice with headers needs no reader");
}

#[tokio::test]
async fn what_is_not_stored_is_not_taken() {
    let running = Running::start().await;
    running.notes.full.store(true, Ordering::SeqCst);
    assert_eq!(running.post("message/rfc822", MAIL).await.0, 503);
    assert_eq!(running.health.borrow().last_mail_at, None);
    running.notes.full.store(false, Ordering::SeqCst);
    assert_eq!(running.post("message/rfc822", MAIL).await.0, 202, "the same call later");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_by_its_own_status() {
    let running = Running::start().await;
    let now = NOW_AT / 1000;
    let mail = Some("message/rfc822");
    let check = async |expected: u16, id: &str, method: &str, kind: Option<&str>, headers: &str, why: &str| {
        let (status, body) = running.send(id, method, kind, headers, MAIL).await;
        assert_eq!(status, expected, "{why}: {body}");
        assert!(body.contains("error") && !body.contains("anna"), "{why}: {body}");
    };
    let good = running.headers("evt_1", now, MAIL);
    check(404, "ep2", "POST", mail, &good, "no such endpoint").await;
    check(404, "", "POST", mail, &good, "none at all").await;
    check(405, "ep1", "PUT", mail, &good, "only POST").await;
    check(415, "ep1", "POST", Some("text/plain"), &good, "another type").await;
    check(415, "ep1", "POST", None, &good, "no type").await;
    check(422, "ep1", "POST", Some("application/json"), &good, "a mail is no JSON").await;
    check(401, "ep1", "POST", mail, "", "not signed").await;
    check(401, "ep1", "POST", mail, &running.headers("evt_1", now, b"other"), "of another body").await;
    check(401, "ep1", "POST", mail, &good.replace("evt_1", "evt_2"), "of another id").await;
    check(401, "ep1", "POST", mail, &running.headers("evt_1", now - 301, MAIL), "too old").await;
    check(401, "ep1", "POST", mail, &running.headers("evt_1", now + 301, MAIL), "too new").await;
    check(401, "ep1", "POST", mail, &running.headers("evt_1", i64::MIN, MAIL), "absurd").await;
    check(401, "ep1", "POST", mail, &good.replace("timestamp: 1", "timestamp: x"), "not a number").await;
    check(401, "ep1", "POST", mail, &running.headers("", now, MAIL), "no id").await;
    check(401, "ep1", "POST", mail, &running.headers(&"x".repeat(257), now, MAIL), "a long id").await;
    assert_eq!(running.stored(), 0, "nothing of all that was stored");
    for (id, timestamp) in [("evt_1", now - 300), ("evt_2", now + 300)] {
        let headers = running.headers(id, timestamp, MAIL);
        let (status, _) = running.send("ep1", "POST", mail, &headers, MAIL).await;
        assert_eq!(status, 202, "five minutes are allowed");
    }
    let (status, _) = running.post("message/rfc822", b"\x00\xff\x01 no mail").await;
    assert_eq!(status, 422, "unreadable, and signed");
}

#[tokio::test]
async fn size_costs_no_memory_and_has_a_limit() {
    let running = Running::start().await;
    let mut big = MAIL.to_vec();
    big.resize(WEBHOOK_BODY_BYTES_MAX, b'x');
    assert_eq!(running.post("message/rfc822", &big).await.0, 202, "32 MiB are taken");
    let short = {
        let mut kept = MAIL.to_vec();
        kept.resize(MAIL_BYTES_KEPT, b'x');
        notice::read(Form::Mail, &kept).unwrap().0
    };
    assert_eq!(running.notes.reports.lock().unwrap()[0].sightings[0].facts, short, "only its beginning counts");
    assert_eq!(crate::mail::read(&big, crate::mail::Completeness::Mail), short, "and the whole says the same");
    big.push(b'x');
    assert_eq!(running.post("message/rfc822", &big).await.0, 413, "one byte more is not");
    let long_notice = format!("{{\"message_id\":\"<a@b>\",\"x\":\"{}\"}}", "y".repeat(NOTICE_BYTES_MAX));
    assert_eq!(running.post("application/json", long_notice.as_bytes()).await.0, 413);

    let headers = running.headers("evt_9", NOW_AT / 1000, b"");
    let head =
        format!("POST /v1/ep1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: message/rfc822\r\n{headers}");
    let asks = format!("{head}content-length: 99999999999\r\n\r\n");
    assert_eq!(raw(running.port, asks.as_bytes()).await.0, 413, "known from its length, without reading");
    let invited = format!("{head}expect: 100-continue\r\ncontent-length: {}\r\n\r\n", big.len());
    assert_eq!(raw(running.port, invited.as_bytes()).await.0, 413, "a caller that asks first is not invited");
    let mut chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n", big.len()).into_bytes();
    chunked.extend_from_slice(&big);
    chunked.extend_from_slice(b"\r\n0\r\n\r\n");
    assert_eq!(raw(running.port, &chunked).await.0, 413, "without a length it is counted");
    assert_eq!(running.stored(), 1);
}

#[tokio::test]
async fn endpoints_come_and_go_while_it_runs() {
    let running = Running::start().await;
    let other = signature::new_secret().unwrap();
    assert_ne!(other.expose_secret(), running.secret.expose_secret());
    running.endpoints.send(Arc::from([endpoint("ep1", &other)])).unwrap();
    assert_eq!(running.post("message/rfc822", MAIL).await.0, 401, "the secret was replaced");
    running.endpoints.send(Arc::from([])).unwrap();
    assert_eq!(running.post("message/rfc822", MAIL).await.0, 404, "and the endpoint removed");
    running.endpoints.send(Arc::from([endpoint("ep1", &running.secret)])).unwrap();
    assert_eq!(running.post("message/rfc822", MAIL).await.0, 202, "and added again");
}

#[tokio::test]
async fn a_taken_port_is_told_and_a_stopped_source_frees_it() {
    let running = Running::start().await;
    let port = running.port;
    let fault = Listener::bind(port).await.err().unwrap();
    assert_eq!(fault.code, FaultCode::Busy);
    assert!(fault.to_string().contains(&port.to_string()), "{fault}");
    assert_eq!(running.end().await, Exit::Stopped);
    Listener::bind(port).await.expect("free again");
}

#[tokio::test]
async fn a_call_in_hand_is_finished_when_it_is_stopped() {
    let running = Running::start().await;
    let held = running.notes.hold.lock().await;
    let mut call = Box::pin(running.post("message/rfc822", MAIL));
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut call).await.is_err(), "it waits for the commit");
    running.stop.cancel();
    drop(held);
    assert_eq!(call.as_mut().await.0, 202, "stored, so it is answered");
    drop(call);
    assert_eq!(running.end().await, Exit::Stopped);
}

#[tokio::test]
async fn noise_and_silence_end_only_their_own_connection() {
    let running = Running::start().await;
    let silent = TcpStream::connect(("127.0.0.1", running.port)).await.unwrap();
    for noise in [&b"\x00\x01\x02\x03\r\n\r\n"[..], b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n"] {
        let mut socket = TcpStream::connect(("127.0.0.1", running.port)).await.unwrap();
        socket.write_all(noise).await.unwrap();
        socket.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest).await;
    }
    let endless = format!("POST /v1/ep1 HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    let mut socket = TcpStream::connect(("127.0.0.1", running.port)).await.unwrap();
    let _ = socket.write_all(endless.as_bytes()).await;
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest).await;
    assert!(!rest.starts_with(b"HTTP/1.1 2"), "a head without end is refused");
    assert_eq!(running.post("message/rfc822", MAIL).await.0, 202, "others are served all the same");
    drop(silent);
}
