//! A session bus of its own with a real gnome-keyring on it, gone when dropped.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::wait::{self, secs};

const PASSWORD: &str = "of the keyring";
/// What asks the owner for it.
const DIALOG: &str = "org.gnome.keyring.SystemPrompter";

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
        bus.args(["--nofork", "--nopidfile", "--config-file"]).arg(self.configuration()).stderr(log);
        self.bus = Some(self.spawn(&mut bus));
        wait::until("the bus listens", secs(10), || Path::exists(&self.socket()));
    }

    /// The bus starts nothing by itself but the dialog for a password, which cannot be shown: no keyring of which the
    /// test knows nothing.
    fn configuration(&self) -> PathBuf {
        let (file, services) = (self.dir.path().join("bus.conf"), self.dir.path().join("services"));
        std::fs::create_dir_all(&services).expect("a folder of our own");
        let dialog = format!("[D-BUS Service]\nName={DIALOG}\nExec=/bin/false\n");
        std::fs::write(services.join(format!("{DIALOG}.service")), dialog).expect("a file of our own");
        let rules = r#"<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>"#;
        let xml = format!(
            "<busconfig><type>session</type><listen>{}</listen><auth>EXTERNAL</auth><servicedir>{}</servicedir>\
             <policy context=\"default\">{rules}</policy></busconfig>",
            self.address(),
            services.display(),
        );
        std::fs::write(&file, xml).expect("a file of our own");
        file
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
            command.args(["--foreground", "--components=secrets"]).args(args).stderr(Stdio::null());
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
        log.lines().filter(|line| line.contains(&format!("Activating service name='{DIALOG}'"))).count()
    }

    /// Ends the bus, and the keyring with it.
    pub fn stop_bus(&mut self) {
        self.stop_keyring();
        end(&mut self.bus);
        std::fs::remove_file(self.socket()).expect("it was there");
    }

    /// What the keyring says to the question whether it is locked.
    fn locked(&self) -> String {
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
