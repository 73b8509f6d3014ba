//! Medians, and where a measured stretch of time went.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The one below which `percent` of all lie.
pub(crate) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// A scratch folder beside the program: on the disk a build is on, never in memory.
pub(crate) fn scratch() -> tempfile::TempDir {
    let program = std::env::current_exe().expect("the program has a path");
    tempfile::tempdir_in(program.parent().expect("it lies in a folder")).expect("a folder can be made beside it")
}

/// Processor time of this process, by thread.
#[derive(Clone, Copy, Default)]
pub(crate) struct Processor {
    /// The writer of the database.
    pub(crate) writer: f64,
    /// All others.
    pub(crate) others: f64,
}

impl Processor {
    /// Used so far, in seconds. Threads that ended are not in it.
    pub(crate) fn used() -> Self {
        let mut used = Self::default();
        for task in fs::read_dir("/proc/self/task").expect("Linux lists threads").flatten() {
            let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            let Some((name, rest)) = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')) else { continue };
            let ticks = |index: usize| rest.split_whitespace().nth(index).and_then(|n| n.parse::<f64>().ok());
            // Fields 14 and 15 of proc(5); a tick is 10 ms on every Linux there is.
            let seconds = (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0;
            if name == "ringonce-writer" {
                used.writer += seconds;
            } else {
                used.others += seconds;
            }
        }
        used
    }

    /// Used since an earlier look.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self { writer: self.writer - earlier.writer, others: self.others - earlier.others }
    }
}

/// What appends of 4 KiB and their `fdatasync` cost on the disk of a folder, in ms each.
pub(crate) fn syncs_ms(folder: &Path) -> Vec<f64> {
    use std::io::Write as _;
    let path = folder.join("sync");
    let mut file = fs::File::create(&path).expect("a file can be made");
    let mut took = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        file.write_all(&[7; 4096]).expect("there is room");
        file.sync_data().expect("the disk takes it");
        took.push(ms(start.elapsed()));
    }
    fs::remove_file(path).expect("it was made here");
    took
}

/// A number from the environment, for shorter runs.
pub(crate) fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A duration in ms.
pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
