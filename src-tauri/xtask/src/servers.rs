//! Servers of the tests that cannot be installed: unpacked or set up in the target folder. Tests that miss one say so
//! and go on, so nothing here is a failure.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian lets no two IMAP servers be installed at one time; the programs of the second are only unpacked.
const UNPACK_CYRUS: &str = r#"set -eu
rm -rf cyrus-imapd cyrus-imapd.new fetched && mkdir fetched && cd fetched
apt-get -q download cyrus-imapd || { apt-get -q update && apt-get -q download cyrus-imapd; }
dpkg -x cyrus-imapd_*.deb ../cyrus-imapd.new
cd .. && mv cyrus-imapd.new cyrus-imapd && rm -rf fetched"#;

/// With the versions of its own needs that it works with.
const INSTALL_PYMAP: &str = r#"set -eu
rm -rf python && python3 -m venv python
python/bin/pip -q --disable-pip-version-check install pymap==0.36 pysasl==1.0.1 passlib==1.7.4
touch python/complete"#;

/// Brings what is not there yet. Quick when it is.
pub(crate) fn bring() {
    let Some(folder) = folder() else { return };
    bring_one("Cyrus", &folder, "cyrus-imapd", UNPACK_CYRUS);
    bring_one("pymap", &folder, "python/complete", INSTALL_PYMAP);
}

fn bring_one(name: &str, folder: &Path, proof: &str, script: &str) {
    if folder.join(proof).exists() {
        return;
    }
    println!("Bringing {name}, a mail server of the tests");
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(folder).stdin(Stdio::null());
    if !shell.status().is_ok_and(|status| status.success()) {
        println!("{name} is not to be had here; its tests will say so");
    }
}

/// `test-servers` in the target folder that this program was built into.
fn folder() -> Option<PathBuf> {
    let folder = env::current_exe().ok()?.ancestors().nth(2)?.join("test-servers");
    fs::create_dir_all(&folder).ok()?;
    Some(folder)
}
