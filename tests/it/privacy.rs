//! What must stand nowhere: passwords, tokens, topics and mail, in the log at its finest, in files and in process lists.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::ntfy_peer::Ntfy;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait::{self, secs};

const URL_TOKEN: &str = "tokenOfTheUrlPath";
const URL_QUERY: &str = "tokenOfTheUrlQuery";
const TOPIC: &str = "topic-nobody-guesses";
const TOKEN: &str = "tk_accessTokenOfNtfy";
const SIGNING: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const SUBJECT: &str = "Subject of a private mail";
const BODY: &str = "text of a private mail";
const WRONG: &str = "wrong-hunter2";

#[track_caller]
fn holds_none_of(what: &str, bytes: &[u8], secrets: &[&str]) {
    for secret in secrets {
        let found = bytes.windows(secret.len()).position(|part| part == secret.as_bytes());
        let around = |at: usize| {
            String::from_utf8_lossy(&bytes[at.saturating_sub(200)..(at + 100).min(bytes.len())]).into_owned()
        };
        assert!(found.is_none(), "{what} holds {secret:?}: …{}…", found.map(around).unwrap_or_default());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("our own folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_secret_and_no_mail_stands_in_log_database_or_process_list() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let hook = HttpPeer::start(Receiver::new());
    let mut ntfy_app = Ntfy::new();
    ntfy_app.token = Some(TOKEN.to_owned());
    let ntfy = HttpPeer::start(ntfy_app);
    let mut program = Program::new();
    program.env("RINGONCE_LOG", "trace");
    let secrets = [user.password.as_str(), TOKEN, SIGNING, SIGNING.trim_start_matches("whsec_"), WRONG];
    let all = [secrets.as_slice(), &[URL_TOKEN, URL_QUERY, TOPIC, SUBJECT, BODY]].concat();

    let port = dovecot.imap_port.to_string();
    let login = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
    let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
    let refused = program.run(&add, format!("{WRONG}\n"));
    assert!(!refused.status.success(), "a wrong password is refused");
    holds_none_of("the refusal", refused.stderr.as_bytes(), &all);
    let mailbox = program.ok(&add, format!("{}\n", user.password)).id();
    let url = format!("url=http://127.0.0.1:{}/{URL_TOKEN}/hook?key={URL_QUERY}", hook.port);
    let webhook =
        ["destination", "add", "webhook", "--name", "hook", "--set", &url, "--secret", "secret=-", "--no-test"];
    program.ok(&webhook, format!("{SIGNING}\n"));
    let server = format!("server=http://127.0.0.1:{}", ntfy.port);
    let phone = ["destination", "add", "ntfy", "--name", "phone", "--set", &server, "--set"];
    let topic = format!("topic={TOPIC}");
    program.ok(&[phone.as_slice(), &[&topic, "--secret", "token=-", "--no-test"]].concat(), format!("{TOKEN}\n"));

    let mut running = program.start_headless();
    // Failures talk more than successes.
    hook.next([Mode::status(503), Mode::Reset]);
    ntfy.next([Mode::status(503)]);
    dovecot.deliver(&user, &Mail::new(SUBJECT).body(&format!("{BODY}\r\n")).bytes());
    ntfy.wait_published(1, secs(60));
    wait::until("both were asked", secs(60), || hook.writes().len() >= 2);
    hook.set(Mode::status(401));
    ntfy.set(Mode::status(401));
    dovecot.deliver(&user, &Mail::new(SUBJECT).body(&format!("{BODY} again\r\n")).bytes());
    wait::until("both are paused", secs(60), || {
        let status = program.json(&["status"]);
        status["destinations"].as_array().unwrap().iter().all(|row| row["state"] == "sign_in")
    });
    let set = program.run(&["mailbox", "set", &mailbox, "--password-stdin", "--no-test"], format!("{WRONG}\n"));
    assert!(set.status.success(), "{}", set.stderr);
    wait::until("the server refuses", secs(60), || program.json(&["status"])["mailboxes"][0]["state"] == "sign_in");
    program.run(&["doctor"], "");
    let process = fs::read(format!("/proc/{}/cmdline", running.pid())).expect("it runs, on Linux");
    let environment = fs::read(format!("/proc/{}/environ", running.pid())).expect("it runs, on Linux");
    assert!(running.stop().success());

    assert!(running.log().contains("TRACE") || running.log().contains("DEBUG"), "the finest log: {}", running.log());
    holds_none_of("the log", running.log().as_bytes(), &all);
    holds_none_of("the process list", &[process, environment].concat(), &all);
    for file in files(program.data_dir()) {
        // Where the owner's notifications go is configuration, and mails are the history; secrets are neither.
        holds_none_of(&file.display().to_string(), &fs::read(&file).expect("our own file"), &secrets);
    }
}

#[test]
fn without_a_terminal_to_write_to_the_log_is_in_files() {
    let mut program = Program::new();
    program.env("RINGONCE_LOG", "debug");
    let mut demo = program.start(&["run", "--demo"]);
    let log = program.data_dir().join("logs/ringonce.log");
    wait::until("there is a log", secs(30), || fs::read_to_string(&log).is_ok_and(|text| text.contains("DEBUG")));
    assert!(demo.stop().success());
    assert!(!demo.log().contains("DEBUG"), "not on standard error: {}", demo.log());
    let text = fs::read_to_string(&log).expect("it is there");
    assert!(text.contains("Stopping"), "to the end: {text}");
}
