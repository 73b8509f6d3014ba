//! A network that breaks all the time, in every way, while a thousand mails come by two paths at once.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::dovecot::Dovecot;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::{Program, Running};
use crate::support::relay::{Passing, Relay};
use crate::support::wait::{self, secs};

const MAILS: usize = 1000;
/// Each of these comes by `ingest` as well.
const BY_BOTH: usize = 4;
/// The network breaks for so long; mails come all the while.
const CHAOS: Duration = secs(40);
/// A sign-in a minute may be all that is left of the budget.
const LIMIT: Duration = secs(120);

/// Breaks what passes, in turn, until told to stop.
fn break_lines(relay: &Relay, over: &AtomicBool) -> usize {
    let pause = |time| wait::find(time, || over.load(Ordering::SeqCst).then_some(()));
    let mut breaks = 0;
    for turn in 0.. {
        match turn % 4 {
            0 => relay.reset(),
            1 => {
                relay.set(Passing::Blackhole);
                pause(secs(2));
                relay.set(Passing::Pass);
                relay.reset();
            }
            2 => {
                relay.set(Passing::Drip(64, Duration::from_millis(5)));
                pause(secs(2));
                relay.cut_after(700);
                pause(secs(1));
                relay.set(Passing::Pass);
            }
            _ => relay.close(),
        }
        breaks += 1;
        if pause(secs(2)).is_some() {
            relay.set(Passing::Pass);
            return breaks;
        }
    }
    breaks
}

/// Resident memory in KiB, and open files of which most are sockets.
fn size_of(running: &Running) -> (u64, usize) {
    let open = fs::read_dir(format!("/proc/{}/fd", running.pid())).expect("it runs, on Linux").count();
    (running.resident_kib(), open)
}

#[test]
fn a_thousand_mails_by_two_paths_on_a_network_that_breaks() {
    let (mut program, dovecot) = (Program::new(), Dovecot::shared());
    program.env("RINGONCE_LOG", "info");
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    program.hurry();
    let mailbox = program.add_mailbox_at("127.0.0.1", relay.port, &user, &["--tls", "none"]);
    let phone = Phone::add(&program, Class::A);
    let running = program.start_headless();
    let mails: Vec<(String, Vec<u8>)> = (0..MAILS)
        .map(|n| {
            let subject = format!("Mail {n}");
            let mail = Mail::new(&subject).bytes();
            (subject, mail)
        })
        .collect();
    let (over, before, began) = (AtomicBool::new(false), size_of(&running), Instant::now());
    let mut sizes = vec![before];
    thread::scope(|scope| {
        let breaking = scope.spawn(|| break_lines(&relay, &over));
        scope.spawn(|| {
            for (at, (_, mail)) in mails.iter().enumerate().filter(|(at, _)| at % BY_BOTH == 0) {
                program.ingest(&mailbox, &[], mail);
                if at % (BY_BOTH * 50) == 0 {
                    thread::yield_now();
                }
            }
        });
        for (at, (_, mail)) in mails.iter().enumerate() {
            dovecot.put(&user, "INBOX", mail);
            // Spread over the time in which the network breaks.
            let due = CHAOS.mul_f64(at as f64 / MAILS as f64);
            thread::sleep(due.saturating_sub(began.elapsed()));
            if at % 100 == 0 {
                sizes.push(size_of(&running));
            }
        }
        over.store(true, Ordering::SeqCst);
        let breaks = breaking.join().expect("no panic");
        eprintln!("{breaks} breaks, {} connections, {:.0} s", relay.connections(), began.elapsed().as_secs_f64());
    });
    let calm = Instant::now();
    let told = || phone.told();
    wait::until("all have rung", LIMIT, || told().len() >= MAILS);
    eprintln!("All {MAILS} have rung {:.1} s after the last break", calm.elapsed().as_secs_f64());
    program.settle();
    sizes.push(size_of(&running));
    let rung: BTreeSet<String> = told().into_iter().collect();
    let expected: BTreeSet<String> = mails.iter().map(|(subject, _)| format!("Ada: {subject}")).collect();
    assert_eq!((rung == expected, told().len()), (true, MAILS), "every mail rang, and none twice");
    eprintln!("Memory in KiB and open files, over it: {sizes:?}");
    let most = |of: fn(&(u64, usize)) -> u64| sizes.iter().map(of).max().unwrap_or_default();
    assert!(most(|size| size.0) < before.0 + 40_000, "memory stays flat: {sizes:?}");
    assert!(most(|size| size.1 as u64) < before.1 as u64 + 40, "and so do sockets: {sizes:?}");
    program.assert_sound();
}
