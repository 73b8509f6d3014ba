//! A screen nobody looks at: Xvfb with a window manager and a session bus with an unlocked keyring, gone when dropped.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::keyring::Session;
use crate::support::program::Program;

/// The middle of the screen, from pixel to pixel: wherever a window of 960 by 640 stands, this is inside of it.
const MIDDLE_X: (usize, usize) = (330, 950);
const MIDDLE_Y: (usize, usize) = (210, 590);

/// A desktop of the tests.
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
    /// Starts one, 1280 by 800.
    #[must_use]
    pub fn new() -> Self {
        let mut session = Session::new();
        session.start_bus();
        session.start_unlocked();
        let frame = tempfile::Builder::new().prefix("ringonce-screen-").tempdir().expect("a scratch folder");
        let mut server = Command::new("Xvfb");
        server.arg("-fbdir").arg(frame.path());
        server.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]);
        let mut server =
            server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Xvfb starts");
        let mut number = String::new();
        // It writes the number once it listens.
        let stdout = server.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut number).expect("it says its number");
        let mut screen = Self { display: format!(":{}", number.trim()), frame, session, processes: vec![server] };
        screen.spawn("openbox", &[]);
        screen
    }

    /// Starts a program on it that ends with it.
    pub fn spawn(&mut self, program: &str, args: &[&str]) {
        let mut command = Command::new(program);
        command.args(args).envs(self.environment()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.processes.push(command.spawn().unwrap_or_else(|error| panic!("{program} does not start: {error}")));
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

    /// The program runs on it from its next start on, with its secrets in the keyring.
    pub fn take_in(&self, program: &mut Program) {
        program.use_keyring(&self.session.address());
        for (name, value) in self.environment() {
            program.env(name, value);
        }
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
