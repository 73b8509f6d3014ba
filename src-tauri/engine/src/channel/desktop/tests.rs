//! The channel on a bus of its own, with a scripted service or none.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::timeout;
use zbus::zvariant::OwnedValue;
use zbus::{Connection, fdo};

use crate::channel::desktop::desk::{Desk, Listener, Pressed};
use crate::channel::desktop::{Action, KIND, Manner, Seat, service};
use crate::channel::trial::{Counted, NOW_AT, job, short};
use crate::channel::{Channel, Configured, Job};
use crate::clock::Clock;
use crate::model::notification::{AttemptOutcome, ErrorCode};
use crate::words::Language;

const MANNER: Manner = Manner { sound: true, respect_do_not_disturb: true, language: Language::En };
const LATER: (&str, Option<ErrorCode>) = ("deferred", Some(ErrorCode::TemporaryUnavailable));

/// A bus of its own, gone when dropped.
struct Bus {
    dir: tempfile::TempDir,
    daemon: Option<Child>,
}

impl Bus {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), daemon: None }
    }

    async fn started() -> Self {
        let mut bus = Self::new();
        bus.start().await;
        bus
    }

    fn address(&self) -> String {
        format!("unix:path={}", self.socket().display())
    }

    fn socket(&self) -> std::path::PathBuf {
        self.dir.path().join("bus")
    }

    /// A bus that starts nothing by itself.
    async fn start(&mut self) {
        let config = self.dir.path().join("conf");
        let text = format!(
            "<busconfig><type>session</type><listen>{}</listen><auth>EXTERNAL</auth><policy context=\"default\">\
             <allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
            self.address()
        );
        std::fs::write(&config, text).unwrap();
        let mut command = Command::new("dbus-daemon");
        command.arg("--nofork").arg("--nopidfile").arg("--config-file").arg(&config);
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.daemon = Some(daemon.expect("dbus-daemon starts: see `cargo xtask setup`"));
        until("the bus listens", || Path::exists(&self.socket())).await;
    }

    fn stop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
            let _ = std::fs::remove_file(self.socket());
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waited = timeout(Duration::from_secs(10), async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(waited.await.is_ok(), "{what}: not within 10 s");
}

/// What the service was asked to show.
#[derive(Debug, Clone, Default)]
struct Seen {
    sender: String,
    replaces: u32,
    summary: String,
    body: String,
    actions: Vec<String>,
    hints: HashMap<String, OwnedValue>,
}

/// What the service does.
#[derive(Debug, Clone)]
struct Script {
    capabilities: &'static [&'static str],
    inhibited: Option<bool>,
    answer: Answer,
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Shows,
    Refuses,
    Hangs,
}

const LIKE_KDE: Script = Script {
    capabilities: &["body", "body-markup", "actions", "persistence", "inhibitions"],
    inhibited: Some(false),
    answer: Answer::Shows,
};

struct Daemon {
    script: Script,
    seen: Arc<Mutex<Vec<Seen>>>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Daemon {
    #[allow(clippy::too_many_arguments, reason = "the specification has them")]
    async fn notify(
        &self,
        #[zbus(header)] header: zbus::message::Header<'_>,
        _app: String,
        replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedValue>,
        _timeout: i32,
    ) -> fdo::Result<u32> {
        match self.script.answer {
            Answer::Shows => {}
            Answer::Refuses => return Err(fdo::Error::LimitsExceeded("too many".to_owned())),
            Answer::Hangs => std::future::pending::<()>().await,
        }
        let sender = header.sender().unwrap().to_string();
        let mut seen = self.seen.lock().unwrap();
        seen.push(Seen { sender, replaces, summary, body, actions, hints });
        let fresh = 100 + u32::try_from(seen.len()).unwrap();
        Ok(if replaces > 0 { replaces } else { fresh })
    }

    fn get_capabilities(&self) -> Vec<String> {
        self.script.capabilities.iter().map(|text| (*text).to_owned()).collect()
    }

    #[zbus(property)]
    fn inhibited(&self) -> fdo::Result<bool> {
        self.script.inhibited.ok_or_else(|| fdo::Error::UnknownProperty("no such property".to_owned()))
    }
}

/// A service on the bus.
struct Server {
    line: Connection,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    async fn start(bus: &Bus, script: Script) -> Self {
        let seen = Arc::default();
        let daemon = Daemon { script, seen: Arc::clone(&seen) };
        let builder = zbus::connection::Builder::address(bus.address().as_str()).unwrap();
        let builder = builder.serve_at(service::PATH, daemon).unwrap().name(service::INTERFACE).unwrap();
        let line = timeout(Duration::from_secs(10), builder.build()).await.expect("the bus answers");
        Self { line: line.unwrap(), seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Tells a signal to one name alone, as GNOME does, or to all.
    async fn signal(&self, to: Option<&str>, member: &str, body: &(impl serde::Serialize + zbus::zvariant::Type)) {
        self.line.emit_signal(to, service::PATH, service::INTERFACE, member, body).await.unwrap();
    }

    async fn end(self) {
        self.line.close().await.unwrap();
    }
}

fn channel(desk: &Desk, manner: Manner, call_timeout: Duration) -> Arc<dyn Channel> {
    let seat = Seat { desk: desk.clone(), manner };
    let clock = Clock::manual(NOW_AT);
    let configured = Configured { fields: Default::default(), secrets: Default::default(), call_timeout, clock, seat };
    (KIND.build)(configured).unwrap()
}

async fn send(desk: &Desk, job: &Job) -> AttemptOutcome {
    channel(desk, MANNER, Duration::from_secs(20)).send(job, &Counted::default()).await
}

fn keyed(key: &str, message: &str) -> Job {
    let mut job = job();
    job.payload.dispatch_key = key.into();
    job.payload.message_key = message.into();
    job
}

fn accepted(number: u32) -> AttemptOutcome {
    AttemptOutcome::Accepted { external_id: Some(number.to_string()) }
}

#[tokio::test]
async fn what_the_service_can_do_decides_what_it_is_told() {
    let check = async |script: Script, body: &str, actions: usize, sound: bool| {
        let bus = Bus::started().await;
        let server = Server::start(&bus, script.clone()).await;
        let mut job = job();
        job.payload.body = "1 < 2 & <b>3</b>".to_owned();
        assert_eq!(send(&Desk::at(&bus.address()), &job).await, accepted(101), "{script:?}");
        let seen = server.seen().remove(0);
        assert_eq!((seen.body.as_str(), seen.actions.len()), (body, actions), "{script:?}");
        assert_eq!(seen.hints.contains_key("sound-name"), sound, "{script:?}: {:?}", seen.hints);
        assert_eq!(u8::try_from(&seen.hints["urgency"]).unwrap(), 1, "one byte, as the specification has it");
        assert_eq!(<&str>::try_from(&seen.hints["desktop-entry"]).unwrap(), "ringonce");
    };
    check(LIKE_KDE, "1 &lt; 2 &amp; &lt;b&gt;3&lt;/b&gt;", 6, true).await;
    check(Script { capabilities: &["body"], ..LIKE_KDE }, "1 < 2 & <b>3</b>", 0, true).await;
    check(Script { inhibited: Some(true), ..LIKE_KDE }, "1 &lt; 2 &amp; &lt;b&gt;3&lt;/b&gt;", 6, false).await;
    check(Script { capabilities: &["body", "actions"], inhibited: None, ..LIKE_KDE }, "1 < 2 & <b>3</b>", 6, true)
        .await;
}

#[tokio::test]
async fn the_same_duty_takes_its_own_place_while_it_is_on_the_screen() {
    let bus = Bus::started().await;
    let server = Server::start(&bus, LIKE_KDE).await;
    let desk = Desk::at(&bus.address());
    let mut listener = Listener::new(&desk);
    let repeat = Job { may_be_repeat: true, ..keyed("a", "m1") };
    assert_eq!(send(&desk, &keyed("a", "m1")).await, accepted(101));
    assert_eq!(send(&desk, &keyed("b", "m2")).await, accepted(102));
    assert_eq!(send(&desk, &repeat).await, accepted(101), "in its own place");
    // Two lanes of one destination are one line; and a press that comes later shows that the end of 102 was heard.
    server.signal(None, "NotificationClosed", &(101_u32, 1_u32)).await;
    server.signal(None, "NotificationClosed", &(102_u32, 2_u32)).await;
    server.signal(None, "ActionInvoked", &(101_u32, "default")).await;
    let heard = timeout(Duration::from_secs(10), listener.next()).await.expect("heard");
    assert_eq!(heard.message_key.as_str(), "m1", "what expired can be pressed in the list of the server");
    assert_eq!(send(&desk, &keyed("a", "m1")).await, accepted(101), "expired is not closed by its owner");
    assert_eq!(send(&desk, &keyed("b", "m2")).await, accepted(105), "closed by its owner, it is a new one");
    let seen = server.seen();
    let replaces: Vec<u32> = seen.iter().map(|seen| seen.replaces).collect();
    assert_eq!(replaces, [0, 0, 101, 101, 0]);
    assert_eq!(seen[2].summary, seen[0].summary, "what replaces is no repeat to the eye");
    assert!(seen.iter().all(|one| one.sender == seen[0].sender), "one line for all: {seen:?}");
    server.end().await;
    let server = Server::start(&bus, LIKE_KDE).await;
    assert_eq!(send(&desk, &keyed("a", "m1")).await, accepted(101));
    assert_eq!(server.seen()[0].replaces, 0, "a restarted service has numbers of its own");
}

#[tokio::test]
async fn without_a_service_or_a_session_it_waits_and_is_not_counted() {
    let check = async |bus: &Bus, desk: &Desk, words: &str| {
        let gate = Counted::default();
        let outcome = channel(desk, MANNER, Duration::from_secs(20)).send(&job(), &gate).await;
        let AttemptOutcome::Deferred { error, environment, retry_after: None } = &outcome else {
            panic!("{}: {outcome:?}", bus.address());
        };
        assert!(*environment && error.detail.contains(words), "{outcome:?}");
        assert_eq!(gate.asked(), 0, "nothing left");
        let fault = channel(desk, MANNER, Duration::from_secs(20)).check().await.unwrap_err();
        assert!(fault.cause.contains(words), "{fault}");
    };
    let mut bus = Bus::new();
    let desk = Desk::at(&bus.address());
    check(&bus, &desk, "no desktop session").await;
    bus.start().await;
    check(&bus, &desk, "No notification service").await;
    let server = Server::start(&bus, LIKE_KDE).await;
    assert_eq!(send(&desk, &job()).await, accepted(101), "it came late");
    server.end().await;
    check(&bus, &desk, "No notification service").await;
    bus.stop();
    check(&bus, &desk, "no desktop session").await;
    bus.start().await;
    let server = Server::start(&bus, LIKE_KDE).await;
    assert_eq!(send(&desk, &job()).await, accepted(101), "another session is found again");
    assert_eq!(server.seen()[0].replaces, 0, "and its numbers are its own");
}

#[tokio::test]
async fn an_answer_says_that_it_is_not_shown_and_silence_says_nothing() {
    let check = async |answer: Answer, expected: (&'static str, Option<ErrorCode>)| {
        let bus = Bus::started().await;
        let _server = Server::start(&bus, Script { answer, ..LIKE_KDE }).await;
        let channel = channel(&Desk::at(&bus.address()), MANNER, Duration::from_millis(600));
        let outcome = channel.send(&job(), &Counted::default()).await;
        assert_eq!(short(&outcome), expected, "{answer:?}: {outcome:?}");
        assert!(!matches!(outcome, AttemptOutcome::Deferred { environment: true, .. }), "the service is there");
    };
    check(Answer::Refuses, LATER).await;
    check(Answer::Hangs, ("unknown", Some(ErrorCode::NoAnswer))).await;
    let bus = Bus::started().await;
    let server = Server::start(&bus, LIKE_KDE).await;
    let channel = channel(&Desk::at(&bus.address()), MANNER, Duration::from_secs(20));
    assert_eq!(channel.send(&job(), &Counted::shut()).await, AttemptOutcome::Abandoned);
    assert!(server.seen().is_empty(), "a lost lease shows nothing");
}

#[tokio::test]
async fn presses_are_heard_after_the_call_ended_and_only_those_of_ours() {
    let bus = Bus::started().await;
    let server = Server::start(&bus, LIKE_KDE).await;
    let desk = Desk::at(&bus.address());
    let mut listener = Listener::new(&desk);
    for (key, message) in [("a", "m1"), ("b", "m2"), ("c", "m3")] {
        send(&desk, &keyed(key, message)).await;
    }
    let ours = server.seen()[0].sender.clone();
    let stranger = zbus::connection::Builder::address(bus.address().as_str()).unwrap().build().await.unwrap();
    let forged = stranger.emit_signal(
        Some(ours.as_str()),
        service::PATH,
        service::INTERFACE,
        "ActionInvoked",
        &(101_u32, "mark-read"),
    );
    forged.await.unwrap();
    server.signal(None, "ActionInvoked", &(7_u32, "default")).await;
    server.signal(None, "ActionInvoked", &(101_u32, "of-another-program")).await;
    server.signal(None, "ActionInvoked", &(102_u32, "mark-read")).await;
    server.signal(Some(&ours), "ActionInvoked", &(103_u32, "default")).await;
    server.signal(Some(&ours), "ActionInvoked", &(101_u32, "open")).await;
    let pressed = |message: &str, action| Pressed { message_key: message.into(), action };
    for expected in [pressed("m2", Action::MarkRead), pressed("m3", Action::Open), pressed("m1", Action::Open)] {
        let heard = timeout(Duration::from_secs(10), listener.next()).await.expect("heard");
        assert_eq!(heard, expected);
    }
}

#[tokio::test]
async fn a_line_that_nobody_listens_to_is_not_held_up() {
    let bus = Bus::started().await;
    let server = Server::start(&bus, LIKE_KDE).await;
    let desk = Desk::at(&bus.address());
    send(&desk, &keyed("a", "m1")).await;
    for _ in 0..1000 {
        server.signal(None, "ActionInvoked", &(101_u32, "default")).await;
    }
    assert_eq!(send(&desk, &keyed("b", "m2")).await, accepted(102));
}
