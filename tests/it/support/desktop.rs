//! A screen of its own with a real notification daemon on a session bus of its own, gone when dropped.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::program::Program;
use crate::support::screen::Screen;
use crate::support::wait::{self, secs};

/// A desktop: bus, screen and, where it was started, dunst. `xdg-open` writes down what it is given.
pub struct Desktop {
    dir: tempfile::TempDir,
    screen: Screen,
}

impl Default for Desktop {
    fn default() -> Self {
        Self::new()
    }
}

impl Desktop {
    /// Without a notification daemon yet.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("ringonce-desktop-").tempdir().expect("a scratch folder");
        fs::create_dir(dir.path().join("bin")).expect("a folder of our own");
        let desktop = Self { dir, screen: Screen::new() };
        desktop.script("xdg-open", "printf '%s\\n' \"$@\" >>\"$0.opened\"");
        // What dunst asks to choose an action with: the one to mark a mail as read is chosen.
        desktop.script("choose", "grep -m1 'Mark read'");
        desktop
    }

    /// Its screen.
    pub fn screen(&mut self) -> &mut Screen {
        &mut self.screen
    }

    fn script(&self, name: &str, body: &str) {
        let path = self.bin().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a file of our own");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
    }

    fn bin(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    /// From its next start on a program is in this session.
    pub fn seat(&self, program: &mut Program) {
        program.env("DBUS_SESSION_BUS_ADDRESS", self.screen.session().address());
        let path = std::env::var("PATH").unwrap_or_default();
        program.env("PATH", format!("{}:{path}", self.bin().display()));
    }

    /// Starts dunst and waits until it answers.
    pub fn start_dunst(&mut self) {
        let config = self.dir.path().join("dunstrc");
        let text = format!("[global]\n    dmenu = {}\n    history_length = 50\n", self.bin().join("choose").display());
        fs::write(&config, text).expect("a file of our own");
        let mut dunst = self.command("dunst");
        dunst.arg("-config").arg(&config);
        self.screen.spawn(dunst);
        wait::until("dunst answers", secs(20), || self.dunstctl(&["count", "displayed"]).is_some());
    }

    /// What `dunstctl` prints; `None`: it failed.
    #[must_use]
    pub fn dunstctl(&self, args: &[&str]) -> Option<String> {
        let output = self.command("dunstctl").args(args).stdin(Stdio::null()).output().expect("dunstctl runs");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Waits until so many are on the screen.
    #[track_caller]
    pub fn wait_shown(&self, count: usize) {
        let count = count.to_string();
        let shown = || self.dunstctl(&["count", "displayed"]);
        let waited = wait::find(secs(30), || (shown().as_deref() == Some(&count)).then_some(()));
        assert!(waited.is_some(), "{count} should be on the screen: {:?}", shown());
    }

    /// Takes everything off the screen and gives what it said: summary and body, newest first.
    #[must_use]
    pub fn close_all(&self) -> Vec<(String, String)> {
        self.dunstctl(&["close-all"]).expect("dunst answers");
        self.wait_shown(0);
        let history: Value = serde_json::from_str(&self.dunstctl(&["history"]).expect("dunst answers")).expect("JSON");
        let rows = history["data"][0].as_array().expect("a list");
        let text = |row: &Value, key: &str| row[key]["data"].as_str().unwrap_or_default().to_owned();
        rows.iter().map(|row| (text(row, "summary"), text(row, "body"))).collect()
    }

    /// What was given to `xdg-open`, in order.
    #[must_use]
    pub fn opened(&self) -> Vec<String> {
        let text = fs::read_to_string(self.bin().join("xdg-open.opened")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", Path::new(self.dir.path()))
            .envs(self.screen.environment());
        command
    }
}
