//! From the moment a server's EXISTS line reaches the program until the channel has the notification, on loopback.
//!
//! Three programs, one for each class of channel, and a bare client that only reads stand beside each other; each has
//! a mailbox and a relay of its own, and they get their mails in turn, so that a busy moment of the machine meets all.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ringonce_tests::support::dovecot::{Dovecot, User};
use ringonce_tests::support::http::Request;
use ringonce_tests::support::imap_session::ImapSession;
use ringonce_tests::support::mail::Mail;
use ringonce_tests::support::phone::{Class, Phone};
use ringonce_tests::support::program::{Program, Running};
use ringonce_tests::support::relay::Relay;
use ringonce_tests::support::wait::{self, secs};

use crate::figures::{self, ms, percentile};

/// Mails of each row; one more goes ahead and is not counted.
const MAILS: usize = 40;
/// Mails of which the calls that wait for the disk are counted.
const TRACED: usize = 20;
/// A machine under load is slow.
const LIMIT: Duration = secs(60);

/// Classes with their name and their goal, p50 and p95 in ms.
const ROWS: [(Class, &str, [f64; 2]); 3] = [
    (Class::A, "A: webhook whose receiver drops copies", [8.0, 20.0]),
    (Class::B, "B: ntfy", [12.0, 25.0]),
    (Class::C, "C: plain webhook", [12.0, 25.0]),
];

/// Prints the table.
pub(crate) fn print() {
    println!("Latency: EXISTS reaches the program -> the channel has the request; {MAILS} mails each, in turn");
    let disk = figures::scratch();
    let before = figures::syncs_ms(disk.path());
    let dovecot = Dovecot::start();
    let mut bare = Bare::start(&dovecot);
    let mut watchers = ROWS.map(|(class, ..)| Watcher::start(&dovecot, class));
    let mut took = [const { Vec::new() }; ROWS.len() + 1];
    for round in 0..=MAILS {
        let one = [bare.mail(&dovecot)].into_iter().chain(watchers.iter_mut().map(|watcher| watcher.mail(&dovecot)));
        for (took, ms) in took.iter_mut().zip(one) {
            if round > 0 {
                took.push(ms);
            }
        }
    }
    println!("{:<44} {:>8} {:>8} {:>8}   {:<12}", "", "p50 ms", "p95 ms", "max ms", "goal p50/p95");
    let [bare, rest @ ..] = &took;
    line("bare IDLE client: it has fetched the text", bare, "");
    for ((_, name, [p50, p95]), took) in ROWS.iter().zip(rest) {
        line(name, took, &format!("{p50} / {p95}"));
    }
    line("one 4 KiB append with fdatasync, before", &before, "");
    line("the same, after", &figures::syncs_ms(disk.path()), "");
    for ((_, name, _), watcher) in ROWS.iter().zip(&mut watchers) {
        match syncs(watcher, &dovecot) {
            Some([log, all]) => println!("{name:<44} {log:>8.2} commits and {all:.2} syncs of the disk a mail"),
            None => println!("{name:<44} commits not measured: no strace, or it may not attach"),
        }
    }
    println!();
}

fn line(name: &str, took: &[f64], goal: &str) {
    let at = |percent| percentile(took, percent);
    println!("{name:<44} {:>8.1} {:>8.1} {:>8.1}   {goal:<12}", at(50), at(95), at(100));
}

/// The program on a new data folder on the disk the build is on, with the log an owner has.
pub(crate) fn program(folder: &Path) -> Program {
    let mut program = Program::with_data_dir(&folder.join("data"));
    program.env_remove("RINGONCE_LOG");
    program
}

/// The program on one mailbox with one destination.
struct Watcher {
    running: Running,
    program: Program,
    phone: Phone,
    relay: Relay,
    user: User,
    mails: usize,
    folder: tempfile::TempDir,
}

impl Watcher {
    fn start(dovecot: &Dovecot, class: Class) -> Self {
        let folder = figures::scratch();
        let (user, program) = (dovecot.fresh_user(), program(folder.path()));
        // Without TLS, so that the relay sees the line.
        let relay = Relay::start(dovecot.imap_port);
        program.add_mailbox_at("127.0.0.1", relay.port, &user, &["--tls", "none"]);
        let phone = Phone::add(&program, class);
        let running = program.start_headless();
        Self { running, program, phone, relay, user, mails: 0, folder }
    }

    /// Delivers a mail and waits until it is told and settled; ms from EXISTS to the request.
    fn mail(&mut self, dovecot: &Dovecot) -> f64 {
        let heard = self.relay.exists().len();
        self.mails += 1;
        dovecot.put(&self.user, "INBOX", &Mail::new(&format!("Mail {}", self.mails)).bytes());
        let told = wait::get("the channel has the request", LIMIT, || self.writes().get(self.mails - 1).cloned());
        let exists_at = self.relay.exists()[heard];
        let completed = "SELECT count(*) FROM notification_outbox WHERE status = 'completed'";
        let db = self.program.db();
        wait::until("it is settled", LIMIT, || usize::try_from(db.number(completed, [])) == Ok(self.mails));
        ms(told.at - exists_at)
    }

    fn writes(&self) -> Vec<Request> {
        match &self.phone {
            Phone::Webhook(peer) => peer.writes(),
            Phone::Ntfy(peer) => peer.writes(),
            Phone::Command(_) => panic!("a command has no requests"),
        }
    }
}

/// A client that keeps nothing and tells nobody: it idles, and reads what is new.
struct Bare {
    session: ImapSession,
    relay: Relay,
    user: User,
    uid: u32,
}

impl Bare {
    fn start(dovecot: &Dovecot) -> Self {
        let (user, relay) = (dovecot.fresh_user(), Relay::start(dovecot.imap_port));
        let mut session = ImapSession::connect(relay.port);
        session.login(&user);
        session.command("EXAMINE INBOX");
        Self { session, relay, user, uid: 0 }
    }

    /// Delivers a mail and reads it; ms from EXISTS until its text is there.
    fn mail(&mut self, dovecot: &Dovecot) -> f64 {
        let heard = self.relay.exists().len();
        self.session.idle();
        self.uid += 1;
        dovecot.put(&self.user, "INBOX", &Mail::new(&format!("Mail {}", self.uid)).bytes());
        self.session.wait_line("EXISTS");
        self.session.done();
        let said = self.session.command(&format!("UID FETCH {} BODY.PEEK[]", self.uid));
        let read_at = Instant::now();
        assert!(said.iter().any(|line| line.contains("Message-ID")), "the text came: {said:?}");
        ms(read_at - self.relay.exists()[heard])
    }
}

/// Syncs of the database's log, one for each commit, and of all files, a mail; `None` where nobody may count them.
fn syncs(watcher: &mut Watcher, dovecot: &Dovecot) -> Option<[f64; 2]> {
    let pid = watcher.running.pid();
    let seen = watcher.folder.path().join("syncs");
    let mut tracer = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=fdatasync,fsync", "-o"])
        .arg(&seen)
        .args(["-p", &pid.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let look = || match tracer.try_wait() {
        Ok(None) => is_traced(pid).then_some(true),
        _ => Some(false),
    };
    let traced = wait::find(LIMIT, look) == Some(true);
    if traced {
        for _ in 0..TRACED {
            watcher.mail(dovecot);
        }
    }
    // It lets go of the program and writes the rest of what it saw.
    drop(Command::new("sh").args(["-c", &format!("kill -s INT {}", tracer.id())]).stderr(Stdio::null()).status());
    if wait::exit(&mut tracer, LIMIT).is_none() {
        tracer.kill().expect("the process is ours");
        tracer.wait().expect("the process is ours");
    }
    let seen = fs::read_to_string(seen).ok().filter(|_| traced)?;
    // A call that another thread's call interrupts fills two lines; only the first has the name and a bracket.
    let calls: Vec<&str> = seen.lines().filter(|line| line.contains("sync(")).collect();
    let log = calls.iter().filter(|line| line.contains("-wal>")).count();
    Some([log, calls.len()].map(|count| count as f64 / TRACED as f64))
}

/// Whether every thread of a process is watched by a tracer.
fn is_traced(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("Linux lists threads").flatten();
    let mut status = threads.map(|thread| fs::read_to_string(thread.path().join("status")).unwrap_or_default());
    status.all(|status| status.lines().any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0")))
}
