//! Memory and processor of a program and everything it started.

use std::fs;
use std::time::{Duration, Instant};

use ringonce_tests::support::wait::{self, secs};

/// So long it has used no processor when it is called quiet.
const QUIET: Duration = secs(3);
const LIMIT: Duration = secs(60);

/// A program with its children, theirs, and so on.
pub(crate) struct Tree {
    root: u32,
}

impl Tree {
    /// Of a process that runs.
    pub(crate) fn of(root: u32) -> Self {
        Self { root }
    }

    /// Resident memory, MiB: shared pages count in each process.
    pub(crate) fn rss_mib(&self) -> f64 {
        self.sum(|pid| rollup_mib(pid, "Rss:"))
    }

    /// Its share of memory, MiB: of shared pages each process has its part.
    pub(crate) fn pss_mib(&self) -> f64 {
        self.sum(|pid| rollup_mib(pid, "Pss:"))
    }

    /// Processor time so far, of all threads of those that run, in ms.
    pub(crate) fn processor_ms(&self) -> f64 {
        self.sum(processor_ms)
    }

    /// How many processes it is.
    pub(crate) fn len(&self) -> usize {
        self.pids().len()
    }

    /// Waits until it does nothing any more.
    pub(crate) fn wait_quiet(&self) {
        let mut last = (self.processor_ms(), Instant::now());
        wait::until("it is quiet", LIMIT, || {
            let now = self.processor_ms();
            if now > last.0 {
                last = (now, Instant::now());
            }
            last.1.elapsed() >= QUIET
        });
    }

    fn sum(&self, of: impl Fn(u32) -> Option<f64>) -> f64 {
        self.pids().into_iter().filter_map(of).sum()
    }

    fn pids(&self) -> Vec<u32> {
        let processes = fs::read_dir("/proc").expect("Linux lists processes").flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let parents: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, stat(pid, 1)?))).collect();
        let mut tree = vec![self.root];
        let mut next = 0;
        while let Some(parent) = tree.get(next).copied() {
            tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| pid));
            next += 1;
        }
        tree
    }
}

/// A field of `smaps_rollup`, as proc(5) tells it, in MiB; `None` when it has just ended.
fn rollup_mib(pid: u32, field: &str) -> Option<f64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number of KiB") / 1024.0)
}

fn processor_ms(pid: u32) -> Option<f64> {
    // Fields 14 and 15 of proc(5); a tick is 10 ms on every Linux there is.
    Some(f64::from(stat(pid, 11)? + stat(pid, 12)?) * 10.0)
}

/// A number behind the name of a process in `stat`.
fn stat(pid: u32, index: usize) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(index)?.parse().ok()
}
