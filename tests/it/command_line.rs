//! The command line, as an owner and a script use it: names of fields, exit codes, one line on stderr.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::HttpPeer;
use crate::support::program::{Output, Program};
use crate::support::receiver::Receiver;
use crate::support::wait;

const LIMIT: Duration = Duration::from_secs(30);

const MAIL: &str = "Message-ID: <one@example.com>\r\nFrom: Anna <anna@example.com>\r\nSubject: Hello\r\n\
                    Date: Mon, 01 Jan 2024 10:00:00 +0000\r\n\r\nHi there\r\n";

/// Refused with exit code 1 and one line that holds these words.
#[track_caller]
fn refused(output: &Output, words: &str) {
    assert_eq!(output.status.code(), Some(1), "refused, not misused: {output:?}");
    assert_eq!(output.stdout, "", "nothing is printed where nothing was done");
    assert_eq!(output.stderr.lines().count(), 1, "one line why: {}", output.stderr);
    assert!(output.stderr.contains(words), "{:?} does not say {words:?}", output.stderr);
}

/// What is promised is there; there may be more, for the window.
#[track_caller]
fn fields(row: &Value, promised: &str) {
    let there: BTreeSet<&str> = row.as_object().expect("an object").keys().map(String::as_str).collect();
    let missing: Vec<&str> = promised.split_whitespace().filter(|field| !there.contains(field)).collect();
    assert!(missing.is_empty(), "{missing:?} are not in {row}");
}

fn add_mailbox(program: &Program) -> String {
    program.ok(&["mailbox", "add", "--email", "Owner@Example.com", "--no-imap"], "").id()
}

fn add_webhook(program: &Program, url: &str) -> String {
    let url = format!("url={url}");
    program.ok(&["destination", "add", "webhook", "--name", "phone", "--set", &url, "--no-test"], "").id()
}

#[test]
fn wrong_usage_is_told_from_refusal() {
    let program = Program::new();
    for args in [
        &["no-such-command"][..],
        &["mailbox", "add"],
        &["mailbox", "add", "--email", "a@b.c", "--host", "h", "--tls", "ssl"],
        &["destination", "add", "webhook", "--name", "n", "--secret", "secret=hunter2"],
        &["history", "--limit", "many"],
        &["rule", "add", "--if", "subject smells \"x\"", "--silent", "r"],
        &["rule", "add"],
        &["redrive", "--since", "yesterday"],
        &["run"],
    ] {
        let output = program.run(args, "");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.contains("panicked"), "{args:?}: {output:?}");
    }
    refused(&program.run(&[], ""), "run --headless");
    refused(&program.run(&["mailbox", "add", "--email", "nobody", "--no-imap"], ""), "not an e-mail address");
    refused(&program.run(&["mailbox", "add", "--email", "a@b.c"], ""), "--no-imap");
    let plain =
        ["mailbox", "add", "--email", "a@b.c", "--host", "imap.example.com", "--tls", "none", "--password-stdin"];
    refused(&program.run(&plain, "pw\n"), "--allow-plaintext");
    refused(&program.run(&["mailbox", "remove", "x"], ""), "there is no mailbox");
    refused(&program.run(&["destination", "add", "pigeon", "--name", "n"], ""), "webhook, ntfy, command");
    refused(&program.run(&["destination", "add", "webhook", "--name", "n", "--set", "colour=red"], ""), "no field");
    refused(&program.run(&["settings", "set", "processing.lease_seconds", "3"], ""), "5 to 3600");
    refused(&program.run(&["retry", "0123"], ""), "not a key");
    refused(&program.run(&["explain", &"0".repeat(64)], ""), "there is no mail");
    refused(&program.run(&["watch"], ""), "not running");
    assert_eq!(program.ok(&["--version"], "").stdout, format!("ringonce {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn nobody_reads_what_is_printed() {
    let program = Program::new();
    let script = "\"$0\" --data-dir \"$1\" settings list | head -n 1; \"$0\" completions bash | head -n 1";
    let output = std::process::Command::new("bash")
        .args(["-c", &format!("set -o pipefail; {script}")])
        .arg(crate::support::program::binary())
        .arg(program.data_dir())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "a closed pipe is no failure: {output:?}");
}

#[test]
fn every_list_has_its_fields_with_and_without_a_running_program() {
    let program = Program::new();
    let account = add_mailbox(&program);
    add_webhook(&program, "http://127.0.0.1:9/hook");
    let source = program.json(&["source", "add", "webhook", "--mailbox", &account]);
    fields(&source, "id url secret");
    let route = program.ok(&["route", "add", "all", "--to", "phone"], "").id();
    let rule = program.json(&["rule", "add", "--if", "subject contains \"spam\"", "--silent", "spam"]);
    let put = |id: &str| {
        fs::write(program.scratch().join("mail.eml"), MAIL).unwrap();
        program.json(&["ingest", "--mailbox", &account, "--path", "imap", "--delivery-id", id, "mail.eml"])
    };
    let new = put("1");
    fields(&new, "delivery_key verdict message_key operation_key decision reason");
    assert_eq!((&new["verdict"], &new["decision"]), (&json!("new"), &json!("notify")));
    assert_eq!(put("1")["verdict"], "repeat", "the same event again");
    assert_eq!(put("2")["verdict"], "duplicate", "another event of the same mail");

    look(&program, false);
    assert_eq!(program.json(&["route", "list"])[0]["id"], route);
    assert_eq!(program.json(&["rule", "list"])[0]["id"], rule["id"]);
    let mut running = program.start_headless();
    program.ok(&["destination", "pause", "phone"], "");
    look(&program, true);
    assert!(running.stop().success(), "a polite stop");
    assert_eq!(fs::read_to_string(program.data_dir().join("lock")).unwrap(), "", "nobody is named any more");
}

/// Every list, over a running program or without one.
fn look(program: &Program, running: bool) {
    let status = program.json(&["status"]);
    fields(&status, "running mailboxes destinations pending oldest_due_at dead uncertain held alarms today");
    assert_eq!(status["running"], running);
    fields(&status["mailboxes"][0], "id mailbox_id email state method last_check_at last_mail_at error");
    fields(&status["destinations"][0], "id name kind state last_delivery_at error");
    assert_eq!(status["today"], json!({"sightings": 3, "rings": 0, "silent": 0, "duplicates": 2}));
    let mailboxes = program.json(&["mailbox", "list"]);
    fields(
        &mailboxes[0],
        "id mailbox_id email state method last_check_at last_mail_at error host port tls username folders ca_file \
         pin allow_plaintext",
    );
    assert_eq!(mailboxes[0]["mailbox_id"], "owner@example.com", "the address in lower case");
    assert_eq!(mailboxes[0]["state"], if running { "watching" } else { "stopped" });
    let destinations = program.json(&["destination", "list"]);
    fields(
        &destinations[0],
        "id name kind state last_delivery_at error recipient policy privacy max_age_seconds fallback_only fields",
    );
    assert_eq!(destinations[0]["policy"], "never-twice");
    fields(&program.json(&["source", "list"])[0], "id kind mailbox url state error");
    let routes = program.json(&["route", "list"]);
    fields(&routes[0], "id name to fallbacks");
    assert_eq!(routes[0]["to"], destinations[0]["id"]);
    let rules = program.json(&["rule", "list"]);
    fields(&rules[0], "id mailbox conditions routes silent");
    assert_eq!(rules[0]["conditions"], json!(["subject contains \"spam\""]));
    look_at_mails(program);
}

fn look_at_mails(program: &Program) {
    let history = program.json(&["history"]);
    fields(
        &history[0],
        "message_key operation_key mailbox_id from subject sent_at first_seen_at first_verdict decision reason \
         sightings notifications",
    );
    assert_eq!(history[0]["sightings"], 3, "the sum of times_seen");
    assert_eq!(history[0]["sent_at"], "2024-01-01T10:00:00.000Z");
    let notification = &history[0]["notifications"][0];
    for field in ["dispatch_key", "destination", "recipient", "status", "attempt", "external_message_id", "last_error"]
    {
        assert!(notification.get(field).is_some(), "{field}: {notification}");
    }
    let duplicates = program.json(&["duplicates"]);
    fields(&duplicates[0], "message_key subject kept suppressed");
    fields(&duplicates[0]["kept"], "source locator at");
    fields(&duplicates[0]["suppressed"][0], "source locator verdict reason at times_seen");
    let verdicts: BTreeSet<&str> = duplicates[0]["suppressed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, BTreeSet::from(["duplicate", "repeat"]));
    let key = history[0]["message_key"].as_str().unwrap();
    let explained = program.json(&["explain", &key[..10]]);
    assert_eq!(explained["message_key"], key);
    fields(
        &explained["deliveries"][0],
        "delivery_key source locator verdict reason times_seen first_seen_at last_seen_at",
    );
    assert_eq!(explained["identities"][0]["kind"], "message_id");
    let kinds = program.json(&["destination", "kinds"]);
    fields(&kinds[0], "kind class window_seconds lookup retract limits fields");
    fields(&kinds[0]["fields"][0], "key secret target required default");
    assert_eq!(program.json(&["verify"])["ok"], true);
    assert_eq!(program.json(&["alarms"]), json!([]));
}

#[test]
fn a_list_is_read_page_by_page() {
    let program = Program::new();
    let account = add_mailbox(&program);
    for n in 0..7 {
        let mail = MAIL.replace("<one@", &format!("<{n}@"));
        program.ok(&["ingest", "--mailbox", &account, "-"], mail);
    }
    let keys = |args: &[&str]| -> Vec<String> {
        let rows = program.json(&[&["history"], args].concat());
        rows.as_array().unwrap().iter().map(|row| row["message_key"].as_str().unwrap().to_owned()).collect()
    };
    let all = keys(&["--limit", "0"]);
    assert_eq!(all.len(), 7, "0 is all");
    let first = keys(&["--limit", "3"]);
    let second = keys(&["--limit", "3", "--before", &first[2]]);
    let third = keys(&["--limit", "3", "--before", &second[2]]);
    assert_eq!([first, second, third].concat(), all, "pages follow each other");
    let text = program.ok(&["history"], "").stdout;
    assert_eq!(text.matches("Hello").count(), 7, "{text}");
}

#[test]
fn a_running_program_takes_changes_at_once_and_a_second_one_is_refused() {
    let phone = HttpPeer::start(Receiver::deduplicating());
    let program = Program::new();
    let mut running = program.start_headless();
    let second = program.run(&["run", "--headless"], "");
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    assert!(second.stderr.contains(&format!("process {}", running.pid())), "it says who was first: {}", second.stderr);

    let account = add_mailbox(&program);
    let url = format!("url={}", phone.url());
    let added = program.json(&["destination", "add", "webhook", "--name", "phone", "--set", &url]);
    assert_eq!(phone.app().taken().len(), 1, "it was tested before it was kept");
    let same = program.run(&["destination", "add", "webhook", "--name", "again", "--set", &url], "");
    refused(&same, "the same target");

    let mut watching = program.start(&["watch", "--json"]);
    // The first line can only come once it listens; until then nothing it shows has happened.
    wait::until("watch listens", LIMIT, || {
        program.ok(&["ingest", "--mailbox", &account, "--delivery-id", "1", "-"], MAIL);
        !watching.printed().is_empty()
    });
    let row: Value = serde_json::from_str(watching.printed().lines().next().unwrap()).unwrap();
    fields(&row, "event message_key subject reason at");
    assert!(watching.is_alive());
    watching.kill9();
    program.ok(&["wait", "--settled", "--timeout", "30"], "");
    assert_eq!(phone.app().taken().len(), 2, "the test and one ring, however often it was reported");
    let key = program.json(&["history"])[0]["message_key"].as_str().unwrap().to_owned();
    program.ok(&["notify-again", &key], "");
    program.ok(&["wait", "--settled", "--timeout", "30"], "");
    assert_eq!(phone.app().taken().len(), 3, "the owner asked to be told again");
    let id = added["id"].as_str().unwrap();
    program.ok(&["destination", "test", id], "");
    assert_eq!(phone.app().taken().len(), 4, "a test rings too");
    program.ok(&["destination", "remove", "phone"], "");
    assert_eq!(program.json(&["destination", "list"]), json!([]));
    assert_eq!(program.json(&["status"])["today"]["rings"], 2, "the mail, and again; tests do not count");
    assert!(running.stop().success());
    assert_eq!(program.json(&["verify"])["ok"], true);
}

#[test]
fn a_failed_test_adds_nothing() {
    let program = Program::new();
    let port = wait::free_port();
    let url = format!("url=http://127.0.0.1:{port}/hook");
    let output = program.run(&["destination", "add", "webhook", "--name", "phone", "--set", &url], "");
    refused(&output, "--no-test");
    assert_eq!(program.json(&["destination", "list"]), json!([]));
    assert_eq!(program.json(&["status"])["pending"], 0, "it is not tried again");
    let id = program.ok(&["destination", "add", "webhook", "--name", "phone", "--set", &url, "--no-test"], "").id();
    let other = format!("url=http://127.0.0.1:{port}/other");
    refused(&program.run(&["destination", "set", &id, "--set", &other], ""), "did not arrive");
    assert_eq!(program.json(&["destination", "list"])[0]["fields"]["url"], url["url=".len()..], "it stays as it was");
    program.ok(&["destination", "set", &id, "--set", &other, "--privacy", "none", "--no-test"], "");
    let row = &program.json(&["destination", "list"])[0];
    assert_eq!((&row["fields"]["url"], &row["privacy"]), (&json!(other["url=".len()..]), &json!("none")));
    assert_eq!(program.json(&["verify"])["ok"], true);
}

#[test]
fn a_mailbox_is_tested_before_it_is_kept() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let program = Program::new();
    let ca_file = dovecot.ca_file();
    let port = dovecot.imaps_port.to_string();
    let add = |password: &str, folder: &str| {
        let args = [
            "mailbox",
            "add",
            "--email",
            "owner@example.com",
            "--host",
            "localhost",
            "--port",
            &port,
            "--username",
            &user.name,
            "--folder",
            folder,
            "--ca-file",
            ca_file.to_str().unwrap(),
            "--password-stdin",
        ];
        program.run(&args, format!("{password}\n"))
    };
    refused(&add("wrong", "INBOX"), "password");
    refused(&add(&user.password, "No such folder"), "No such folder");
    assert_eq!(program.json(&["mailbox", "list"]), json!([]), "nothing was added");
    let id = add(&user.password, "INBOX").id();
    assert_eq!(program.json(&["mailbox", "list"])[0]["id"], id);
    assert!(
        !fs::read(program.data_dir().join("ringonce.db"))
            .unwrap()
            .windows(user.password.len())
            .any(|part| part == user.password.as_bytes()),
        "the password is not in the database"
    );
    program.ok(&["mailbox", "test", &id], "");

    // What comes after `add` rings, also before the first `run`.
    dovecot.deliver(&user, MAIL.as_bytes());
    let phone = HttpPeer::start(Receiver::deduplicating());
    add_webhook(&program, &phone.url());
    let mut running = program.start_headless();
    wait::until("the mail rings", LIMIT, || phone.app().taken().len() == 1);
    program.ok(&["mailbox", "remove", &id], "");
    assert_eq!(program.json(&["mailbox", "list"]), json!([]));
    let secrets = fs::read_to_string(program.secrets_file()).unwrap();
    assert_eq!(secrets, "{}", "its password is gone too");
    assert!(running.stop().success());
}

#[test]
fn the_demo_rings_once_for_each_mail_and_explains_each_repeat() {
    let program = Program::new();
    let mut demo = program.start(&["run", "--demo"]);
    demo.wait_line("ready", LIMIT);
    demo.wait_line("That was the demo", LIMIT);
    let printed = demo.printed();
    assert_eq!(printed.matches("  ring  ").count(), 6, "{printed}");
    assert_eq!(printed.matches("  repeat  ").count(), 4, "{printed}");
    assert!(printed.contains("(same Message-ID, by webhook)") && printed.contains("(matched by content"), "{printed}");
    assert!(demo.stop().success());
    assert_eq!(program.json(&["verify"])["ok"], true);
    add_webhook(&program, "http://127.0.0.1:9/hook");
    refused(&program.run(&["run", "--demo"], ""), "--data-dir");
}
