//! What the machine must have besides Rust, and how it gets it: by apt where we may, else by telling.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Failure, cargo, servers};

/// What for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// Building and running the program `ringonce`.
    Run,
    /// That, and the window.
    Window,
    /// That, and the tests.
    Test,
    /// That, and a look into the packages.
    Package,
}

/// One thing that has to be there.
struct Need {
    /// How to see that it is there: a program, or the end of the path of a file below `/usr/lib` or `/usr/libexec`.
    probe: Probe,
    /// Debian's package.
    package: &'static str,
    /// Why.
    reason: &'static str,
}

enum Probe {
    Program(&'static str),
    Library(&'static str),
}
use Probe::{Library, Program};

const TO_RUN: &[Need] =
    &[Need { probe: Program("cc"), package: "build-essential", reason: "SQLite and ring are C code" }];

const FOR_WINDOW: &[Need] = &[
    Need { probe: Program("pkg-config"), package: "pkg-config", reason: "finds the libraries of the window" },
    Need {
        probe: Library("pkgconfig/webkit2gtk-4.1.pc"),
        package: "libwebkit2gtk-4.1-dev",
        reason: "draws the pages of the window",
    },
];

const TO_TEST: &[Need] = &[
    Need { probe: Program("dovecot"), package: "dovecot-core", reason: "the mail server of the tests" },
    Need { probe: Library("dovecot/imap"), package: "dovecot-imapd", reason: "its IMAP" },
    Need { probe: Library("dovecot/lmtp"), package: "dovecot-lmtpd", reason: "mails come in by LMTP" },
    Need { probe: Library("faketime/libfaketime.so.1"), package: "libfaketime", reason: "clocks that jump" },
    Need { probe: Program("openssl"), package: "openssl", reason: "a second opinion on TLS" },
    Need { probe: Program("dbus-run-session"), package: "dbus-daemon", reason: "a session bus of the tests" },
    Need { probe: Program("gnome-keyring-daemon"), package: "gnome-keyring", reason: "a keyring of the tests" },
    Need { probe: Program("secret-tool"), package: "libsecret-tools", reason: "looks into that keyring" },
    Need { probe: Library("cyrus/bin/master"), package: "cyrus-common", reason: "a second mail server of the tests" },
    Need { probe: Program("saslpasswd2"), package: "sasl2-bin", reason: "its passwords" },
    Need { probe: Library("sasl2/libplain.so"), package: "libsasl2-modules", reason: "signing in to it" },
    Need { probe: Program("Xvfb"), package: "xvfb", reason: "a screen of the tests" },
    Need { probe: Program("dunst"), package: "dunst", reason: "shows notifications on it" },
    Need { probe: Program("dbus-send"), package: "dbus-bin", reason: "asks that what it shows" },
    Need { probe: Program("openbox"), package: "openbox", reason: "its window manager" },
    Need { probe: Program("wmctrl"), package: "wmctrl", reason: "closes windows as their owner would" },
    Need { probe: Program("xdotool"), package: "xdotool", reason: "presses what is no page: native dialogs" },
    Need { probe: Program("WebKitWebDriver"), package: "webkit2gtk-driver", reason: "drives the window" },
    Need { probe: Program("ip"), package: "iproute2", reason: "networks that break" },
    Need { probe: Program("iptables"), package: "iptables", reason: "networks that drop" },
];

const TO_PACKAGE: &[Need] = &[
    Need { probe: Program("desktop-file-validate"), package: "desktop-file-utils", reason: "checks the menu entry" },
    Need { probe: Program("appstreamcli"), package: "appstream", reason: "checks what software centres show" },
    Need { probe: Program("gtk-launch"), package: "libgtk-3-bin", reason: "starts a menu entry" },
    Need { probe: Program("rpm2cpio"), package: "rpm2cpio", reason: "unpacks an .rpm" },
    Need { probe: Program("cpio"), package: "cpio", reason: "unpacks an .rpm" },
];

/// Runs as root. Nothing that is installed may start as a service: neither now (`policy-rc.d`) nor at the next boot.
/// A mail server that was there before is not in the list, and is left as it is.
const INSTALL: &str = r#"set -eu
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  trap 'exit 1' INT TERM
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q install -y --no-install-recommends "$@"
case " $* " in *" dovecot-core "*)
  if [ -d /run/systemd/system ]; then systemctl disable dovecot.service dovecot.socket; fi ;;
esac
case " $* " in *" cyrus-common "*)
  if [ -d /run/systemd/system ]; then systemctl disable cyrus-imapd.service; fi ;;
esac"#;

/// Makes sure that everything is there. Quick when it is.
pub(crate) fn ensure(purpose: Purpose) -> Result<(), Failure> {
    install(purpose)?;
    if purpose == Purpose::Test {
        servers::bring();
    }
    Ok(())
}

fn install(purpose: Purpose) -> Result<(), Failure> {
    let missing = missing(purpose);
    if missing.is_empty() {
        return Ok(());
    }
    let list: String = missing.iter().map(|need| format!("  {:18} {}\n", need.package, need.reason)).collect();
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let by_hand = format!("apt-get install --no-install-recommends {}", packages.join(" "));
    if find_program("apt-get").is_none() {
        return Err(format!("This machine lacks (names as in Debian):\n{list}Install them, then try again."));
    }
    let Some(mut root) = root() else {
        return Err(format!("This machine lacks:\n{list}Run as root: {by_hand}"));
    };
    println!("Installing:\n{list}");
    root.args(["sh", "-c", INSTALL, "setup"]).args(&packages).stdin(Stdio::null());
    cargo::check(&mut root, &by_hand)?;
    let still: Vec<&str> = self::missing(purpose).iter().map(|need| need.package).collect();
    if still.is_empty() { Ok(()) } else { Err(format!("Installed, but still not found: {}", still.join(" "))) }
}

fn missing(purpose: Purpose) -> Vec<&'static Need> {
    let all = [
        (Purpose::Run, TO_RUN),
        (Purpose::Window, FOR_WINDOW),
        (Purpose::Test, TO_TEST),
        (Purpose::Package, TO_PACKAGE),
    ];
    let wanted = all.into_iter().filter(|(of, _)| *of <= purpose).flat_map(|(_, needs)| needs);
    wanted.filter(|need| !need.is_there()).collect()
}

impl Need {
    fn is_there(&self) -> bool {
        match self.probe {
            Program(name) => find_program(name).is_some(),
            Library(end) => library_folders().iter().any(|folder| folder.join(end).exists()),
        }
    }
}

/// On the path, or where servers live: accounts other than root do not search there.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let servers = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(servers).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// `/usr/lib`, its folder for this machine's architecture, and `/usr/libexec`.
fn library_folders() -> Vec<PathBuf> {
    let roots = ["/usr/lib", "/usr/libexec", "/usr/lib64"].map(PathBuf::from);
    let inner = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let inner = inner.filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.contains('-')));
    roots.into_iter().chain(inner).collect()
}

/// A command that runs its arguments as root without asking; none where we may not.
fn root() -> Option<Command> {
    let by_sudo = |args: &[&str]| {
        let mut sudo = Command::new("sudo");
        sudo.arg("-n").args(args);
        sudo
    };
    if Path::new("/proc/self").exists() && is_root() {
        return Some(Command::new("env"));
    }
    let mut asked = by_sudo(&["true"]);
    let allowed = asked.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    allowed.is_ok_and(|status| status.success()).then(|| by_sudo(&[]))
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|us| us.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::{FOR_WINDOW, Need, TO_PACKAGE, TO_RUN, TO_TEST, find_program, library_folders};

    #[test]
    fn each_need_is_listed_once_with_a_reason() {
        let all: Vec<&Need> = [TO_RUN, FOR_WINDOW, TO_TEST, TO_PACKAGE].into_iter().flatten().collect();
        let mut packages: Vec<&str> = all.iter().map(|need| need.package).collect();
        assert!(all.iter().all(|need| !need.reason.is_empty()), "a package needs a reason");
        packages.sort_unstable();
        let count = packages.len();
        packages.dedup();
        assert_eq!(packages.len(), count, "a package is listed twice");
    }

    #[test]
    fn what_is_there_is_found_and_what_is_not_is_not() {
        assert!(find_program("sh").is_some(), "every machine has a shell");
        assert!(find_program("no-such-program-anywhere").is_none());
        assert!(library_folders().iter().any(|folder| folder.is_dir()), "libraries lie somewhere");
    }
}
