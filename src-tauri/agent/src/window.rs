//! Starts the window's program and keeps it: one that breaks is started again, one that the owner closed is not.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::future::pending;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::supervise::windows::{Asked, Windows};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

/// Names another program than the one beside ours.
const VARIABLE: &str = "RINGONCE_APP";
const NAME: &str = "ringonce-app";
/// A window that breaks is started again so often in this time.
const RESTARTS_MAX: usize = 3;
const RESTARTS_WITHIN: Duration = Duration::from_secs(600);
/// A window that was asked for and does not attach itself by then hangs: it is ended, and started again.
const ATTACH_WAIT: Duration = Duration::from_secs(60);
/// What the window's program prints; begun anew where it grew to this size.
const LOG: &str = "logs/window.log";
const LOG_BYTES_MAX: u64 = 256 * 1024;

/// Starts windows of one data folder.
pub(crate) struct Keeper {
    windows: Windows,
    data_dir: PathBuf,
    program: PathBuf,
    child: Option<Child>,
    /// Asked for since it was started, and not passed on yet.
    place: Option<Option<String>>,
    /// It has to attach itself by then.
    due: Option<Instant>,
    restarts: VecDeque<Instant>,
}

impl Keeper {
    /// For the windows of a data folder.
    pub(crate) fn new(windows: Windows, data_dir: &Path) -> Self {
        let data_dir = data_dir.to_owned();
        let (child, place, due, restarts) = (None, None, None, VecDeque::new());
        Self { windows, data_dir, program: program(), child, place, due, restarts }
    }

    /// Starts a window whenever one is asked for. It is left alone when this is dropped.
    pub(crate) async fn run(mut self) {
        let mut asked = self.windows.be_starter();
        let mut attached = self.windows.attached();
        loop {
            tokio::select! {
                Some(Asked { place, answer }) = asked.recv() => {
                    // Whoever asked may be gone.
                    let _ = answer.send(self.asked(place));
                }
                changed = attached.changed() => {
                    if changed.is_ok() && *attached.borrow_and_update() {
                        self.attached();
                    }
                }
                ended = ended(&mut self.child) => self.ended(ended),
                () = overdue(self.due) => self.end_hanging(),
            }
        }
    }

    fn asked(&mut self, place: Option<String>) -> Result<(), Fault> {
        if self.child.is_none() {
            return self.start(place);
        }
        // It is starting, or just ending: one of the two shows the place.
        self.place = Some(place);
        self.due = self.due.or_else(|| Some(Instant::now() + ATTACH_WAIT));
        Ok(())
    }

    fn attached(&mut self) {
        self.due = None;
        if let Some(place) = self.place.take()
            && !self.windows.raise(place.clone())
        {
            self.place = Some(place);
        }
    }

    fn ended(&mut self, ended: io::Result<ExitStatus>) {
        self.child = None;
        self.due = None;
        let place = self.place.take();
        let broke = !ended.as_ref().is_ok_and(ExitStatus::success);
        if broke {
            let signal = ended.as_ref().ok().and_then(ExitStatusExt::signal);
            let code = ended.as_ref().ok().and_then(ExitStatus::code);
            tracing::warn!(?signal, ?code, "The window broke");
            if !self.may_restart() {
                tracing::error!("The window broke too often; it is started again when it is asked for");
                return;
            }
        } else if place.is_none() {
            tracing::info!("The window was closed");
            return;
        }
        if let Err(fault) = self.start(place.flatten()) {
            tracing::error!("{fault}");
        }
    }

    fn may_restart(&mut self) -> bool {
        let now = Instant::now();
        self.restarts.retain(|at| now.duration_since(*at) < RESTARTS_WITHIN);
        let may = self.restarts.len() < RESTARTS_MAX;
        if may {
            self.restarts.push_back(now);
        }
        may
    }

    fn end_hanging(&mut self) {
        tracing::warn!("The window did not attach itself in time");
        self.due = None;
        if let Some(child) = &mut self.child
            && let Err(error) = child.start_kill()
        {
            tracing::debug!(%error, "The window was gone already");
        }
    }

    fn start(&mut self, place: Option<String>) -> Result<(), Fault> {
        let mut command = Command::new(&self.program);
        command.arg("--data-dir").arg(&self.data_dir);
        if let Some(place) = place {
            command.arg("--place").arg(place);
        }
        let log = || self.log().map_or_else(|_| Stdio::null(), Stdio::from);
        command.stdin(Stdio::null()).stdout(log()).stderr(log());
        // Ctrl-C in a terminal is for us; the window is told.
        command.process_group(0);
        let child = command.spawn().map_err(|error| {
            Fault::new(
                FaultCode::NotFound,
                "No window was opened",
                format!("the program {} cannot be started ({error})", self.program.display()),
                format!("install Ringonce anew, or name its window's program in {VARIABLE}"),
            )
        })?;
        tracing::info!(pid = child.id(), "The window is started");
        self.child = Some(child);
        self.due = Some(Instant::now() + ATTACH_WAIT);
        Ok(())
    }

    fn log(&self) -> io::Result<File> {
        let path = self.data_dir.join(LOG);
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        if file.metadata()?.len() > LOG_BYTES_MAX {
            file.set_len(0)?;
        }
        Ok(file)
    }
}

async fn ended(child: &mut Option<Child>) -> io::Result<ExitStatus> {
    match child {
        Some(child) => child.wait().await,
        None => pending().await,
    }
}

async fn overdue(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => pending().await,
    }
}

fn program() -> PathBuf {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return named.into();
    }
    let beside = std::env::current_exe().ok().and_then(|us| us.parent().map(|folder| folder.join(NAME)));
    beside.unwrap_or_else(|| NAME.into())
}
