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
use crate::crash;
use crate::model::destination::Policy;
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
    classify: |_| Class::C,
    window: None,
    lookup: false,
    retract: false,
    limits: Limits { title_bytes_max: 4096, body_bytes_max: 16_384 },
    policy: Policy::NeverTwice,
    max_age_seconds: None,
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
                crash::point("bytes_written");
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

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::channel::trial::{self, Counted, KEY, job, short};

    /// The command of a script. It is read by `sh`: a file that was just written cannot be run itself while
    /// another test happens to start a program ("text file busy").
    fn script(folder: &TempDir, text: &str) -> String {
        let path = folder.path().join("notify");
        fs::write(&path, text).unwrap();
        format!("sh {}", path.display())
    }

    async fn run(command: &str, limit_seconds: &str) -> (AttemptOutcome, usize) {
        let fields = [("command", command), ("time_limit_seconds", limit_seconds)];
        let channel = trial::build(&KIND, &fields, &[]).unwrap();
        let gate = Counted::default();
        (channel.send(&job(), &gate).await, gate.asked())
    }

    #[tokio::test]
    async fn the_program_gets_its_words_the_json_and_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        let text = format!(
            "cat > {out}/stdin\nprintf '%s|' \"$#\" \"$1\" \"$2\" \"$PWD\" \"$RINGONCE_DISPATCH_KEY\" > {out}/words\n\
             echo; echo ' id 7 '"
        );
        let program = script(&folder, &text);
        let (outcome, asked) = run(&format!("{program} 'a b; $(x)' \"c\""), "10").await;
        assert_eq!(outcome, AttemptOutcome::Accepted { external_id: Some("id 7".to_owned()) });
        assert_eq!(asked, 1);
        let words = fs::read_to_string(folder.path().join("words")).unwrap();
        assert_eq!(words, format!("2|a b; $(x)|c|/|{KEY}|"), "words are passed on as they are, without a shell");
        let stdin = fs::read(folder.path().join("stdin")).unwrap();
        assert_eq!(stdin, json::bytes(&job()), "the same JSON as of a webhook");
    }

    #[tokio::test]
    async fn how_it_ends_decides_the_outcome() {
        use ErrorCode::{InvalidPayload, NoAnswer, TemporaryUnavailable};
        let folder = tempfile::tempdir().unwrap();
        let check = async |text: &str, expected: (&str, Option<ErrorCode>), words: &str| {
            let (outcome, _) = run(&script(&folder, text), "10").await;
            assert_eq!(short(&outcome), expected, "{text}: {outcome:?}");
            let detail = outcome.error().map(|error| error.detail.clone()).unwrap_or_default();
            assert!(detail.contains(words), "{text}: {detail}");
        };
        check("exit 0", ("accepted", None), "").await;
        check("echo Busy >&2; exit 75", ("deferred", Some(TemporaryUnavailable)), "not now: Busy").await;
        check("echo; echo 'No such user' >&2; exit 3", ("rejected", Some(InvalidPayload)), "with 3: No such").await;
        check("exit 1", ("rejected", Some(InvalidPayload)), "ended with 1").await;
        check("kill -9 $$", ("unknown", Some(NoAnswer)), "signal").await;
        check("head -c 3000000 /dev/zero; exit 3", ("rejected", Some(InvalidPayload)), "").await;
    }

    #[tokio::test]
    async fn what_cannot_be_run_is_refused_before_the_gate() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        fs::write(&plain, "text").unwrap();
        let folder_path = folder.path().to_str().unwrap();
        for command in ["/nonexistent/x", "surely-no-such-program", plain.to_str().unwrap(), folder_path] {
            let (outcome, asked) = run(command, "10").await;
            assert_eq!(short(&outcome), ("rejected", Some(ErrorCode::InvalidRecipient)), "{command}");
            assert_eq!(asked, 0, "{command}: the gate stays shut");
            let channel = trial::build(&KIND, &[("command", command)], &[]).unwrap();
            assert_eq!(channel.check().await.unwrap_err().code, FaultCode::NotFound, "{command}");
        }
        assert_eq!(short(&run("true", "10").await.0), ("accepted", None), "found in PATH");
    }

    #[tokio::test]
    async fn a_format_the_system_cannot_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise");
        fs::write(&path, [0u8, 159, 146, 150]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let (mut outcome, mut asked) = run(path.to_str().unwrap(), "10").await;
        while short(&outcome).0 == "deferred" {
            // Another test starts a program just now and holds the file open for a moment.
            (outcome, asked) = run(path.to_str().unwrap(), "10").await;
        }
        assert_eq!((short(&outcome), asked), (("rejected", Some(ErrorCode::InvalidRecipient)), 1));
    }

    #[tokio::test]
    async fn a_lost_lease_runs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("ran");
        let program = script(&folder, &format!("touch {}", mark.display()));
        let channel = trial::build(&KIND, &[("command", &program)], &[]).unwrap();
        assert_eq!(channel.send(&job(), &Counted::shut()).await, AttemptOutcome::Abandoned);
        assert!(!mark.exists(), "it was not started");
    }

    #[tokio::test]
    async fn at_the_time_limit_all_it_started_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let pid_file = folder.path().join("pid");
        let program = script(&folder, &format!("sleep 1000 & echo $! > {}; wait", pid_file.display()));
        let (outcome, _) = run(&program, "1").await;
        assert_eq!(short(&outcome), ("unknown", Some(ErrorCode::NoAnswer)));
        let pid = fs::read_to_string(&pid_file).unwrap();
        let mut rounds = 0;
        while runs(pid.trim()) {
            rounds += 1;
            assert!(rounds < 5000, "the grandchild was ended too");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn a_grandchild_that_stays_does_not_hold_up_the_outcome() {
        let folder = tempfile::tempdir().unwrap();
        let pid_file = folder.path().join("pid");
        let program = script(&folder, &format!("echo ok; sleep 1000 & echo $! > {}", pid_file.display()));
        let (outcome, _) = run(&program, "20").await;
        assert_eq!(outcome, AttemptOutcome::Accepted { external_id: Some("ok".to_owned()) });
        let pid = fs::read_to_string(&pid_file).unwrap();
        assert!(runs(pid.trim()), "what a successful program left running is its own affair");
        let id = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(id, Signal::KILL).unwrap();
    }

    #[test]
    fn words_that_cannot_be_are_refused() {
        for command in ["a 'b", "''", "\"\" x"] {
            assert!(trial::build(&KIND, &[("command", command)], &[]).is_err(), "{command}");
        }
    }

    /// Alive, and not only waiting to be collected by whoever adopts orphans here.
    fn runs(pid: &str) -> bool {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    }
}
