//! The program `ringonce`, run as an owner runs it: by its command line, on a data folder of its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::support::db::Db;
use crate::support::printed::{Lines, collect};
use crate::support::wait;

/// After which a command hangs.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// After which a start hangs. A machine under load is slow, a program that never says `ready` is broken.
const READY_LIMIT: Duration = Duration::from_secs(60);
/// After which a polite stop hangs: the longest call in hand (30 s) and some.
const STOP_LIMIT: Duration = Duration::from_secs(45);

/// A data folder, and how the program is called on it.
pub struct Program {
    binary: PathBuf,
    data_dir: PathBuf,
    env: BTreeMap<OsString, OsString>,
    secrets: OsString,
    scratch: tempfile::TempDir,
}

/// What a command left.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The program, watching.
pub struct Running {
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

impl Default for Program {
    fn default() -> Self {
        Self::new()
    }
}

impl Program {
    /// On a new, empty data folder, with secrets in a file.
    #[must_use]
    pub fn new() -> Self {
        // The local socket lies in it, and the path of a socket is short (108 bytes).
        let scratch = tempfile::Builder::new().prefix("ringonce-test-").tempdir().expect("a scratch folder");
        let data_dir = scratch.path().join("data");
        Self::on(data_dir, scratch)
    }

    /// On a given data folder, a small disk for example. Its run folder and its secrets lie elsewhere.
    #[must_use]
    pub fn with_data_dir(data_dir: &Path) -> Self {
        let scratch = tempfile::Builder::new().prefix("ringonce-test-").tempdir().expect("a scratch folder");
        Self::on(data_dir.to_owned(), scratch)
    }

    fn on(data_dir: PathBuf, scratch: tempfile::TempDir) -> Self {
        let mut env = BTreeMap::new();
        for (name, folder) in [("XDG_RUNTIME_DIR", "run"), ("HOME", "home")] {
            let path = scratch.path().join(folder);
            fs::create_dir(&path).expect("a folder of our own");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("our own folder");
            env.insert(name.into(), path.into());
        }
        env.insert("PATH".into(), std::env::var_os("PATH").unwrap_or_default());
        env.insert("LC_ALL".into(), "C".into());
        env.insert("RINGONCE_LOG".into(), std::env::var_os("RINGONCE_LOG").unwrap_or_else(|| "debug".into()));
        env.insert("RUST_BACKTRACE".into(), "1".into());
        let mut secrets = OsString::from("file:");
        secrets.push(scratch.path().join("secrets"));
        Self { binary: binary(), data_dir, env, secrets, scratch }
    }

    /// Another program in its place: a release build, or a stand-in.
    pub fn use_binary(&mut self, binary: &Path) {
        binary.clone_into(&mut self.binary);
    }

    /// Sets a variable of its environment, from the next start on. Nothing else of ours is passed on but `PATH`.
    pub fn env(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.insert(name.into(), value.into());
    }

    /// From now on its secrets are in the keyring of this session bus.
    pub fn use_keyring(&mut self, bus_address: &str) {
        self.secrets = "keyring".into();
        self.env("DBUS_SESSION_BUS_ADDRESS", bus_address);
    }

    /// Takes a variable back.
    pub fn env_remove(&mut self, name: &str) {
        self.env.remove(&OsString::from(name));
    }

    /// From the next start on the process aborts at this point (`RINGONCE_CRASH_AT`); `None`: at none.
    pub fn crash_at(&mut self, point: Option<&str>) {
        match point {
            Some(point) => self.env("RINGONCE_CRASH_AT", point),
            None => self.env_remove("RINGONCE_CRASH_AT"),
        }
    }

    /// Its whole environment.
    pub fn environment(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.env.iter()
    }

    /// Its data folder.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// A folder for files of the test, gone with the program.
    #[must_use]
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The file that holds its secrets.
    #[must_use]
    pub fn secrets_file(&self) -> PathBuf {
        self.scratch.path().join("secrets")
    }

    /// Its database.
    #[must_use]
    pub fn db(&self) -> Db {
        Db::open(&self.data_dir)
    }

    /// Runs one command to its end.
    #[track_caller]
    pub fn run(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        let mut child = self.spawn(args);
        let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        let (stdout, stderr) = (collect(stdout), collect(stderr));
        let mut pipe = child.stdin.take().expect("a pipe");
        let stdin = stdin.as_ref().to_vec();
        // A command that does not read its input closes the pipe; that is its right.
        let writer = thread::spawn(move || drop(pipe.write_all(&stdin)));
        let status = wait::exit(&mut child, COMMAND_LIMIT);
        if status.is_none() {
            child.kill().expect("the process is ours");
        }
        let [stdout, stderr] = [stdout, stderr].map(|thread| thread.join().expect("the reader ends"));
        writer.join().expect("the writer ends");
        let status = status.unwrap_or_else(|| panic!("{args:?} hangs; it said:\n{stdout}\n{stderr}"));
        Output { status, stdout, stderr }
    }

    /// Runs one command that has to succeed.
    #[track_caller]
    pub fn ok(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        let output = self.run(args, stdin);
        assert!(output.status.success(), "{args:?} failed with {}:\n{}", output.status, output.stderr);
        output
    }

    /// Runs one command with `--json`; it has to succeed and to print one JSON value and nothing else.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        self.ok(&[args, &["--json"]].concat(), "").json()
    }

    /// Starts it without a display and waits for `ready`.
    #[track_caller]
    pub fn start_headless(&self) -> Running {
        let mut running = self.start(&["run", "--headless"]);
        running.wait_line("ready", READY_LIMIT);
        running
    }

    /// Starts it and returns at once; for a program that is to crash, or to be refused.
    #[track_caller]
    pub fn start(&self, args: &[&str]) -> Running {
        let mut child = self.spawn(args);
        drop(child.stdin.take());
        let stdout = Lines::of(child.stdout.take().expect("a pipe"));
        let stderr = Lines::of(child.stderr.take().expect("a pipe"));
        Running { child, stdout, stderr }
    }

    fn spawn(&self, args: &[&str]) -> Child {
        Command::new(&self.binary)
            .args([OsStr::new("--data-dir"), self.data_dir.as_os_str(), OsStr::new("--secrets"), &self.secrets])
            .args(args)
            .env_clear()
            .envs(&self.env)
            .current_dir(self.scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", self.binary.display()))
    }
}

impl Output {
    /// Standard output as JSON.
    #[track_caller]
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("Not JSON ({error}): {}", self.stdout))
    }

    /// The one word it printed: an id.
    #[must_use]
    pub fn id(&self) -> String {
        self.stdout.trim().to_owned()
    }
}

impl Running {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.stderr.all()
    }

    /// What it printed so far.
    #[must_use]
    pub fn printed(&self) -> String {
        self.stdout.all()
    }

    /// Waits until it has printed a line that begins so.
    #[track_caller]
    pub fn wait_line(&mut self, start: &str, limit: Duration) -> String {
        let look = || {
            let found = self.stdout.find(start);
            if found.is_none() && self.child.try_wait().expect("our process").is_some() {
                thread::sleep(Duration::from_millis(50));
                return Some(self.stdout.find(start));
            }
            found.map(Some)
        };
        let found = wait::find(limit, look).flatten();
        found.unwrap_or_else(|| {
            panic!("It did not print `{start}…`. Printed:\n{}\nLog:\n{}", self.printed(), self.log())
        })
    }

    /// Whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("our process").is_none()
    }

    /// Ends it as a power cut would, and waits until it is gone.
    pub fn kill9(&mut self) {
        self.child.kill().expect("the process is ours");
        let status = self.child.wait().expect("our process");
        assert!(status.signal().is_some(), "It had ended by itself before: {status}. Log:\n{}", self.log());
        self.finish();
    }

    /// Asks it to stop and waits until it is gone.
    #[track_caller]
    pub fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait_exit(STOP_LIMIT)
    }

    /// Waits for its own end: a crash point, a refusal.
    #[track_caller]
    pub fn wait_exit(&mut self, limit: Duration) -> ExitStatus {
        let status = wait::exit(&mut self.child, limit);
        let status = status.unwrap_or_else(|| panic!("It still runs after {limit:?}. Log:\n{}", self.log()));
        self.finish();
        status
    }

    /// Sends a signal: `STOP` and `CONT` make a laptop that slept.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -s {name} {}", self.pid());
        let sent = Command::new("sh").args(["-c", &kill]).status().expect("kill runs");
        assert!(sent.success(), "kill -s {name} failed: has the program ended? Log:\n{}", self.log());
    }

    /// Resident memory now, KiB.
    #[must_use]
    pub fn resident_kib(&self) -> u64 {
        self.status_kib("VmRSS:")
    }

    /// The most resident memory it ever had, KiB.
    #[must_use]
    pub fn resident_peak_kib(&self) -> u64 {
        self.status_kib("VmHWM:")
    }

    fn status_kib(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs, on Linux");
        let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("Linux tells it");
        line.trim().trim_end_matches(" kB").parse().expect("a number of KiB")
    }

    /// After its end: everything it printed is read.
    fn finish(&mut self) {
        self.stdout.finish();
        self.stderr.finish();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("Log of ringonce:\n{}", self.log());
        }
        if self.is_alive() {
            // Errors are of no use here: the process is gone either way.
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

/// The target folder this test was built into.
///
/// # Panics
/// It lies nowhere.
#[must_use]
pub fn target_folder() -> PathBuf {
    let us = std::env::current_exe().expect("we run");
    us.ancestors().nth(3).expect("tests lie in `target/<profile>/deps`").to_owned()
}

/// The program under test: `RINGONCE_BIN`, else the one in the target folder this test was built into.
///
/// # Panics
/// It was not built.
#[must_use]
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("RINGONCE_BIN") {
        return path.into();
    }
    let us = std::env::current_exe().expect("we run");
    // Tests lie in `target/<profile>/deps`, the bench in `target/<profile>`.
    let found = us.ancestors().skip(1).take(2).map(|dir| dir.join("ringonce")).find(|path| File::open(path).is_ok());
    found.expect(
        "The program is not built: run `cargo build -p ringonce --features crash-points`, or `cargo xtask test`",
    )
}
