//! A screen nobody looks at (Xvfb) and a session bus, gone when dropped.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::keyring::Session;
use crate::support::program::Program;

/// The middle of the screen, from pixel to pixel: wherever a window of 960 by 640 stands, this is inside of it.
const MIDDLE_X: (usize, usize) = (330, 950);
const MIDDLE_Y: (usize, usize) = (210, 590);

/// A screen of the tests, 1280 by 800.
pub struct Screen {
    display: String,
    /// Where the server keeps what is shown.
    frame: tempfile::TempDir,
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
        let frame = tempfile::Builder::new().prefix("ringonce-screen-").tempdir().expect("a scratch folder");
        let mut server = Command::new("Xvfb");
        server.arg("-fbdir").arg(frame.path());
        server.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]);
        server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().expect("Xvfb starts: see `cargo xtask setup`");
        let mut number = String::new();
        // It writes the number once it listens.
        let out = server.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut number).expect("Xvfb says its number");
        Self { display: format!(":{}", number.trim()), frame, session, processes: vec![server] }
    }

    /// Its bus.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Puts an unlocked keyring on its bus and a window manager on it.
    pub fn furnish(&mut self) {
        self.session.start_unlocked();
        self.spawn(Command::new("openbox"));
    }

    /// The program runs on it from its next start on, with its secrets in the keyring.
    pub fn take_in(&self, program: &mut Program) {
        program.use_keyring(&self.session.address());
        for (name, value) in self.environment() {
            program.env(name, value);
        }
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

    /// How many colours there are in its middle, where every window of the app is. Reading takes a millisecond or two:
    /// what is measured is hardly slowed down by being watched.
    #[must_use]
    pub fn colours(&self) -> usize {
        // An X window dump: a header of big-endian numbers, a list of colours of 12 bytes each, the rows.
        let dump = std::fs::read(self.frame.path().join("Xvfb_screen0")).expect("the server keeps it");
        let number = |index: usize| {
            let bytes = dump.get(index * 4..index * 4 + 4).and_then(|bytes| bytes.try_into().ok());
            u32::from_be_bytes(bytes.expect("a header")) as usize
        };
        let (row_bytes, start) = (number(12), number(0) + number(19) * 12);
        let rows = (MIDDLE_Y.0..MIDDLE_Y.1).map(|y| start + y * row_bytes);
        let rows = rows.map(|at| &dump[at + MIDDLE_X.0 * 4..at + MIDDLE_X.1 * 4]);
        let mut colours: Vec<&[u8]> = rows.flat_map(|row| row.chunks(4)).collect();
        colours.sort_unstable();
        colours.dedup();
        colours.len()
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
