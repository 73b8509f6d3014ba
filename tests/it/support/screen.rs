//! A screen nobody looks at: Xvfb with a window manager and a session bus with an unlocked keyring, gone when dropped.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::keyring::Session;
use crate::support::program::Program;

/// A desktop of the tests.
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
    /// Starts one, 1280 by 800.
    #[must_use]
    pub fn new() -> Self {
        let mut session = Session::new();
        session.start_bus();
        session.start_unlocked();
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]);
        let mut server =
            server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Xvfb starts");
        let mut number = String::new();
        // It writes the number once it listens.
        let stdout = server.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut number).expect("it says its number");
        let mut screen = Self { display: format!(":{}", number.trim()), session, processes: vec![server] };
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
