//! A screen nobody looks at (Xvfb) and a session bus, gone when dropped.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::keyring::Session;

/// A screen of the tests, 1280 by 800.
pub struct Screen {
    display: String,
    session: Session,
    processes: Vec<Child>,
}

impl Default for Screen {
    fn default() -> Self {
        Self::new()
    }
}

impl Screen {
    /// Starts one, with an empty bus.
    #[must_use]
    pub fn new() -> Self {
        let mut session = Session::new();
        session.start_bus();
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]);
        server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().expect("Xvfb starts: see `cargo xtask setup`");
        let mut number = String::new();
        // It writes the number once it listens.
        let out = server.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut number).expect("Xvfb says its number");
        Self { display: format!(":{}", number.trim()), session, processes: vec![server] }
    }

    /// Its bus.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Starts an unlocked keyring on its bus.
    pub fn unlock_keyring(&mut self) {
        self.session.start_unlocked();
    }

    /// Starts a program on it that ends with it.
    pub fn spawn(&mut self, mut command: Command) {
        command.envs(self.environment()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = command.spawn();
        self.processes.push(started.unwrap_or_else(|error| panic!("{command:?} does not start: {error}")));
    }

    /// What a program needs to be on it.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, String); 2] {
        [("DISPLAY", self.display.clone()), ("DBUS_SESSION_BUS_ADDRESS", self.session.address())]
    }

    /// Its windows whose title begins so.
    #[must_use]
    pub fn windows(&self, title: &str) -> Vec<String> {
        self.xdotool(&["search", "--onlyvisible", "--name", &format!("^{title}")])
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    }

    /// Closes such a window as its owner would.
    pub fn close(&self, title: &str) {
        for window in self.windows(title) {
            let closed = Command::new("wmctrl").args(["-i", "-c", &window]).envs(self.environment()).status();
            assert!(closed.is_ok_and(|status| status.success()), "wmctrl -c: see `cargo xtask setup`");
        }
    }

    /// What `xdotool` prints.
    #[must_use]
    pub fn xdotool(&self, args: &[&str]) -> String {
        let output = Command::new("xdotool").args(args).envs(self.environment()).output();
        String::from_utf8_lossy(&output.expect("xdotool runs: see `cargo xtask setup`").stdout).into_owned()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        for mut process in self.processes.drain(..).rev() {
            // Errors are of no use here: the process is gone either way.
            drop(process.kill());
            drop(process.wait());
        }
    }
}
