//! The app on a desktop: how soon its icon and its window are there, and what they take.
//!
//! The screen is Xvfb, so the window is drawn by the processor: with a graphics card it is sooner there.

use std::time::{Duration, Instant};

use ringonce_tests::support::dovecot::{Dovecot, User};
use ringonce_tests::support::panel::Panel;
use ringonce_tests::support::phone::{Class, Phone};
use ringonce_tests::support::program::{Program, Running};
use ringonce_tests::support::screen::Screen;
use ringonce_tests::support::wait::{self, secs};

use crate::figures::{self, ms, percentile};
use crate::latency;
use crate::process::Tree;

const MAILBOXES: usize = 10;
/// Starts of each row; one more goes ahead and is not counted.
const STARTS: usize = 10;
/// Over which the processor is counted, unless [`IDLE_VARIABLE`] says otherwise.
const IDLE_SECONDS: u64 = 300;
const IDLE_VARIABLE: &str = "RINGONCE_BENCH_IDLE_SECONDS";
/// An empty window has one colour; smooth letters have many.
const DRAWN_COLOURS: usize = 24;
const TITLE: &str = "Ringonce$";
const POLL: Duration = Duration::from_millis(1);
const LIMIT: Duration = secs(60);

/// Prints the tables.
pub(crate) fn print() {
    let desk = Desk::new();
    println!("The app with {MAILBOXES} mailboxes in IDLE inside TLS; {STARTS} starts each");
    println!("{:<52} {:>8} {:>8} {:>8}   {:<8}", "", "p50 ms", "p95 ms", "max ms", "goal");
    line("`ringonce --background` until the panel has its icon", &desk.starts(Desk::icon), "300");
    line("`ringonce` until its window is drawn", &desk.starts(Desk::window), "1000");
    line("the window opened anew until it is drawn", &desk.openings(), "1000");
    println!();
    desk.print_memory();
}

fn line(name: &str, took: &[f64], goal: &str) {
    let at = |percent| percentile(took, percent);
    println!("{name:<52} {:>8.0} {:>8.0} {:>8.0}   {goal:<8}", at(50), at(95), at(100));
}

/// A desktop with a panel, and the program on it.
struct Desk {
    program: Program,
    panel: Panel,
    screen: Screen,
    /// How many colours the screen has without a window: its ground is a pattern.
    bare: usize,
    users: Vec<User>,
    dovecot: Dovecot,
    _phone: Phone,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let (dovecot, mut screen, folder) = (Dovecot::start(), Screen::new(), figures::scratch());
        screen.furnish();
        let [_, (_, bus)] = screen.environment();
        let panel = Panel::start(&bus);
        let mut program = latency::program(folder.path());
        screen.take_in(&mut program);
        // What is said when it is closed for the first time would wait for an answer.
        program.ok(&["settings", "set", "ui.told_of_closing", "true"], "");
        let users: Vec<_> = (0..MAILBOXES).map(|_| dovecot.fresh_user()).collect();
        for user in &users {
            program.add_mailbox(&dovecot, user, &[]);
        }
        let phone = Phone::add(&program, Class::A);
        let bare = screen.colours();
        Self { program, panel, screen, bare, users, dovecot, _phone: phone, _folder: folder }
    }

    /// How long each start takes in ms.
    fn starts(&self, start: impl Fn(&Self) -> (Running, Duration)) -> Vec<f64> {
        let mut took = Vec::new();
        for round in 0..=STARTS {
            let (mut running, duration) = start(self);
            assert!(running.stop().success(), "it stops when asked: {}", running.log());
            self.wait_empty();
            if round > 0 {
                took.push(ms(duration));
            }
        }
        took
    }

    fn icon(&self) -> (Running, Duration) {
        let (icons, at) = (self.panel.icons(), Instant::now());
        let running = self.program.start(&["--background"]);
        wait_for("its icon", || self.panel.icons() > icons);
        (running, at.elapsed())
    }

    fn window(&self) -> (Running, Duration) {
        let at = Instant::now();
        let running = self.program.start(&[]);
        wait_for("its window", || self.is_drawn());
        (running, at.elapsed())
    }

    /// How long it takes where the program runs already, in ms.
    fn openings(&self) -> Vec<f64> {
        let (mut running, _) = self.icon();
        let mut took = Vec::new();
        for round in 0..=STARTS {
            let at = Instant::now();
            self.open_window();
            if round > 0 {
                took.push(ms(at.elapsed()));
            }
            self.close_window();
        }
        assert!(running.stop().success(), "it stops when asked: {}", running.log());
        took
    }

    fn print_memory(&self) {
        let idle_for = std::env::var(IDLE_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(IDLE_SECONDS);
        println!("{:<52} {:>8} {:>8} {:>10}   {:<8}", "", "RSS MiB", "PSS MiB", "processes", "goal");
        let (mut running, _) = self.icon();
        for user in &self.users {
            wait::until("each mailbox has its line", LIMIT, || self.dovecot.sessions(user) > 0);
        }
        let tree = Tree::of(running.pid());
        memory("tray", &tree, "25");
        let before = tree.processor_ms();
        std::thread::sleep(secs(idle_for));
        let idle_ms = tree.processor_ms() - before;
        self.open_window();
        memory("tray and window", &tree, "");
        self.close_window();
        memory("tray, after the window was closed", &tree, "25");
        println!("{:<52} {idle_ms:>8.0} ms", format!("processor in {idle_for} s with the tray alone"));
        println!();
        assert!(running.stop().success(), "it stops when asked: {}", running.log());
    }

    /// A second start asks the first one for it.
    fn open_window(&self) {
        self.program.ok(&[], "");
        wait_for("its window", || self.is_drawn());
    }

    /// As its owner does.
    fn close_window(&self) {
        // A window that the window manager does not know yet is not closed.
        wait::until("the window is gone", LIMIT, || {
            self.screen.close(TITLE);
            self.screen.windows(TITLE).is_empty()
        });
        self.wait_empty();
    }

    fn wait_empty(&self) {
        wait::until("the screen is empty", LIMIT, || self.screen.colours() == self.bare);
    }

    fn is_drawn(&self) -> bool {
        self.screen.colours() >= self.bare + DRAWN_COLOURS
    }
}

fn memory(name: &str, tree: &Tree, goal: &str) {
    tree.wait_quiet();
    let (rss, pss, processes) = (tree.rss_mib(), tree.pss_mib(), tree.len());
    println!("{name:<52} {rss:>8.1} {pss:>8.1} {processes:>10}   {goal:<8}");
}

/// Looks more often than [`wait::until`] does.
fn wait_for(what: &str, there: impl Fn() -> bool) {
    let until = Instant::now() + LIMIT;
    while !there() {
        assert!(Instant::now() < until, "Waited {LIMIT:?} in vain for {what}");
        std::thread::sleep(POLL);
    }
}
