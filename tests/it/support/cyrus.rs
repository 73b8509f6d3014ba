//! A real Cyrus IMAP from an empty folder, on a free loopback port. Its `imapd` cannot be installed beside Dovecot's,
//! so `cargo xtask setup` unpacks it into the target folder.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::support::dovecot::User;
use crate::support::imap_session::ImapSession;
use crate::support::program;
use crate::support::wait::{self, secs};

/// Where Debian has Cyrus's other programs.
const PROGRAMS: &str = "/usr/lib/cyrus/bin";

/// Ends it when standard input ends, as Dovecot's keeper does.
const KEEPER: &str = r#"setpriv --reuid cyrus --regid mail --init-groups /usr/lib/cyrus/bin/master \
-C "$1/imapd.conf" -M "$1/cyrus.conf" -p "$1/master.pid" & pid=$!
cat >/dev/null
kill $pid ; wait $pid"#;

/// A running Cyrus with one user.
pub struct Cyrus {
    /// Its port, plain.
    pub port: u16,
    /// Who has a mailbox.
    pub user: User,
    dir: tempfile::TempDir,
    running: Option<(Child, ChildStdin)>,
}

impl Cyrus {
    /// One that takes so many sessions of a user, or why there can be none.
    ///
    /// # Errors
    /// Words for what is missing.
    pub fn start(sessions: usize) -> Result<Self, String> {
        let imapd = program::target_folder().join("test-servers/cyrus-imapd/usr/lib/cyrus/bin");
        if fs::metadata("/proc/self").map_or(0, |us| us.uid()) != 0 {
            return Err("Cyrus starts as another account, and only root may choose that".to_owned());
        }
        if !Path::new(PROGRAMS).join("master").exists() || !imapd.join("imapd").exists() {
            return Err("Cyrus is not there: `cargo xtask setup` brings it where apt is".to_owned());
        }
        let dir = tempfile::Builder::new().prefix("ringonce-cyrus-").tempdir().expect("a scratch folder");
        let at = dir.path().to_str().expect("a plain path").to_owned();
        let port = wait::free_port();
        for folder in ["conf", "conf/socket", "conf/db", "conf/log", "conf/proc", "conf/msg", "spool"] {
            fs::create_dir(dir.path().join(folder)).expect("a folder of our own");
        }
        let fill = |text: &str| {
            text.replace("@DIR@", &at)
                .replace("@PORT@", &port.to_string())
                .replace("@IMAPD@", imapd.to_str().expect("a plain path"))
                .replace("@SESSIONS@", &sessions.to_string())
        };
        fs::write(dir.path().join("imapd.conf"), fill(include_str!("cyrus-imapd.conf"))).expect("it is written");
        fs::write(dir.path().join("cyrus.conf"), fill(include_str!("cyrus.conf"))).expect("it is written");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("our folder");
        let user = User { name: "ada".to_owned(), password: "secret1".to_owned() };
        let add =
            "printf %s \"$2\" | saslpasswd2 -c -p -f \"$1/sasldb2\" -u localhost \"$3\" && chown -R cyrus:mail \"$1\"";
        let mut command = Command::new("sh");
        command.args(["-c", add, "add", &at, &user.password, &user.name]).env("PATH", path());
        let added = run_quietly(&mut command);
        if !added {
            return Err("saslpasswd2 does not work here".to_owned());
        }
        let mut cyrus = Self { port, user, dir, running: None };
        cyrus.launch();
        Ok(cyrus)
    }

    /// Stops it and starts it again on the same port and mails.
    pub fn restart(&mut self) {
        self.end();
        self.launch();
    }

    /// A logged-in session.
    #[must_use]
    pub fn session(&self) -> ImapSession {
        let mut session = ImapSession::connect(self.port);
        session.login(&self.user);
        session
    }

    fn launch(&mut self) {
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(self.dir.path())
            .env("PATH", path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh runs");
        let pipe = keeper.stdin.take().expect("a pipe");
        self.running = Some((keeper, pipe));
        wait::until("Cyrus answers", secs(30), || std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    fn end(&mut self) {
        if let Some((mut keeper, pipe)) = self.running.take() {
            drop(pipe);
            let ended = wait::exit(&mut keeper, secs(20)).is_some();
            assert!(ended || std::thread::panicking(), "Cyrus did not end");
        }
    }
}

impl Drop for Cyrus {
    fn drop(&mut self) {
        self.end();
    }
}

fn run_quietly(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

/// The program of a Python package that `cargo xtask setup` installed for the tests.
#[must_use]
pub fn python_program(name: &str) -> Option<PathBuf> {
    let found = program::target_folder().join("test-servers/python/bin").join(name);
    found.exists().then_some(found)
}
