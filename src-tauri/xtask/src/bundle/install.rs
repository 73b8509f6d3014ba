//! Installs the .deb on this machine, starts it from its entry in the menu, ends it, removes it, and looks for what is
//! left. Only root can, and only where Ringonce is not installed: elsewhere it says so.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::bundle::check::list;
use crate::bundle::output;
use crate::cargo::check as succeed;
use crate::setup::is_root;

const PACKAGE: &str = "ringonce";
const PROGRAM: &str = "/usr/bin/ringonce";
/// A machine under load is slow.
const LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
/// What may be left in the owner's home: the data, the entry of "start at login", and what others keep for every
/// program there is: WebKit, GStreamer, fonts, drivers, the desktop's settings.
const KEPT: [&str; 5] =
    [".local/share/ringonce/", ".config/autostart/ringonce.desktop", ".cache/", ".config/dconf/", ".config/ibus/"];

/// The package of which `unpacked` holds the files.
pub(super) fn check(package: &Path, unpacked: &Path) -> Result<(), Failure> {
    if !is_root() {
        println!("It was not installed here: that takes root");
        return Ok(());
    }
    if Path::new(PROGRAM).exists() || is_known() {
        println!("It was not installed here: Ringonce is installed already, and is left alone");
        return Ok(());
    }
    let new = absent(unpacked)?;
    let home = env::temp_dir().join(format!("ringonce-install-{}", std::process::id()));
    let installed = output(Command::new("dpkg").arg("--install").arg(package));
    let started = installed.and_then(|_| start(&home));
    let purged = output(Command::new("dpkg").args(["--purge", PACKAGE]));
    let left = started.and_then(|()| purged.map(drop)).and_then(|()| left(&new, &home));
    let removed = fs::remove_dir_all(&home);
    let left = left?;
    removed.map_err(|error| format!("{} cannot be removed: {error}", home.display()))?;
    if left.is_empty() {
        println!("It was installed, started from its entry, ended and removed; nothing is left but the owner's data");
        return Ok(());
    }
    Err(format!("After it was removed there is still:\n{}", left.join("\n")))
}

/// Whether dpkg knows it, removed or not.
fn is_known() -> bool {
    output(Command::new("dpkg-query").args(["--show", PACKAGE])).is_ok()
}

/// What the package brings and this machine has not, folders included.
fn absent(unpacked: &Path) -> Result<Vec<PathBuf>, Failure> {
    let all = output(Command::new("find").args([".", "-mindepth", "1", "-printf", "/%P\n"]).current_dir(unpacked))?;
    Ok(all.lines().map(PathBuf::from).filter(|path| !path.exists()).collect())
}

/// Starts it as a menu does, on a screen and a bus of its own; the owner closes the window and quits.
fn start(home: &Path) -> Result<(), Failure> {
    for folder in ["", "run"] {
        let made = fs::create_dir(home.join(folder))
            .and_then(|()| fs::set_permissions(home.join(folder), fs::Permissions::from_mode(0o700)));
        made.map_err(|error| format!("{} cannot be made: {error}", home.display()))?;
    }
    let mut xvfb = Command::new("Xvfb");
    xvfb.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]);
    let (_screen, display) = Server::start(&mut xvfb)?;
    let mut bus = of(home, "dbus-daemon");
    bus.args(["--session", "--nofork", "--nopidfile", "--print-address=1"]);
    let (_bus, address) = Server::start(bus.env("DISPLAY", format!(":{display}")))?;
    let on_screen = |program: &str| {
        let mut command = of(home, program);
        command.env("DISPLAY", format!(":{display}")).env("DBUS_SESSION_BUS_ADDRESS", &address);
        command
    };
    // What it starts keeps its outputs: nobody waits for their end.
    let mut launch = on_screen("gtk-launch");
    succeed(launch.arg("ringonce").stdout(Stdio::null()).stderr(Stdio::null()), "gtk-launch ringonce")?;
    let shown = || output(on_screen("xdotool").args(["search", "--onlyvisible", "--class", "^ringonce-app$"])).ok();
    let opened = wait("a window appears", || shown().is_some_and(|ids| !ids.trim().is_empty()));
    let said = opened.and_then(|()| output(on_screen(PROGRAM).args(["status", "--json"])));
    let entry = home.join(".config/autostart/ringonce.desktop");
    let login = said.and_then(|said| {
        if !said.contains("\"running\": true") && !said.contains("\"running\":true") {
            return Err(format!("The program that watches does not run: {said}"));
        }
        wait("it is started at login", || entry.exists())
    });
    end()?;
    login?;
    let text = fs::read_to_string(&entry).map_err(|error| format!("{}: {error}", entry.display()))?;
    let tried = text.lines().any(|line| line.strip_prefix("TryExec=") == Some(PROGRAM));
    if tried { Ok(()) } else { Err(format!("Without {PROGRAM} a desktop would still try to start it:\n{text}")) }
}

/// A command with nothing of our environment, at home in a folder.
fn of(home: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
    command.env("HOME", home).env("XDG_RUNTIME_DIR", home.join("run")).stdin(Stdio::null());
    command
}

/// Asks every process of the package to end, and waits for that. The window ends with the program that watches.
fn end() -> Result<(), Failure> {
    for pid in running(PROGRAM) {
        output(Command::new("sh").args(["-c", &format!("kill -s TERM {pid}")]))?;
    }
    wait("it ends", || running(PROGRAM).is_empty())?;
    wait("its window ends", || running("/usr/bin/ringonce-app").is_empty())
}

/// Processes of a program that was not there before.
fn running(program: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = processes
        .filter(|process| fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe == Path::new(program)));
    ours.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

/// What the package brought and left, and what is in the owner's home besides the data.
fn left(new: &[PathBuf], home: &Path) -> Result<Vec<String>, Failure> {
    let mut left: Vec<String> =
        new.iter().filter(|path| path.exists()).map(|path| path.display().to_string()).collect();
    if is_known() {
        left.push("an entry in dpkg's list".to_owned());
    }
    let at_home = list(home)?.into_iter().filter(|file| !file.starts_with("run/"));
    left.extend(at_home.filter(|file| !KEPT.iter().any(|kept| file.starts_with(kept))).map(|file| format!("~/{file}")));
    Ok(left)
}

fn wait(what: &str, done: impl Fn() -> bool) -> Result<(), Failure> {
    let until = Instant::now() + LIMIT;
    while !done() {
        if Instant::now() > until {
            return Err(format!("Waited {LIMIT:?} in vain until {what}"));
        }
        sleep(POLL);
    }
    Ok(())
}

/// A process that ends with us.
struct Server(Child);

impl Server {
    /// With the line it prints when it is ready.
    fn start(command: &mut Command) -> Result<(Self, String), Failure> {
        let name = command.get_program().to_string_lossy().into_owned();
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = Self(started.map_err(|error| format!("{name} does not start: {error}"))?);
        let mut line = String::new();
        let read = server.0.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut line));
        match read {
            Some(Ok(length)) if length > 0 => Ok((server, line.trim().to_owned())),
            _ => Err(format!("{name} does not say that it is ready")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Errors are of no use here: the process is gone either way.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
