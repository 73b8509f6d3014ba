//! The program is ended at each named border and started again: nothing is lost, nothing is told twice.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{iter, thread};

use ringonce_engine::crash::POINTS;
use serde_json::{Value, json};

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::Mode;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::{Output, Program};
use crate::support::wait::{self, secs};

const MAILBOX: &str = "owner@example.org";
const ALARM: &str = "May not have arrived: Hello: It was sent and no answer came, so it was not sent again. Open Ringonce to decide.";
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
            assert_eq!(status.signal(), if by_source { ABORTED } else { None }, "the command itself stores it: {point}");
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
        let mail = arrived.then_some("Ada: Hello");
        let alarm = uncertain.then_some(ALARM);
        let expected: Vec<&str> = mail.into_iter().chain(alarm).collect();
        let told = self.told(expected.len());
        assert_eq!(told, expected, "{what}: told once, or said that nobody knows");
        let db = self.program.db();
        let statuses = db.rows("SELECT status FROM notification_outbox ORDER BY id", []);
        let first = if uncertain { "uncertain" } else { "completed" };
        let wanted: Vec<Value> = iter::once(first).chain(alarm.map(|_| "completed")).map(|s| json!({"status": s})).collect();
        assert_eq!(statuses, wanted, "{what}");
        let open = db.number("SELECT count(*) FROM alarms WHERE code = 'uncertain' AND cleared_at IS NULL", []);
        assert_eq!(open, i64::from(uncertain), "{what}: an alarm names it");
    }

    /// What was told. A command may still be at work when the program that started it is gone.
    fn told(&self, count: usize) -> Vec<String> {
        wait::find(secs(10), || (self.phone.told().len() >= count).then_some(()));
        self.phone.told()
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
