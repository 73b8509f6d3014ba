//! The IMAP source against a real Dovecot: what it reports, when, and where its cursor stands.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use ringonce_engine::clock::Clock;
use ringonce_engine::model::error::FaultCode;
use ringonce_engine::model::ids::{AccountId, DeliveryKey};
use ringonce_engine::model::mailbox::{FolderCursor, ImapServer, Mailbox, SpecialUse, Tls};
use ringonce_engine::model::sighting::{Intent, Report, Sighting, Verdict};
use ringonce_engine::source::imap::check::check;
use ringonce_engine::source::imap::watch::{ImapSettings, ImapSource};
use ringonce_engine::source::{Context, Exit, Found, Health, HealthState, Method, NotStored, Sink, Source as _};
use secrecy::SecretString;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::support::dovecot::{Dovecot, Options, User};
use crate::support::mail::Mail;
use crate::support::relay::{Passing, Relay};
use crate::support::wait::{self, secs};

/// Takes reports as the engine does, and forgets nothing.
#[derive(Default)]
struct Recorder {
    state: Mutex<Recorded>,
}

#[derive(Default)]
struct Recorded {
    sightings: Vec<(Instant, Sighting)>,
    cursors: HashMap<String, FolderCursor>,
    refuse: bool,
    refused: usize,
}

impl Recorder {
    fn state(&self) -> MutexGuard<'_, Recorded> {
        self.state.lock().expect("no panic while held")
    }

    /// Subjects of what was reported with an intent, in order.
    fn subjects(&self, wanted: Intent) -> Vec<String> {
        let state = self.state();
        let of = |sighting: &Sighting| sighting.facts.subject.clone().unwrap_or_default();
        state.sightings.iter().filter(|(_, sighting)| sighting.intent == wanted).map(|(_, s)| of(s)).collect()
    }

    fn cursor(&self, folder: &str) -> Option<FolderCursor> {
        self.state().cursors.get(folder).cloned()
    }
}

impl Sink for Recorder {
    fn report(&self, report: Report) -> BoxFuture<'_, Result<Vec<Found>, NotStored>> {
        let now = Instant::now();
        let mut state = self.state();
        if state.refuse {
            state.refused += 1;
            return Box::pin(async { Err(NotStored("the disk is full".to_owned())) });
        }
        let found = report.sightings.iter().map(|sighting| Found {
            verdict: Verdict::New,
            message_key: sighting.delivery_key.as_str().into(),
            awaits_mail: false,
        });
        let found = found.collect();
        state.sightings.extend(report.sightings.into_iter().map(|sighting| (now, sighting)));
        if let Some(moved) = report.cursor {
            state.cursors.insert(moved.folder, moved.cursor);
        }
        Box::pin(async move { Ok(found) })
    }

    fn cursor<'a>(
        &'a self,
        _account_id: &'a AccountId,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Option<FolderCursor>, NotStored>> {
        Box::pin(async move { Ok(Recorder::cursor(self, folder)) })
    }

    fn known<'a>(&'a self, deliveries: &'a [DeliveryKey]) -> BoxFuture<'a, Result<Vec<bool>, NotStored>> {
        let state = self.state();
        let is_known = |key: &DeliveryKey| state.sightings.iter().any(|(_, sighting)| sighting.delivery_key == *key);
        let known = deliveries.iter().map(is_known).collect();
        Box::pin(async move { Ok(known) })
    }
}

/// A source that runs, as the supervisor would run it.
struct Running {
    recorder: Arc<Recorder>,
    health: watch::Receiver<Health>,
    poke: Arc<Notify>,
    wake: watch::Sender<u64>,
    stop: CancellationToken,
    thread: JoinHandle<Exit>,
}

fn server(dovecot: &Dovecot, user: &User, tls: Tls) -> ImapServer {
    ImapServer {
        host: "localhost".to_owned(),
        port: if tls == Tls::Implicit { dovecot.imaps_port } else { dovecot.imap_port },
        tls,
        username: user.name.clone(),
        ca_file: Some(dovecot.ca_file().to_str().expect("a plain path").to_owned()),
        pin: None,
        allow_plaintext: false,
    }
}

fn mailbox(server: ImapServer, folders: &[&str]) -> Mailbox {
    Mailbox {
        account_id: "account".into(),
        mailbox_id: "owner@example.com".into(),
        email: "owner@example.com".to_owned(),
        imap: Some(server),
        folders: folders.iter().map(|&folder| folder.to_owned()).collect(),
        link_template: None,
        paused: false,
    }
}

fn start(mailbox: Mailbox, password: &str, poll: Duration, recorder: &Arc<Recorder>) -> Running {
    let (sender, health) = watch::channel(Health::default());
    let (wake, woken) = watch::channel(0);
    let poke = Arc::new(Notify::new());
    let stop = CancellationToken::new();
    let context = Context { sink: recorder.clone(), health: sender, poke: poke.clone(), woken, clock: Clock::system() };
    let settings = ImapSettings { poll, dead_line: secs(300), old: secs(48 * 3600), absence: secs(600) };
    let source = Box::new(ImapSource { mailbox, password: SecretString::from(password), settings });
    let run = source.run(context, stop.clone());
    let thread = thread::spawn(|| runtime().block_on(run));
    Running { recorder: recorder.clone(), health, poke, wake, stop, thread }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A source on INBOX of a user, with a safety poll that is far away.
fn watching(dovecot: &Dovecot, user: &User, port: Option<u16>) -> Running {
    let mut server = server(dovecot, user, Tls::None);
    server.port = port.unwrap_or(server.port);
    let running = start(mailbox(server, &["INBOX"]), &user.password, secs(3600), &Arc::default());
    running.ready();
    running
}

impl Running {
    fn health(&self) -> Health {
        self.health.borrow().clone()
    }

    #[track_caller]
    fn ready(&self) {
        wait::until("the mailbox is watched", secs(20), || self.health().state == HealthState::Watching);
    }

    #[track_caller]
    fn wait_for(&self, intent: Intent, subjects: &[&str]) {
        let all = || self.recorder.subjects(intent);
        let found = wait::find(secs(20), || (all().len() >= subjects.len()).then_some(()));
        assert!(found.is_some(), "waited for {subjects:?}, there is {:?}; health {:?}", all(), self.health());
        assert_eq!(all(), subjects, "what was reported as {intent:?}");
    }

    fn stop(self) -> Exit {
        self.stop.cancel();
        wait::until("the source ends when asked to", secs(10), || self.thread.is_finished());
        self.thread.join().expect("no panic")
    }
}

#[test]
fn a_mail_is_reported_once_with_all_that_is_known_of_it() {
    let dovecot = Dovecot::shared();
    for tls in [Tls::None, Tls::StartTls, Tls::Implicit] {
        let user = dovecot.fresh_user();
        dovecot.save(&user, "INBOX", &Mail::new("before").bytes());
        let running =
            start(mailbox(server(dovecot, &user, tls), &["INBOX"]), &user.password, secs(3600), &Arc::default());
        running.ready();
        assert_eq!(running.health().method, Method::Idle);
        running.wait_for(Intent::Baseline, &["before"]);
        dovecot.deliver(&user, &Mail::new("hello").bytes());
        running.wait_for(Intent::Arrival, &["hello"]);
        let (_, sighting) = running.recorder.state().sightings.last().cloned().expect("it is there");
        assert_eq!(sighting.provider_ids.first().map(|id| id.kind.as_str()), Some("guid"), "Dovecot has X-GUID");
        assert!(sighting.locator.starts_with("INBOX;UIDVALIDITY=") && sighting.locator.ends_with(";UID=2"));
        assert!(sighting.facts.body.is_some() && sighting.received_at.is_some());
        assert_eq!(sighting.folder.as_deref(), Some("INBOX"));
        assert!(running.health().last_mail_at.is_some());
        assert_eq!(running.stop(), Exit::Stopped, "{tls:?}");
        let flags = dovecot.doveadm(&["fetch", "-u", &user.name, "flags", "mailbox", "INBOX"]);
        assert!(!flags.contains("Seen"), "nothing was marked as read: {flags}");
    }
}

#[test]
fn first_sight_rings_for_nothing_and_a_restart_goes_on_where_it_was() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    for number in 0..5 {
        dovecot.save(&user, "INBOX", &Mail::new(&format!("old {number}")).bytes());
    }
    let running = watching(dovecot, &user, None);
    running.wait_for(Intent::Baseline, &["old 0", "old 1", "old 2", "old 3", "old 4"]);
    let recorder = running.recorder.clone();
    let cursor = Recorder::cursor(&recorder, "INBOX").expect("a cursor");
    assert_eq!((cursor.next_uid, cursor.floor_uid, cursor.backfill), (6, 6, None));
    running.stop();
    dovecot.save(&user, "INBOX", &Mail::new("while away").bytes());
    let again = start(mailbox(server(dovecot, &user, Tls::None), &["INBOX"]), &user.password, secs(3600), &recorder);
    again.wait_for(Intent::Arrival, &["while away"]);
    again.stop();
    assert_eq!(recorder.state().sightings.len(), 6, "nothing was reported twice");
}

#[test]
fn mails_at_once_are_all_reported_once() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let running = watching(dovecot, &user, None);
    let subjects: Vec<String> = (0..230).map(|number| format!("many {number}")).collect();
    for subject in &subjects {
        dovecot.put(&user, "INBOX", &Mail::new(subject).bytes());
    }
    wait::until("all came", secs(30), || running.recorder.subjects(Intent::Arrival).len() >= subjects.len());
    let mut got = running.recorder.subjects(Intent::Arrival);
    got.sort();
    let mut expected = subjects;
    expected.sort();
    assert_eq!(got, expected);
    running.stop();
}

#[test]
fn a_line_that_ends_in_any_way_is_followed_by_a_check() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    let running = watching(dovecot, &user, Some(relay.port));
    for (name, end) in [("kick", 0), ("reset", 1)] {
        let before = relay.connections();
        relay.set(Passing::Refuse);
        match end {
            0 => dovecot.kick(&user),
            _ => relay.reset(),
        }
        wait::until("it is noticed", secs(10), || running.health().state == HealthState::Offline);
        dovecot.save(&user, "INBOX", &Mail::new(name).bytes());
        relay.set(Passing::Pass);
        let subject = name.to_owned();
        wait::until("the mail is there", secs(30), || running.recorder.subjects(Intent::Arrival).contains(&subject));
        assert!(relay.connections() > before, "by a new connection");
    }
    running.stop();
}

#[test]
fn a_poke_on_a_dead_line_finds_it_dead_soon() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    let running = watching(dovecot, &user, Some(relay.port));
    relay.set(Passing::Blackhole);
    dovecot.save(&user, "INBOX", &Mail::new("unheard").bytes());
    running.poke.notify_one();
    wait::until("it is noticed", secs(25), || running.health().state == HealthState::Offline);
    relay.set(Passing::Pass);
    relay.reset();
    running.wait_for(Intent::Arrival, &["unheard"]);
    running.stop();
}

#[test]
fn after_a_wake_a_dead_line_is_not_asked_but_left() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    let running = watching(dovecot, &user, Some(relay.port));
    for round in 0..3 {
        let subject = format!("asleep {round}");
        relay.set_old(Passing::Blackhole);
        dovecot.save(&user, "INBOX", &Mail::new(&subject).bytes());
        let began = Instant::now();
        running.wake.send_modify(|count| *count += 1);
        wait::until("the mail is there", secs(10), || running.recorder.subjects(Intent::Arrival).contains(&subject));
        eprintln!("from the wake to the report: {:?}", began.elapsed());
    }
    assert_eq!(relay.connections(), 4, "each time by a new connection");
    // The budget of sign-ins is used up: the line is kept, and a poke would ask it.
    running.wake.send_modify(|count| *count += 1);
    dovecot.save(&user, "INBOX", &Mail::new("kept").bytes());
    wait::until("it came", secs(10), || running.recorder.subjects(Intent::Arrival).contains(&"kept".to_owned()));
    assert_eq!(relay.connections(), 4, "a network that comes and goes is no storm of sign-ins");
    running.stop();
}

#[test]
fn what_cannot_be_stored_is_reported_again_and_the_cursor_waits() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let running = watching(dovecot, &user, None);
    let before = running.recorder.cursor("INBOX");
    running.recorder.state().refuse = true;
    dovecot.save(&user, "INBOX", &Mail::new("later").bytes());
    wait::until("it was tried twice", secs(10), || running.recorder.state().refused >= 2);
    assert_eq!(running.recorder.cursor("INBOX"), before);
    assert_eq!(running.health().error.map(|fault| fault.code), Some(FaultCode::Storage));
    running.recorder.state().refuse = false;
    running.wait_for(Intent::Arrival, &["later"]);
    wait::until("it is well again", secs(10), || running.health().error.is_none());
    running.stop();
}

#[test]
fn a_renumbered_folder_is_judged_by_the_newest_mail_known() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    dovecot.save(&user, "INBOX", &Mail::new("known").bytes());
    let running = watching(dovecot, &user, None);
    running.wait_for(Intent::Baseline, &["known"]);
    let recorder = running.recorder.clone();
    running.stop();
    let newest = recorder.cursor("INBOX").and_then(|cursor| cursor.newest_known_at).expect("it is remembered");
    dovecot.set_uid_validity(&user, "INBOX", 4_000_000);
    dovecot.save(&user, "INBOX", &Mail::new("in between").bytes());
    let again = start(mailbox(server(dovecot, &user, Tls::None), &["INBOX"]), &user.password, secs(3600), &recorder);
    again.ready();
    let rebuild = Intent::Rebuild { rings_from: newest - 3_600_000 };
    again.wait_for(rebuild, &["known", "in between"]);
    let cursor = recorder.cursor("INBOX").expect("a cursor");
    assert_eq!((cursor.uid_validity, cursor.next_uid, cursor.backfill), (4_000_000, 3, None));
    again.stop();
}

#[test]
fn further_folders_are_read_at_each_poll_with_what_they_are_for() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    dovecot.doveadm(&["mailbox", "create", "-u", &user.name, "Work"]);
    let folders = mailbox(server(dovecot, &user, Tls::None), &["INBOX", "Junk", "Work", "Nowhere"]);
    let running = start(folders, &user.password, secs(2), &Arc::default());
    running.ready();
    let parked = running.health().error.expect("one folder does not exist");
    assert_eq!(parked.code, FaultCode::NotFound);
    assert!(parked.consequence.contains("Nowhere"), "{parked}");
    dovecot.save(&user, "Work", &Mail::new("work").bytes());
    running.wait_for(Intent::Arrival, &["work"]);
    dovecot.save(&user, "Junk", &Mail::new("junk").bytes());
    running.wait_for(Intent::Arrival, &["work", "junk"]);
    dovecot.save(&user, "INBOX", &Mail::new("inbox").bytes());
    running.wait_for(Intent::Arrival, &["work", "junk", "inbox"]);
    let uses: Vec<_> = running.recorder.state().sightings.iter().map(|(_, sighting)| sighting.special_use).collect();
    assert_eq!(uses, [SpecialUse::None, SpecialUse::Junk, SpecialUse::None]);
    dovecot.doveadm(&["mailbox", "create", "-u", &user.name, "Nowhere"]);
    wait::until("the new folder is watched too", secs(20), || running.health().error.is_none());
    running.stop();
}

#[test]
fn a_huge_mail_is_read_no_further_than_needed() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let running = watching(dovecot, &user, None);
    let body = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\r\n".repeat(500_000);
    dovecot.put(&user, "INBOX", &Mail::new("huge").body(&body).bytes());
    running.wait_for(Intent::Arrival, &["huge"]);
    running.stop();
}

#[test]
fn a_check_says_in_words_what_is_wrong() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let runtime = runtime();
    let good = server(dovecot, &user, Tls::Implicit);
    let run = |server: ImapServer, password: &str, folder: &str| {
        let mailbox = mailbox(server, &[folder]);
        runtime.block_on(check(&mailbox, &SecretString::from(password), 1_000))
    };
    let report = run(good.clone(), &user.password, "INBOX").expect("all is well");
    assert_eq!(report.folders[0].cursor.next_uid, 1);
    assert!(report.capabilities.iter().any(|one| one == "IDLE") && report.offered.contains(&"Junk".to_owned()));

    let wrong = |change: fn(&mut ImapServer), password: &str, folder: &str, code: FaultCode, word: &str| {
        let mut server = good.clone();
        change(&mut server);
        let fault = run(server, password, folder).expect_err("something is wrong");
        assert!(fault.code == code && fault.to_string().contains(word), "wanted {code:?} and {word:?}, got {fault:?}");
    };
    let password = user.password.as_str();
    wrong(|_| (), "wrong", "INBOX", FaultCode::SignIn, "AUTHENTICATIONFAILED");
    wrong(|_| (), password, "Nein", FaultCode::NotFound, "Nein");
    wrong(|server| server.host = "no.such.host.invalid".into(), password, "INBOX", FaultCode::Unreachable, "spelling");
    wrong(|server| server.port = wait::free_port(), password, "INBOX", FaultCode::Unreachable, "refused");
    wrong(|server| server.ca_file = None, password, "INBOX", FaultCode::Tls, "--ca-file");
    wrong(|server| server.pin = Some("0".repeat(64)), password, "INBOX", FaultCode::Tls, "pin");
    wrong(|server| server.ca_file = Some("/nowhere".into()), password, "INBOX", FaultCode::Invalid, "/nowhere");
    wrong(
        |server| (server.tls, server.host) = (Tls::None, "imap.example.com".into()),
        password,
        "INBOX",
        FaultCode::Invalid,
        "--allow-plaintext",
    );
    let mut plain_port = good.clone();
    plain_port.port = dovecot.imap_port;
    let fault = run(plain_port, password, "INBOX").expect_err("TLS to a plain port");
    assert!(fault.code == FaultCode::Tls && fault.next_step.contains("starttls"), "{fault:?}");
    let mut lmtp = server(dovecot, &user, Tls::None);
    lmtp.port = dovecot.lmtp_port;
    let fault = run(lmtp, password, "INBOX").expect_err("not an IMAP server");
    assert!(fault.code == FaultCode::Protocol && fault.cause.contains("220"), "{fault:?}");
    let pinned = ImapServer { ca_file: None, pin: Some(dovecot.certificate_sha256.clone()), ..good.clone() };
    run(pinned, password, "INBOX").expect("the pinned certificate is trusted");

    let other_name =
        Dovecot::start_with(&Options { certificate_names: vec!["mail.example.org"], ..Options::default() });
    let fault = run(server(&other_name, &user, Tls::Implicit), password, "INBOX").expect_err("another name");
    assert!(fault.code == FaultCode::Tls && fault.cause.contains("mail.example.org"), "{fault:?}");
}

#[test]
fn a_password_refused_twice_needs_the_owner() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let mailbox = mailbox(server(dovecot, &user, Tls::None), &["INBOX"]);
    let running = start(mailbox, "wrong", secs(3600), &Arc::default());
    wait::until("it gave up", secs(20), || running.thread.is_finished());
    assert_eq!(running.health().state, HealthState::SignIn);
    let exit = running.stop();
    assert!(matches!(&exit, Exit::NeedsOwner(fault) if fault.code == FaultCode::SignIn), "{exit:?}");
}

#[test]
fn from_exists_to_report_in_a_blink() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    let running = watching(dovecot, &user, Some(relay.port));
    let mut latencies = Vec::new();
    for round in 0..20 {
        dovecot.put(&user, "INBOX", &Mail::new(&format!("quick {round}")).bytes());
        wait::until("it came", secs(20), || running.recorder.subjects(Intent::Arrival).len() > round);
        let told = *relay.wait_exists(1, secs(1)).last().expect("an EXISTS line");
        let at = running.recorder.state().sightings.last().expect("a sighting").0;
        latencies.push(at.saturating_duration_since(told));
    }
    running.stop();
    latencies.sort();
    eprintln!(
        "EXISTS to report: median {:?}, longest {:?}",
        latencies[latencies.len() / 2],
        latencies[latencies.len() - 1]
    );
}
