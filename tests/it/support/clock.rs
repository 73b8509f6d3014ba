//! A wall clock that a test can put forward and back, for one program (libfaketime). Only `SystemTime` jumps, as
//! after a sleep or a correction; `Instant` goes on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::program::Program;

/// The wall clock of one program.
pub struct WallClock {
    file: PathBuf,
}

impl WallClock {
    /// Gives the program, from its next start on, a clock that this test sets.
    ///
    /// # Panics
    /// libfaketime is not installed.
    #[must_use]
    pub fn of(program: &mut Program) -> Self {
        let clock = Self { file: program.scratch().join("clock") };
        clock.set_offset(0);
        program.env("LD_PRELOAD", library());
        program.env("FAKETIME_TIMESTAMP_FILE", &clock.file);
        program.env("FAKETIME_NO_CACHE", "1");
        program.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        clock
    }

    /// From now on it is this many seconds ahead of the real one, or behind.
    pub fn set_offset(&self, seconds: i64) {
        let new = self.file.with_extension("new");
        fs::write(&new, format!("{seconds:+}s\n")).expect("the clock is written");
        fs::rename(&new, &self.file).expect("the clock is set in one step");
    }
}

fn library() -> PathBuf {
    let found = fs::read_dir("/usr/lib").expect("a folder of libraries").flatten().map(|entry| entry.path());
    let mut candidates = found.chain([PathBuf::from("/usr/lib")]).map(|dir| dir.join("faketime/libfaketime.so.1"));
    candidates.find(|path| Path::exists(path)).expect("libfaketime is not installed: `cargo xtask setup` does it")
}
