//! Where secrets are kept: a real keyring in a session of its own, and a file.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::support::program::{Program, binary};
use crate::support::wait;

const LIMIT: Duration = Duration::from_secs(20);
const PASSWORD: &str = "correct horse";

/// A session bus with a keyring on it, gone with the test.
struct Session {
    program: Program,
    bus: Child,
    keyring: Option<Child>,
}

impl Session {
    /// A session bus; nobody answers for secrets on it.
    fn without_keyring() -> Self {
        let mut program = Program::new();
        let mut bus = Command::new("dbus-daemon");
        // Without a configuration of services nobody starts a keyring behind our back.
        let config = program.scratch().join("bus.conf");
        let listen = format!("unix:dir={}", program.scratch().display());
        let rules = r#"<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>"#;
        let policy = format!(r#"<policy context="default">{rules}</policy>"#);
        let xml = format!(
            "<busconfig><type>session</type><listen>{listen}</listen><auth>EXTERNAL</auth>{policy}</busconfig>"
        );
        fs::write(&config, xml).unwrap();
        let config = format!("--config-file={}", config.display());
        bus.args([config.as_str(), "--nofork", "--print-address=1"]).envs(program.environment());
        let mut bus = bus.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a session bus");
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        program.env("DBUS_SESSION_BUS_ADDRESS", address.trim());
        Self { program, bus, keyring: None }
    }

    /// The same with an unlocked keyring.
    fn new() -> Self {
        let mut session = Self::without_keyring();
        let mut keyring = Command::new("gnome-keyring-daemon");
        keyring.args(["--foreground", "--unlock", "--components=secrets"]).envs(session.program.environment());
        let mut keyring =
            keyring.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a keyring");
        keyring.stdin.take().unwrap().write_all(b"secret of the keyring").unwrap();
        session.keyring = Some(keyring);
        let owned = || {
            let asked = session.bus_call(
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus",
                "org.freedesktop.DBus.NameHasOwner",
                "string:org.freedesktop.secrets",
            );
            String::from_utf8_lossy(&asked.stdout).contains("true")
        };
        wait::until("the keyring answers", LIMIT, owned);
        session
    }

    fn bus_call(&self, path: &str, to: &str, method: &str, argument: &str) -> Output {
        let to = format!("--dest={to}");
        let mut call = Command::new("dbus-send");
        call.args(["--session", "--print-reply", &to, path, method, argument]).envs(self.program.environment());
        call.output().expect("dbus-send runs")
    }

    fn lock(&self) {
        let login = "array:objpath:/org/freedesktop/secrets/collection/login";
        let locked = self.bus_call(
            "/org/freedesktop/secrets",
            "org.freedesktop.secrets",
            "org.freedesktop.Secret.Service.Lock",
            login,
        );
        assert!(locked.status.success(), "{locked:?}");
    }

    /// Runs a command that keeps its secrets where the owner did not say: in the keyring.
    fn run(&self, args: &[&str], stdin: &str) -> Output {
        let mut command = Command::new(binary());
        command.arg("--data-dir").arg(self.program.data_dir()).args(args);
        command
            .env_clear()
            .envs(self.program.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses before it reads closes the pipe.
        drop(child.stdin.take().unwrap().write_all(stdin.as_bytes()));
        child.wait_with_output().unwrap()
    }

    fn add_mailbox(&self) -> Output {
        let args = ["mailbox", "add", "--email", "a@b.c", "--host", "localhost", "--password-stdin", "--no-test"];
        self.run(&args, &format!("{PASSWORD}\n"))
    }

    fn stderr(output: &Output) -> String {
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for child in [Some(&mut self.bus), self.keyring.as_mut()].into_iter().flatten() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

#[test]
fn the_keyring_keeps_what_the_owner_gave() {
    let session = Session::new();
    let added = session.add_mailbox();
    assert!(added.status.success(), "{added:?}");
    let found = session.run(&["mailbox", "test", "a@b.c"], "");
    let why = Session::stderr(&found);
    assert!(!why.contains("keyring") && !why.contains("password is missing"), "it was read from the keyring: {why}");
    for file in fs::read_dir(session.program.data_dir()).unwrap() {
        let path = file.unwrap().path();
        let holds = fs::read(&path).unwrap_or_default().windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
        assert!(!holds, "{} holds the password", path.display());
    }
    let other = session.run(&["--secrets", "file:elsewhere", "mailbox", "list"], "");
    assert!(Session::stderr(&other).contains("already keeps its secrets in keyring"), "{other:?}");
    let same = session.run(&["--secrets", "keyring", "mailbox", "list"], "");
    assert!(same.status.success(), "{same:?}");

    session.lock();
    let locked = session.run(&["mailbox", "test", "a@b.c"], "");
    assert_eq!(locked.status.code(), Some(1), "{locked:?}");
    assert!(Session::stderr(&locked).contains("the keyring is locked"), "{locked:?}");
    let removed = session.run(&["mailbox", "remove", "a@b.c"], "");
    assert_eq!(removed.status.code(), Some(1), "a mailbox stays while its password cannot be removed: {removed:?}");
    let list = session.run(&["mailbox", "list"], "");
    assert!(String::from_utf8_lossy(&list.stdout).contains("a@b.c"), "looking needs no secrets: {list:?}");
}

#[test]
fn without_a_keyring_the_owner_is_shown_the_file() {
    let session = Session::without_keyring();
    let refused = session.add_mailbox();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let why = Session::stderr(&refused);
    assert!(why.contains("no keyring answers") && why.contains("--secrets file:PATH"), "{why}");
    assert_eq!(why.lines().count(), 1, "{why}");
    let list = session.run(&["mailbox", "list", "--json"], "");
    assert_eq!(String::from_utf8_lossy(&list.stdout).trim(), "[]", "nothing was added");
    let url = "url=http://127.0.0.1:9/hook";
    for args in [
        &["destination", "add", "webhook", "--name", "n", "--set", url, "--no-test"][..],
        &["destination", "set", "n", "--privacy", "none", "--no-test"],
        &["destination", "remove", "n"],
    ] {
        let done = session.run(args, "");
        assert!(done.status.success(), "what needs no secret needs no keyring: {done:?}");
    }
    // Nothing was kept in the keyring, so the choice is still free.
    let file = session
        .program
        .ok(&["mailbox", "add", "--email", "a@b.c", "--host", "localhost", "--password-stdin", "--no-test"], "pw\n");
    assert!(!file.id().is_empty());
    let secrets = fs::read_to_string(session.program.secrets_file()).unwrap();
    assert!(secrets.contains("\"pw\""), "{secrets}");
}

#[test]
fn a_file_others_may_read_is_refused_and_the_choice_stands() {
    let program = Program::new();
    let add = ["mailbox", "add", "--email", "a@b.c", "--host", "localhost", "--password-stdin", "--no-test"];
    program.ok(&add, "pw\n");
    fs::set_permissions(program.secrets_file(), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = program.run(&add, "pw\n");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(refused.stderr.contains("mode 0644") && refused.stderr.contains("chmod 600"), "{refused:?}");
    fs::set_permissions(program.secrets_file(), fs::Permissions::from_mode(0o600)).unwrap();
    let mut running = program.start_headless();
    let other = ["--data-dir", program.data_dir().to_str().unwrap(), "--secrets", "keyring", "status"];
    let other = Command::new(binary()).args(other).envs(program.environment()).output().unwrap();
    assert!(Session::stderr(&other).contains("already keeps its secrets in file:"), "over the socket too: {other:?}");
    assert!(running.stop().success());
}
