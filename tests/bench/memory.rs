//! What the program takes while nothing happens.

use std::fs;
use std::time::{Duration, Instant};

use ringonce_tests::support::dovecot::Dovecot;
use ringonce_tests::support::phone::{Class, Phone};
use ringonce_tests::support::wait::{self, secs};

use crate::{figures, latency};

/// So long it has used no processor when it is called quiet.
const QUIET: Duration = secs(3);
/// Over which the processor is counted.
const WINDOW: Duration = secs(60);
const LIMIT: Duration = secs(60);

/// Prints the table.
pub(crate) fn print() {
    println!("Memory and processor of the idle program: mailboxes in IDLE inside TLS, one destination");
    println!("{:<44} {:>8} {:>8} {:>22}", "", "RSS MiB", "PSS MiB", "processor ms in 60 s");
    for mailboxes in [1, 20] {
        let idle = idle(mailboxes);
        let name = if mailboxes == 1 { "one mailbox".to_owned() } else { format!("{mailboxes} mailboxes") };
        println!("{name:<44} {:>8.1} {:>8.1} {:>22.0}", idle.rss_mib, idle.pss_mib, idle.processor_ms);
    }
    println!();
}

struct Idle {
    rss_mib: f64,
    pss_mib: f64,
    processor_ms: f64,
}

/// One program at a time: PSS divides what several of them share.
fn idle(mailboxes: usize) -> Idle {
    let (dovecot, folder) = (Dovecot::start(), figures::scratch());
    let program = latency::program(folder.path());
    let users: Vec<_> = (0..mailboxes).map(|_| dovecot.fresh_user()).collect();
    for user in &users {
        program.add_mailbox(&dovecot, user, &[]);
    }
    let _phone = Phone::add(&program, Class::A);
    let running = program.start_headless();
    let pid = running.pid();
    for user in &users {
        wait::until("each mailbox has its line", LIMIT, || dovecot.sessions(user) > 0);
    }
    let mut last = (processor_ms(pid), Instant::now());
    wait::until("it is quiet", LIMIT, || {
        let now = processor_ms(pid);
        if now > last.0 {
            last = (now, Instant::now());
        }
        last.1.elapsed() >= QUIET
    });
    let [rss_mib, pss_mib] = ["Rss:", "Pss:"].map(|field| rollup_mib(pid, field));
    let before = processor_ms(pid);
    std::thread::sleep(WINDOW);
    Idle { rss_mib, pss_mib, processor_ms: processor_ms(pid) - before }
}

/// A field of `smaps_rollup`, as proc(5) tells it, in MiB.
fn rollup_mib(pid: u32, field: &str) -> f64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("it runs, on Linux");
    let line = rollup.lines().find_map(|line| line.strip_prefix(field)).expect("Linux tells it");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number of KiB") / 1024.0
}

/// Processor time so far, of all threads, in ms.
fn processor_ms(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs, on Linux");
    let (_, rest) = stat.rsplit_once(')').expect("the name is in brackets");
    let ticks: Vec<&str> = rest.split_whitespace().collect();
    // Fields 14 and 15 of proc(5); a tick is 10 ms on every Linux there is.
    [ticks[11], ticks[12]].iter().map(|ticks| ticks.parse::<f64>().expect("a number of ticks") * 10.0).sum()
}
