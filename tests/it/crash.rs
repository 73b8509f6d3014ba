//! The program is ended at each named border and started again: nothing is lost, nothing is told twice.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ringonce_engine::crash::POINTS;

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::Mode;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::{Output, Program};
use crate::support::wait::{self, secs};

const MAILBOX: &str = "owner@example.org";
const MAIL: &str = "Ada: Hello";
const ALARM: &str =
    "May not have arrived: Hello: It was sent and no answer came, so it was not sent again. Open Ringonce to decide.";
const ABORTED: Option<i32> = Some(6);

/// Where a border leaves a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Not in the database.
    Outside,
    /// Stored; no byte of it left.
    Unsent,
    /// No byte left, and nobody can see that any more.
    Marked,
    /// It arrived, and that is not stored.
    Arrived,
    /// It arrived, and that is stored.
    Settled,
}

/// How a mail comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// While the program runs: its notification is born leased to its lane.
    WhileRunning,
    /// Before the program starts: its notification is claimed.
    Before,
}

/// `None`: a point of any commit, which `any_commit` goes through.
fn left_by(point: &str) -> Option<Left> {
    Some(match point {
        "before_commit" | "after_commit" => return None,
        "intake_before_commit" => Left::Outside,
        "intake_after_commit" | "claim_before_commit" | "claim_after_commit" | "mark_before_commit" => Left::Unsent,
        "mark_after_commit" => Left::Marked,
        "bytes_written" | "answer_read" | "settle_before_commit" => Left::Arrived,
        "settle_after_commit" => Left::Settled,
        other => panic!("Say where {other} leaves a mail"),
    })
}

/// Whether a mail that comes so meets the point on its way to a destination of the class.
fn is_met(point: &str, class: Class, comes: Comes) -> bool {
    match point {
        "claim_before_commit" | "claim_after_commit" => comes == Comes::Before,
        "mark_before_commit" | "mark_after_commit" => class != Class::A,
        _ => true,
    }
}

/// A program with one mailbox and one phone, and one mail for it.
struct House {
    program: Program,
    phone: Phone,
    class: Class,
    mail: Vec<u8>,
}

impl House {
    fn new(class: Class) -> Self {
        let program = Program::new();
        program.ok(&["mailbox", "add", "--no-imap", "--email", MAILBOX], "");
        Self::with(program, class)
    }

    /// A program that has its mailboxes.
    fn with(program: Program, class: Class) -> Self {
        program.ok(&["settings", "set", "reconcile.lookup_settle_seconds", "1"], "");
        let phone = Phone::add(&program, class);
        Self { program, phone, class, mail: Mail::new("Hello").bytes() }
    }

    /// The mail's source reports it, now or again.
    fn report(&self) -> Output {
        let args = ["ingest", "--json", "--mailbox", MAILBOX, "--delivery-id", "1", "-"];
        self.program.run(&args, &self.mail)
    }

    /// The program runs into the point; where it met the mail is gone before it begins to run.
    fn crash(&mut self, point: &str, comes: Comes) {
        let by_source = comes == Comes::Before && point.starts_with("intake");
        if comes == Comes::Before {
            self.program.crash_at(by_source.then_some(point));
            let status = self.report().status;
            self.program.crash_at(None);
            assert_eq!(
                status.signal(),
                if by_source { ABORTED } else { None },
                "the command itself stores it: {point}"
            );
        }
        if by_source {
            return;
        }
        self.program.crash_at(Some(point));
        let mut running = self.program.start(&["run", "--headless"]);
        self.program.crash_at(None);
        if comes == Comes::WhileRunning {
            running.wait_line("ready", secs(30));
            let output = self.report();
            assert!(!output.status.success() || !point.starts_with("intake"), "{point}: not said to be stored");
        }
        assert_eq!(running.wait_exit(secs(30)).signal(), ABORTED, "it ends at {point}");
    }

    /// How the database stands after the crash.
    fn check_border(&self, left: Left, what: &str) {
        let db = self.program.db();
        let sql = "SELECT n.status, sum(a.payload_started_at IS NOT NULL) AS marked, count(a.id) AS attempts
                   FROM notification_outbox n LEFT JOIN attempts a USING (dispatch_key) GROUP BY n.dispatch_key";
        let rows = db.rows(sql, []);
        if left == Left::Outside {
            let stored = db.number("SELECT count(*) FROM processed_messages", []);
            assert_eq!((stored, rows), (0, Vec::new()), "{what}: all or nothing");
            return;
        }
        assert_eq!(rows.len(), 1, "{what}: a mail has its operation and its notification: {rows:?}");
        let open = rows[0]["status"] == "processing" || rows[0]["status"] == "pending";
        let marked = rows[0]["marked"] == 1;
        let expected = (left != Left::Settled, self.class != Class::A && left != Left::Unsent);
        assert_eq!((open, marked), expected, "{what}: {rows:?}");
    }

    /// Starts it again, has the source report again, and waits until nothing is to be done.
    fn recover(&self, left: Left, what: &str) {
        let mut running = self.program.start_headless();
        let again = self.report();
        assert!(again.status.success(), "{what}: {}", again.stderr);
        let verdict = if left == Left::Outside { "new" } else { "repeat" };
        assert_eq!(again.json()["verdict"], verdict, "{what}: what was stored is known");
        self.program.ok(&["wait", "--settled", "--timeout", "30"], "");
        verify(&self.program, what);
        running.stop();
    }

    /// What the owner was told, and how it stands.
    fn check_told(&self, left: Left, what: &str) {
        let asks_nobody = matches!(self.class, Class::C | Class::Command);
        let uncertain = asks_nobody && matches!(left, Left::Marked | Left::Arrived);
        let arrived = !(asks_nobody && left == Left::Marked);
        let mail = arrived.then_some(MAIL);
        let expected: Vec<&str> = mail.into_iter().chain(uncertain.then_some(ALARM)).collect();
        assert_eq!(self.told(expected.len()), expected, "{what}: told once, or said that nobody knows");
        self.check_end(uncertain, what);
    }

    fn check_end(&self, uncertain: bool, what: &str) {
        let expected: &[&str] = if uncertain { &["uncertain", "completed"] } else { &["completed"] };
        assert_eq!(self.statuses(), expected, "{what}");
        assert_eq!(self.open_alarms(), i64::from(uncertain), "{what}: an alarm names it");
    }

    /// Nobody knows whether the mail arrived, and the program may have crashed while it said so, too.
    fn check_held(&self, what: &str) {
        assert!(matches!(self.class, Class::C | Class::Command), "{what}: it could be known");
        assert_eq!(self.open_alarms(), 1, "{what}: an alarm names it");
        let told = self.phone.told();
        for line in [MAIL, ALARM] {
            assert!(told.iter().filter(|told| *told == line).count() <= 1, "{what}: nothing twice: {told:?}");
        }
        let alarm = self.statuses().remove(1);
        let is_told = told.iter().any(|told| told == ALARM);
        assert!(is_told || alarm == "uncertain", "{what}: the alarm is told, or stands in `attention`: {told:?}");
    }

    /// Of the mail's notification, then of the alarm about it.
    fn statuses(&self) -> Vec<String> {
        let rows = self.program.db().rows("SELECT status FROM notification_outbox ORDER BY id", []);
        rows.iter().map(|row| row["status"].as_str().expect("a word").to_owned()).collect()
    }

    fn open_alarms(&self) -> i64 {
        let sql = "SELECT count(*) FROM alarms WHERE code = 'uncertain' AND cleared_at IS NULL";
        self.program.db().number(sql, [])
    }

    /// What was told. A command may still be at work when the program that started it is gone.
    fn told(&self, count: usize) -> Vec<String> {
        wait::find(secs(10), || (self.phone.told().len() >= count).then_some(()));
        self.phone.told()
    }

    /// Starts it with a point of any commit, and has the mail come in. `true`: it met the point.
    fn run_into(&mut self, point: &str) -> bool {
        self.program.crash_at(Some(point));
        let mut running = self.program.start(&["run", "--headless"]);
        self.program.crash_at(None);
        wait::until("it says ready or ends", secs(30), || running.printed().contains("ready") || !running.is_alive());
        // As a source does it: until it is said to be stored.
        wait::until("the mail is stored", secs(30), || self.report().status.success());
        let open = "SELECT count(*) FROM notification_outbox WHERE status IN ('pending', 'processing')
                    OR (status = 'uncertain' AND due_at < 9e18)";
        wait::until("all is told or it ends", secs(30), || {
            self.program.db().number(open, []) == 0 || !running.is_alive()
        });
        let met = !running.is_alive();
        if !met {
            running.stop();
        }
        met
    }
}

#[track_caller]
fn verify(program: &Program, what: &str) {
    let output = program.run(&["verify", "--json"], "");
    assert!(output.status.success(), "{what}: {}{}", output.stdout, output.stderr);
}

/// Each named point on the way of a mail, both ways in.
fn each_point(class: Class) {
    let mut met = 0;
    for comes in [Comes::WhileRunning, Comes::Before] {
        for point in POINTS.iter().filter(|point| is_met(point, class, comes)) {
            let Some(left) = left_by(point) else { continue };
            let what = format!("{point}, class {class:?}, the mail came {comes:?}");
            let mut house = House::new(class);
            house.crash(point, comes);
            verify(&house.program, &format!("{what}, before the restart"));
            house.check_border(left, &what);
            house.recover(left, &what);
            house.check_told(left, &what);
            met += 1;
        }
    }
    assert!(met >= 14, "only {met} points");
}

#[test]
fn each_point_to_a_receiver_that_drops_copies() {
    each_point(Class::A);
}

#[test]
fn each_point_to_a_server_that_can_be_asked() {
    each_point(Class::B);
}

#[test]
fn each_point_to_a_receiver_that_takes_copies() {
    each_point(Class::C);
}

#[test]
fn each_point_to_a_command() {
    each_point(Class::Command);
}

/// Every commit the program makes, one by one, from its start on; before that it crashed at `first` already.
fn any_commit(class: Class, first: Option<&str>) {
    for point in ["before_commit", "after_commit"] {
        for count in 1.. {
            let what = format!("{point}:{count}, class {class:?}, after a crash at {first:?}");
            let mut house = House::new(class);
            if let Some(first) = first {
                house.crash(first, Comes::WhileRunning);
            }
            let met = house.run_into(&format!("{point}:{count}"));
            verify(&house.program, &format!("{what}, before the restart"));
            house.recover(Left::Unsent, &what);
            if house.statuses()[0] == "uncertain" {
                house.check_held(&what);
            } else {
                assert_eq!(house.told(1), [MAIL], "{what}: told once");
                house.check_end(false, &what);
            }
            if !met {
                assert!(count > 3, "{what}: the program makes more commits than that");
                break;
            }
        }
    }
}

#[test]
fn any_commit_with_a_receiver_that_drops_copies() {
    any_commit(Class::A, None);
}

#[test]
fn any_commit_while_the_server_is_asked() {
    any_commit(Class::B, Some("bytes_written"));
}

#[test]
fn any_commit_while_nobody_knows() {
    any_commit(Class::C, Some("mark_after_commit"));
}

/// What is not stored is read from the server again: its cursor has not moved.
#[test]
fn each_point_with_a_mail_that_imap_brings() {
    let dovecot = Dovecot::shared();
    for point in POINTS.iter().filter(|point| is_met(point, Class::B, Comes::WhileRunning)) {
        let Some(left) = left_by(point) else { continue };
        let what = format!("{point}, by IMAP");
        let user = dovecot.fresh_user();
        let program = Program::new();
        let (port, email) = (dovecot.imap_port.to_string(), format!("{}@localhost", user.name));
        let server = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
        let add = ["mailbox", "add", "--password-stdin", "--email", &email];
        program.ok(&[&add, server.as_slice()].concat(), format!("{}\n", user.password));
        let mut house = House::with(program, Class::B);

        house.program.crash_at(Some(point));
        let mut running = house.program.start(&["run", "--headless"]);
        house.program.crash_at(None);
        running.wait_line("ready", secs(30));
        dovecot.save(&user, "INBOX", &house.mail);
        assert_eq!(running.wait_exit(secs(30)).signal(), ABORTED, "it ends at {point}");
        verify(&house.program, &format!("{what}, before the restart"));
        house.check_border(left, &what);
        let cursor = || house.program.db().number("SELECT next_uid FROM folders", []);
        assert_eq!(cursor(), if left == Left::Outside { 1 } else { 2 }, "{what}: the cursor moves with the mail");

        let mut running = house.program.start_headless();
        wait::until("the mail is stored", secs(30), || cursor() == 2);
        house.program.ok(&["wait", "--settled", "--timeout", "30"], "");
        verify(&house.program, &what);
        running.stop();
        house.check_told(left, &what);
    }
}

/// Mails come while the program is killed again and again, at moments a number decides.
#[test]
fn kills_at_any_moment_lose_nothing_and_ring_once() {
    const MAILS: usize = 40;
    const KILLS: usize = 6;
    let program = Program::new();
    program.ok(&["mailbox", "add", "--no-imap", "--email", MAILBOX], "");
    for (key, value) in [("reconcile.lookup_settle_seconds", "1"), ("processing.max_attempts", "20")] {
        program.ok(&["settings", "set", key, value], "");
    }
    let phones = [Phone::add(&program, Class::A), Phone::add(&program, Class::B)];
    // Slow enough that a kill finds calls in hand.
    phones.iter().for_each(|phone| phone.set(Mode::AcceptAnswerAfter(Duration::from_millis(30))));
    let come = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..MAILS {
                let mail = Mail::new(&format!("Mail {number}")).bytes();
                let args = ["ingest", "--mailbox", MAILBOX, "--delivery-id", &number.to_string(), "-"];
                // As a source does it: until it is said to be stored.
                wait::until("the mail is stored", secs(60), || program.run(&args, &mail).status.success());
                come.store(number + 1, Ordering::SeqCst);
            }
        });
        let mut random = 0x2545_F491_4F6C_DD1D_u64;
        for kill in 1..=KILLS {
            let mut running = program.start_headless();
            let from = come.load(Ordering::SeqCst);
            wait::find(secs(10), || (come.load(Ordering::SeqCst) > from).then_some(()));
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            thread::sleep(Duration::from_millis(random % 150));
            running.kill9();
            verify(&program, &format!("after kill {kill}"));
        }
    });
    let mut running = program.start_headless();
    program.ok(&["wait", "--settled", "--timeout", "60"], "");
    verify(&program, "at the end");
    running.stop();
    for phone in &phones {
        let mut times: HashMap<String, usize> = HashMap::new();
        for told in phone.told() {
            *times.entry(told).or_default() += 1;
        }
        for number in 0..MAILS {
            assert_eq!(times.remove(&format!("Ada: Mail {number}")), Some(1), "mail {number} rings once");
        }
        assert!(times.is_empty(), "nothing else rings: {times:?}");
    }
    let open = "SELECT count(*) FROM notification_outbox WHERE status <> 'completed'";
    assert_eq!(program.db().number(open, []), 0, "all are settled");
}
