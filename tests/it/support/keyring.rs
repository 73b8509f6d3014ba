//! A session bus of its own with a real gnome-keyring on it, gone when dropped.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::wait::{self, secs};

const PASSWORD: &str = "of the keyring";

/// A session bus at a place that is known before it runs.
pub struct Session {
    dir: tempfile::TempDir,
    bus: Option<Child>,
    keyring: Option<Child>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A place for one; nothing runs yet.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("ringonce-bus-").tempdir().expect("a scratch folder");
        for folder in ["home", "run"] {
            std::fs::create_dir(dir.path().join(folder)).expect("a folder of our own");
        }
        Self { dir, bus: None, keyring: None }
    }

    /// Where the bus is, or will be.
    #[must_use]
    pub fn address(&self) -> String {
        format!("unix:path={}", self.socket().display())
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("bus")
    }

    /// Starts the bus.
    pub fn start_bus(&mut self) {
        let log = std::fs::File::create(self.log_file()).expect("a file of our own");
        let mut bus = Command::new("dbus-daemon");
        bus.args(["--session", "--nofork", "--nopidfile", "--address", &self.address()]).stderr(log);
        self.bus = Some(self.spawn(&mut bus));
        // Its socket is there a moment before it listens.
        wait::until("the bus listens", secs(10), || UnixStream::connect(self.socket()).is_ok());
    }

    /// Starts a locked keyring, in place of one that runs.
    pub fn start_locked(&mut self) {
        self.start_keyring(&[], "");
    }

    /// Starts an unlocked keyring, in place of one that runs.
    pub fn start_unlocked(&mut self) {
        self.start_keyring(&["--unlock"], PASSWORD);
    }

    /// Some starts come to nothing: the daemon does not always take the password it is given. Then another is made.
    fn start_keyring(&mut self, args: &[&str], password: &str) {
        let ready = if args.is_empty() { "boolean true" } else { "boolean false" };
        for _ in 0..5 {
            self.stop_keyring();
            let mut command = Command::new("gnome-keyring-daemon");
            // The bus starts one of its own, locked, for whoever asks while none runs: ours takes its place.
            command.args(["--foreground", "--replace", "--components=secrets"]).args(args).stderr(Stdio::null());
            let mut child = self.spawn(command.stdin(Stdio::piped()));
            child.stdin.take().expect("a pipe").write_all(password.as_bytes()).expect("it reads");
            self.keyring = Some(child);
            if wait::find(secs(3), || self.locked().contains(ready).then_some(())).is_some() {
                return;
            }
        }
        panic!("The keyring does not say `locked: {ready}`, but {:?}", self.locked());
    }

    /// Ends the keyring.
    pub fn stop_keyring(&mut self) {
        end(&mut self.keyring);
    }

    /// Sends the keyring a signal: `STOP` makes one that does not answer.
    pub fn signal_keyring(&self, name: &str) {
        let pid = self.keyring.as_ref().expect("it runs").id();
        let sent = Command::new("sh").args(["-c", &format!("kill -s {name} {pid}")]).status().expect("kill runs");
        assert!(sent.success(), "kill -s {name} {pid}");
    }

    /// How often somebody was to be asked for the password of the keyring. There is no screen, so it came to nothing.
    #[must_use]
    pub fn dialogs(&self) -> usize {
        let log = std::fs::read_to_string(self.log_file()).expect("the bus logs");
        log.lines().filter(|line| line.contains("Activating service name='org.gnome.keyring.SystemPrompter'")).count()
    }

    /// Ends the bus, and the keyring with it.
    pub fn stop_bus(&mut self) {
        self.stop_keyring();
        end(&mut self.bus);
        std::fs::remove_file(self.socket()).expect("it was there");
    }

    /// What the keyring says to the question whether it is locked; nothing, where none runs. It is not asked then: the
    /// bus would start one.
    fn locked(&self) -> String {
        let mut runs = Command::new("dbus-send");
        runs.args(["--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus"]);
        runs.args(["org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"]);
        let said = self.of_session(&mut runs).output().expect("dbus-send runs");
        if !String::from_utf8_lossy(&said.stdout).contains("boolean true") {
            return String::new();
        }
        let mut ask = Command::new("dbus-send");
        ask.args(["--session", "--print-reply", "--dest=org.freedesktop.secrets"]);
        ask.args(["/org/freedesktop/secrets/collection/login", "org.freedesktop.DBus.Properties.Get"]);
        ask.args(["string:org.freedesktop.Secret.Collection", "string:Locked"]);
        let said = self.of_session(&mut ask).output().expect("dbus-send runs");
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    fn log_file(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn of_session<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C")
            .env("HOME", self.dir.path().join("home"))
            .env("XDG_RUNTIME_DIR", self.dir.path().join("run"))
            .env("DBUS_SESSION_BUS_ADDRESS", self.address())
    }

    fn spawn(&self, command: &mut Command) -> Child {
        self.of_session(command).stdout(Stdio::null()).spawn().expect("it starts: see `cargo xtask setup`")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        end(&mut self.keyring);
        end(&mut self.bus);
    }
}

fn end(child: &mut Option<Child>) {
    if let Some(mut child) = child.take() {
        // Errors are of no use here: the process is gone either way.
        drop(child.kill());
        drop(child.wait());
    }
}
