//! A real Dovecot from an empty folder: IMAP (plain, STARTTLS), IMAPS and LMTP on free loopback ports.
//!
//! It runs under a shell that waits for the end of our side of a pipe, and then ends it and removes its folder. So
//! it goes even when the test process is killed, or lives in a `static`.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support::imap_session::ImapSession;
use crate::support::tls::{Authority, Issued};
use crate::support::{lmtp, wait};

/// Users there are from the start: one that is added later is seen only after up to a second.
const USERS: u64 = 1000;
/// Ports may be taken between our choice and Dovecot's start.
const START_TRIES: u32 = 5;
/// Under load a start takes longer than the usual 0.2 s.
const START_LIMIT: Duration = Duration::from_secs(30);
/// After which a Dovecot that does not go is a failed test.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// Ends Dovecot when standard input ends: `stop` alone leaves sessions behind, so they are kicked first.
const KEEPER: &str = r#"dovecot -F -c "$1/dovecot.conf" & pid=$!
cat >/dev/null
doveadm -c "$1/dovecot.conf" kick '*' ; doveadm -c "$1/dovecot.conf" stop ; wait $pid
case "$1" in */ringonce-dovecot-*) rm -rf "$1" ;; esac"#;

/// Somebody with a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Login name, and the part of the address before `@localhost`.
    pub name: String,
    /// Password.
    pub password: String,
}

/// What may differ from the default.
#[derive(Default)]
pub struct Options {
    /// Names in the certificate; none: `localhost` and `127.0.0.1`.
    pub certificate_names: Vec<&'static str>,
    /// The certificate ran out.
    pub certificate_expired: bool,
    /// More lines at the end of the configuration.
    pub extra: String,
}

/// A running Dovecot.
pub struct Dovecot {
    /// Port of IMAP, plain with STARTTLS.
    pub imap_port: u16,
    /// Port of IMAP inside TLS.
    pub imaps_port: u16,
    /// Port of LMTP.
    pub lmtp_port: u16,
    /// SHA-256 of its certificate, as `--pin` takes it.
    pub certificate_sha256: String,
    dir: PathBuf,
    owner: Owner,
    next_user: AtomicU64,
    next_file: AtomicU64,
    keeper: Child,
    pipe: Option<ChildStdin>,
}

/// Whose files mails are.
#[derive(Clone, Copy)]
struct Owner {
    uid: u32,
    gid: u32,
}

/// Accounts of Dovecot's own processes.
struct Accounts {
    service: String,
    group: String,
    login: String,
}

impl Dovecot {
    /// One of its own for this test.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&Options::default())
    }

    /// The one that tests share which need no more than a user of their own.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Dovecot> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// One of its own that differs in something.
    #[must_use]
    pub fn start_with(options: &Options) -> Self {
        let authority = Authority::new();
        let names: &[&str] = match options.certificate_names.as_slice() {
            [] => &["localhost", "127.0.0.1"],
            names => names,
        };
        let issued = if options.certificate_expired { authority.issue_expired(names) } else { authority.issue(names) };
        let mut log = String::new();
        for _ in 0..START_TRIES {
            match Self::try_start(options, &authority, &issued) {
                Ok(dovecot) => return dovecot,
                Err(said) => log = said,
            }
        }
        panic!("Dovecot does not start (is dovecot-imapd installed? `cargo xtask setup` does it). Its log:\n{log}");
    }

    fn try_start(options: &Options, authority: &Authority, issued: &Issued) -> Result<Self, String> {
        let dir = tempfile::Builder::new().prefix("ringonce-dovecot-").tempdir().expect("a scratch folder").keep();
        // Another account than ours reads in it.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("our folder");
        authority.write_pem(&dir.join("ca.pem"));
        fs::write(dir.join("cert.pem"), &issued.chain_pem).expect("the certificate is written");
        fs::write(dir.join("key.pem"), &issued.key_pem).expect("the key is written");
        let users: String = (0..USERS).map(user).map(|one| format!("{}:{}::::::\n", one.name, one.password)).collect();
        fs::write(dir.join("users"), users).expect("the users are written");
        let (owner, accounts) = owner(&dir);
        let mail = dir.join("mail");
        fs::create_dir(&mail).expect("the mail folder");
        chown(&mail, Some(owner.uid), Some(owner.gid)).expect("the mail folder is given away");

        fs::create_dir(dir.join("state")).expect("the state folder");
        fs::set_permissions(dir.join("state"), fs::Permissions::from_mode(0o755)).expect("our folder");
        // See dovecot.conf.
        let penalty = dir.join("state/anvil-auth-penalty");
        symlink(&penalty, &penalty).expect("a link to itself");

        let [imap_port, imaps_port, lmtp_port] = [wait::free_port(), wait::free_port(), wait::free_port()];
        let config = include_str!("dovecot.conf")
            .replace("@EXTRA@", &options.extra)
            .replace("@DIR@", dir.to_str().expect("a scratch folder of plain characters"))
            .replace("@SERVICE_USER@", &accounts.service)
            .replace("@SERVICE_GROUP@", &accounts.group)
            .replace("@LOGIN_USER@", &accounts.login)
            .replace("@MAIL_UID@", &owner.uid.to_string())
            .replace("@MAIL_GID@", &owner.gid.to_string())
            .replace("@IMAPS@", &imaps_port.to_string())
            .replace("@IMAP@", &imap_port.to_string())
            .replace("@LMTP@", &lmtp_port.to_string());
        fs::write(dir.join("dovecot.conf"), config).expect("the configuration is written");

        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&dir)
            .env("PATH", path_with_sbin())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::from(fs::File::create(dir.join("stderr")).expect("a file for its errors")))
            // Ctrl-C ends the tests, and then the pipe ends Dovecot.
            .process_group(0)
            .spawn()
            .expect("sh runs");
        let pipe = keeper.stdin.take();
        let dovecot = Self {
            imap_port,
            imaps_port,
            lmtp_port,
            certificate_sha256: issued.sha256.clone(),
            dir,
            owner,
            next_user: AtomicU64::new(0),
            next_file: AtomicU64::new(0),
            keeper,
            pipe,
        };
        if dovecot.answers() { Ok(dovecot) } else { Err(dovecot.log()) }
    }

    /// Waits for its greeting on every port; `false` where it failed or the limit passed.
    fn answers(&self) -> bool {
        let alive = |port| {
            let mut byte = [0];
            TcpStream::connect(("127.0.0.1", port)).is_ok_and(|mut stream| {
                stream.set_read_timeout(Some(START_LIMIT)).is_ok() && stream.read(&mut byte).is_ok_and(|n| n == 1)
            })
        };
        wait::find(START_LIMIT, || {
            if self.log().contains("Fatal: ") || self.log().contains("bind(") {
                return Some(false);
            }
            (alive(self.imap_port) && alive(self.lmtp_port)).then_some(true)
        }) == Some(true)
    }

    /// A user nobody else in this test run uses.
    ///
    /// # Panics
    /// They are used up.
    pub fn fresh_user(&self) -> User {
        let number = self.next_user.fetch_add(1, Ordering::Relaxed);
        assert!(number < USERS, "Each Dovecot has {USERS} users: start another one");
        user(number)
    }

    /// The authority's certificate, as `--ca-file` takes it.
    #[must_use]
    pub fn ca_file(&self) -> PathBuf {
        self.dir.join("ca.pem")
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        let read = |name| fs::read_to_string(self.dir.join(name)).unwrap_or_default();
        format!("{}{}", read("stderr"), read("dovecot.log"))
    }

    /// A logged-in session without TLS.
    pub fn session(&self, user: &User) -> ImapSession {
        let mut session = ImapSession::connect(self.imap_port);
        session.login(user);
        session
    }

    /// Delivers to INBOX by LMTP, as a mail server would. The header gains `Return-Path`, `Delivered-To` and `Received`.
    pub fn deliver(&self, user: &User, mail: &[u8]) {
        lmtp::deliver(self.lmtp_port, &user.name, mail).expect("the mail is delivered");
    }

    /// Puts a mail into a folder unchanged, by a rename into `new/`: the quickest way there is. INBOX is `INBOX`.
    pub fn put(&self, user: &User, folder: &str, mail: &[u8]) {
        self.put_by(user, folder, |file| fs::write(file, mail).expect("the mail is written"));
    }

    /// Puts a file's mail into a folder unchanged, without holding it in memory.
    pub fn put_file(&self, user: &User, folder: &str, mail: &Path) {
        self.put_by(user, folder, |file| {
            fs::copy(mail, file).expect("the mail is copied");
        });
    }

    fn put_by(&self, user: &User, folder: &str, write: impl FnOnce(&Path)) {
        let maildir = self.maildir(user, folder);
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}.{}_{number}.test", jiff::Timestamp::now().as_second(), std::process::id());
        let temporary = maildir.join("tmp").join(&name);
        write(&temporary);
        self.give(&temporary);
        fs::rename(&temporary, maildir.join("new").join(&name)).expect("the mail is put in place");
    }

    /// Puts a mail into a folder by `doveadm save`: it is there, with its UID, when this returns.
    pub fn save(&self, user: &User, folder: &str, mail: &[u8]) {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        let file = self.dir.join(format!("save-{number}.eml"));
        fs::write(&file, mail).expect("the mail is written");
        self.give(&file);
        self.doveadm(&["save", "-u", &user.name, "-m", folder, file.to_str().expect("a plain path")]);
        fs::remove_file(&file).expect("our file is removed");
    }

    /// Runs `doveadm` and returns what it printed.
    ///
    /// # Panics
    /// It fails.
    #[track_caller]
    pub fn doveadm(&self, args: &[&str]) -> String {
        let output = self.try_doveadm(args);
        assert!(output.status.success(), "doveadm {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs `doveadm`, whatever comes of it.
    pub fn try_doveadm(&self, args: &[&str]) -> Output {
        Command::new("doveadm")
            .arg("-c")
            .arg(self.dir.join("dovecot.conf"))
            .args(args)
            .env("PATH", path_with_sbin())
            .stdin(Stdio::null())
            .output()
            .expect("doveadm runs")
    }

    /// Throws out every session of the user (BYE and end of line). Nobody there is fine.
    pub fn kick(&self, user: &User) {
        self.try_doveadm(&["kick", &user.name]);
    }

    /// Sessions of the user now.
    pub fn sessions(&self, user: &User) -> usize {
        self.doveadm(&["who", "-1", &user.name]).lines().filter(|line| line.starts_with(&user.name)).count()
    }

    /// Gives a folder another UIDVALIDITY, as a rebuilt server does. An open session hears nothing of it.
    pub fn set_uid_validity(&self, user: &User, folder: &str, value: u32) {
        self.doveadm(&["mailbox", "update", "-u", &user.name, "--uid-validity", &value.to_string(), folder]);
    }

    /// Stops it and waits until it is gone. Dropping does the same.
    pub fn stop(self) {
        drop(self);
    }

    /// The user's folder on disk, made where it is not there yet.
    fn maildir(&self, user: &User, folder: &str) -> PathBuf {
        let root = self.dir.join("mail").join(&user.name).join("Maildir");
        let folder = if folder == "INBOX" { root.clone() } else { root.join(format!(".{}", folder.replace('/', "."))) };
        for made in [&self.dir.join("mail").join(&user.name), &root, &folder] {
            self.make_dir(made);
        }
        for part in ["tmp", "new", "cur"] {
            self.make_dir(&folder.join(part));
        }
        folder
    }

    fn make_dir(&self, dir: &Path) {
        match fs::create_dir(dir) {
            Ok(()) => self.give(dir),
            Err(error) => assert!(dir.is_dir(), "{}: {error}", dir.display()),
        }
    }

    fn give(&self, path: &Path) {
        chown(path, Some(self.owner.uid), Some(self.owner.gid)).expect("the file is given to the mail account");
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("Log of Dovecot:\n{}", self.log());
        }
        drop(self.pipe.take());
        if wait::exit(&mut self.keeper, STOP_LIMIT).is_none() && !std::thread::panicking() {
            panic!("Dovecot did not end within {STOP_LIMIT:?}");
        }
    }
}

fn user(number: u64) -> User {
    User { name: format!("user{number}"), password: format!("pass word {number} \"ü\\") }
}

/// Who owns the mails, and the accounts Dovecot runs its services under. Root may not own mails, and only root may
/// choose others.
fn owner(ours: &Path) -> (Owner, Accounts) {
    let metadata = fs::metadata(ours).expect("our own folder");
    if metadata.uid() == 0 {
        let [uid, gid] = [2, 3].map(|field| entry("/etc/passwd", 0, "mail")[field].parse().expect("a number"));
        let [service, group, login] = ["dovecot", "dovecot", "dovenull"].map(str::to_owned);
        return (Owner { uid, gid }, Accounts { service, group, login });
    }
    let me = entry("/etc/passwd", 2, &metadata.uid().to_string())[0].clone();
    let group = entry("/etc/group", 2, &metadata.gid().to_string())[0].clone();
    (Owner { uid: metadata.uid(), gid: metadata.gid() }, Accounts { service: me.clone(), group, login: me })
}

/// The line of an account list whose `field` is `value`.
fn entry(file: &str, field: usize, value: &str) -> Vec<String> {
    let text = fs::read_to_string(file).expect("the list of accounts");
    let mut lines = text.lines().map(|line| line.split(':').map(str::to_owned).collect::<Vec<_>>());
    lines.find(|fields| fields[field] == value).unwrap_or_else(|| panic!("{file} has no {value}"))
}

/// Servers live in `sbin`, which other accounts than root do not search.
fn path_with_sbin() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/sbin:/sbin");
    path
}
