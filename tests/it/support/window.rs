//! The stand-in for the window's program, and what it was told.

use std::path::PathBuf;

use crate::support::program::{Program, binary};
use crate::support::wait::{self, secs};

/// What the stand-in of one program wrote down.
pub struct Window {
    log: PathBuf,
}

impl Window {
    /// From its next start on this is what the program takes for the window, on a screen that nobody looks at.
    pub fn of(program: &mut Program) -> Self {
        let log = program.scratch().join("window-log");
        program.env("RINGONCE_APP", binary().with_file_name("ringonce-window"));
        program.env("RINGONCE_STAND_IN_LOG", log.clone());
        program.env("DISPLAY", ":no-such-screen");
        Self { log }
    }

    /// Everything it wrote down, all its starts.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How often it wrote a line that begins so.
    #[must_use]
    pub fn count(&self, start: &str) -> usize {
        self.lines().iter().filter(|line| line.starts_with(start)).count()
    }

    /// Waits for so many lines that begin so; gives the last.
    #[track_caller]
    pub fn wait(&self, start: &str, count: usize) -> String {
        let found = wait::find(secs(20), || (self.count(start) >= count).then_some(()));
        assert!(found.is_some(), "{count} lines `{start}…` were awaited; there are {:?}", self.lines());
        let last = self.lines().into_iter().rfind(|line| line.starts_with(start));
        last.unwrap_or_default()
    }

    /// Waits until it was started so often and is attached; gives its process id.
    #[track_caller]
    pub fn wait_attached(&self, count: usize) -> u32 {
        self.wait("attached", count);
        let started = self.wait("started ", count);
        started.split(' ').nth(1).and_then(|pid| pid.parse().ok()).expect("it writes its process id down")
    }
}
