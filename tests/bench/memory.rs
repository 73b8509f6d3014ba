//! What the program takes while nothing happens.

use std::time::Duration;

use ringonce_tests::support::dovecot::Dovecot;
use ringonce_tests::support::phone::{Class, Phone};
use ringonce_tests::support::wait::{self, secs};

use crate::process::Tree;
use crate::{figures, latency};

/// Seconds over which the processor is counted.
const WINDOW_SECONDS: usize = 300;
const LIMIT: Duration = secs(60);

/// Prints the table. `RINGONCE_BENCH_SECONDS` makes it shorter.
pub(crate) fn print() {
    println!("Memory and processor of the idle program: mailboxes in IDLE inside TLS, one destination");
    let window = secs(figures::setting("RINGONCE_BENCH_SECONDS", WINDOW_SECONDS) as u64);
    let counted = format!("processor ms in {} s", window.as_secs());
    println!("{:<44} {:>8} {:>8} {counted:>24} {:>10}", "", "RSS MiB", "PSS MiB", "of one");
    for mailboxes in [1, 20] {
        let idle = idle(mailboxes, window);
        let name = if mailboxes == 1 { "one mailbox".to_owned() } else { format!("{mailboxes} mailboxes") };
        let share = idle.processor_ms / figures::ms(window) * 100.0;
        println!("{name:<44} {:>8.1} {:>8.1} {:>24.0} {share:>8.3} %", idle.rss_mib, idle.pss_mib, idle.processor_ms);
    }
    println!();
}

struct Idle {
    rss_mib: f64,
    pss_mib: f64,
    processor_ms: f64,
}

/// One program at a time: PSS divides what several of them share.
fn idle(mailboxes: usize, window: Duration) -> Idle {
    let (dovecot, folder) = (Dovecot::start(), figures::scratch());
    let program = latency::program(folder.path());
    let users: Vec<_> = (0..mailboxes).map(|_| dovecot.fresh_user()).collect();
    for user in &users {
        program.add_mailbox(&dovecot, user, &[]);
    }
    let _phone = Phone::add(&program, Class::A);
    let running = program.start_headless();
    for user in &users {
        wait::until("each mailbox has its line", LIMIT, || dovecot.sessions(user) > 0);
    }
    let tree = Tree::of(running.pid());
    tree.wait_quiet();
    let (rss_mib, pss_mib, before) = (tree.rss_mib(), tree.pss_mib(), tree.processor_ms());
    std::thread::sleep(window);
    Idle { rss_mib, pss_mib, processor_ms: tree.processor_ms() - before }
}
