//! A computer of an owner: a screen, and the program on it, which ends with the test.

use std::process::Command;
use std::time::Duration;

use ringonce_engine::rpc::lock::{DataLock, Holder, Taken};
use ringonce_tests::support::desktop::Desktop;
use ringonce_tests::support::program::Program;
use ringonce_tests::support::wait;

/// After which a polite stop hangs: the longest call in hand (30 s) and some.
const STOP_LIMIT: Duration = Duration::from_secs(45);

/// A screen with a window manager, a keyring and a service for notifications, and the program.
pub(crate) struct Desk {
    pub(crate) desktop: Desktop,
    pub(crate) program: Program,
}

impl Desk {
    /// A new computer; nothing of Ringonce runs.
    pub(crate) fn new() -> Self {
        let mut desktop = Desktop::new();
        desktop.screen().furnish();
        desktop.start_dunst();
        let mut program = Program::new();
        desktop.seat(&mut program);
        desktop.screen().take_in(&mut program);
        Self { desktop, program }
    }

    /// The process id of the resident program.
    pub(crate) fn resident(&self) -> u32 {
        let pid = || Some(Holder::read(self.program.data_dir())).filter(|holder| holder.socket.is_some());
        wait::get("the resident program listens", Duration::from_secs(30), pid).pid
    }

    /// Sends the resident program a signal.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.resident(), name);
    }

    fn is_free(&self) -> bool {
        matches!(DataLock::try_take(self.program.data_dir()), Ok(Taken::Ours(_)) | Err(_))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if self.is_free() {
            return;
        }
        signal(Holder::read(self.program.data_dir()).pid, "TERM");
        if wait::find(STOP_LIMIT, || self.is_free().then_some(())).is_none() {
            signal(Holder::read(self.program.data_dir()).pid, "KILL");
        }
    }
}

/// Sends a process of ours a signal.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -s {name} {pid}")]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -s {name} {pid}");
}
