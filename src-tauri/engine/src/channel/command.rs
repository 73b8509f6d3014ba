//! Channel `command`: a program of the owner, run without a shell. It gets the JSON of channel `webhook` on its
//! standard input and the key in its environment.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::channel::text::first_line;
use crate::channel::{Channel, Class, Configured, Field, Form, Gate, Job, Kind, Limits, Lookup, json};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DispatchKey;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode};

/// `EX_TEMPFAIL` of sysexits.h: "not now".
const EXIT_LATER: i32 = 75;
/// What is kept of each output; the rest is read and forgotten, so that the program is never held up.
const OUTPUT_BYTES_MAX: usize = 8192;
/// Characters of the first line that are shown or kept as an id.
const LINE_CHARS_MAX: usize = 200;
/// A grandchild may hold the outputs open after the program ended; they are not waited for longer.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

/// The channel.
pub const KIND: Kind = Kind {
    id: "command",
    name_key: "channel.command",
    class: Class::C,
    window: None,
    lookup: false,
    retract: false,
    limits: Limits { title_bytes_max: 4096, body_bytes_max: 16_384 },
    fields: &[
        Field { key: "command", secret: false, target: true, required: true, default: None, form: Form::Text },
        Field {
            key: "time_limit_seconds",
            secret: false,
            target: false,
            required: false,
            default: Some("10"),
            form: Form::Number { min: 1, max: 120 },
        },
    ],
    build,
};

struct Program {
    program: OsString,
    arguments: Vec<OsString>,
    limit: Duration,
}

fn build(configured: Configured) -> Result<Arc<dyn Channel>, Fault> {
    let text = configured.fields.get("command").map(String::as_str).unwrap_or_default();
    let invalid = |cause: &str| {
        Fault::new(
            FaultCode::Invalid,
            "The destination cannot be used",
            cause,
            "give a program and its arguments, with quotes as in a shell; pipes and variables need `sh -c '…'`",
        )
    };
    let mut words = shell_words::split(text).map_err(|_| invalid("its command has a quote without its pair"))?;
    if words.first().is_none_or(String::is_empty) {
        return Err(invalid("its command is empty"));
    }
    let program = OsString::from(words.remove(0));
    let seconds = configured.fields.get("time_limit_seconds").and_then(|text| text.parse().ok()).unwrap_or(10);
    Ok(Arc::new(Program {
        program,
        arguments: words.into_iter().map(OsString::from).collect(),
        limit: Duration::from_secs(seconds).min(configured.call_timeout),
    }))
}

impl Program {
    async fn attempt(&self, job: &Job, gate: &dyn Gate) -> AttemptOutcome {
        let Some(path) = find(Path::new(&self.program)) else {
            return rejected(ErrorCode::InvalidRecipient, "The program was not found or may not be run".to_owned());
        };
        if !gate.open().await {
            return AttemptOutcome::Abandoned;
        }
        let mut group = match self.start(&path, job) {
            Ok(group) => group,
            Err(error) => return not_started(&error),
        };
        match timeout(self.limit, group.run(json::bytes(job))).await {
            Ok(Ok(ended)) => ended.outcome(),
            Ok(Err(error)) => unknown(format!("The program could not be waited for: {}", error.kind())),
            Err(_) => unknown(format!("The program was ended after {} s without a result", self.limit.as_secs())),
        }
    }

    fn start(&self, path: &Path, job: &Job) -> io::Result<Group> {
        let child = Command::new(path)
            .args(&self.arguments)
            .env("RINGONCE_DISPATCH_KEY", job.payload.dispatch_key.as_str())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Group { child, ended: false })
    }
}

/// The program and everything it started. What still runs when this is dropped is ended.
struct Group {
    child: Child,
    ended: bool,
}

/// How a program ended, and what it said.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Group {
    async fn run(&mut self, input: Vec<u8>) -> io::Result<Ended> {
        let (stdin, stdout, stderr) = (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = {
            let feed = async {
                if let Some(mut stdin) = stdin {
                    // A program need not read its input; that it does not is no failure.
                    let _ = stdin.write_all(&input).await;
                }
            };
            let outputs = async { tokio::join!(feed, collect(stdout, &mut out), collect(stderr, &mut err)) };
            let mut outputs = std::pin::pin!(outputs);
            let (status, all_said) = tokio::select! {
                biased;
                _ = &mut outputs => (self.child.wait().await?, true),
                status = self.child.wait() => (status?, false),
            };
            self.ended = true;
            if !all_said {
                let _ = timeout(OUTPUT_GRACE, outputs).await;
            }
            status
        };
        Ok(Ended { status, stdout: out, stderr: err })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id.filter(|_| !self.ended) {
            // It may be gone already; then there is nothing to end.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

impl Ended {
    fn outcome(&self) -> AttemptOutcome {
        let said = first_line(&self.stderr, LINE_CHARS_MAX);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        match self.status.code() {
            Some(0) => {
                let id = first_line(&self.stdout, LINE_CHARS_MAX);
                AttemptOutcome::Accepted { external_id: (!id.is_empty()).then_some(id) }
            }
            Some(EXIT_LATER) => AttemptOutcome::Deferred {
                error: ChannelError::new(ErrorCode::TemporaryUnavailable, format!("The program says not now{said}")),
                retry_after: None,
                environment: false,
            },
            Some(code) => rejected(ErrorCode::InvalidPayload, format!("The program ended with {code}{said}")),
            None => unknown(format!("The program was ended by a signal{said}")),
        }
    }
}

/// Reads an output to its end and keeps its beginning.
async fn collect(output: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut output) = output else { return };
    let mut buffer = [0; 4096];
    while let Ok(count) = output.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
}

/// The file to run: as given where a slash stands in it, else from PATH.
fn find(program: &Path) -> Option<PathBuf> {
    let is_program =
        |path: &Path| path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    if program.components().count() > 1 || program.is_absolute() {
        return is_program(program).then(|| program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| is_program(path))
}

/// Nothing ran.
fn not_started(error: &io::Error) -> AttemptOutcome {
    let detail = format!("The program could not be started: {error}");
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory | io::ErrorKind::ExecutableFileBusy => {
            AttemptOutcome::Deferred {
                error: ChannelError::new(ErrorCode::TemporaryUnavailable, detail),
                retry_after: None,
                environment: false,
            }
        }
        _ => rejected(ErrorCode::InvalidRecipient, detail),
    }
}

fn rejected(code: ErrorCode, detail: String) -> AttemptOutcome {
    AttemptOutcome::Rejected { error: ChannelError::new(code, detail) }
}

fn unknown(detail: String) -> AttemptOutcome {
    AttemptOutcome::Unknown { error: ChannelError::new(ErrorCode::NoAnswer, detail) }
}

impl Channel for Program {
    fn class(&self) -> Class {
        Class::C
    }

    fn send<'a>(&'a self, job: &'a Job, gate: &'a dyn Gate) -> BoxFuture<'a, AttemptOutcome> {
        self.attempt(job, gate).boxed()
    }

    fn check(&self) -> BoxFuture<'_, Result<(), Fault>> {
        let found = find(Path::new(&self.program)).map(|_| ()).ok_or_else(|| {
            Fault::new(
                FaultCode::NotFound,
                "The destination cannot be used",
                format!("the program {:?} was not found or may not be run", self.program),
                "give its whole path, and make it executable",
            )
        });
        futures_util::future::ready(found).boxed()
    }

    fn lookup<'a>(&'a self, _key: &'a DispatchKey, _sent_at: i64) -> BoxFuture<'a, Lookup> {
        let error = ChannelError::new(ErrorCode::NoAnswer, "A command cannot be asked what it did");
        futures_util::future::ready(Lookup::CannotTell(error)).boxed()
    }
}
