//! What the owner does on the pages, and what comes of it: rules in order, dead letters, waiting.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http_peer::HttpPeer;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait;

const LIMIT: Duration = Duration::from_secs(30);

/// A data folder with a mailbox, and a destination at this URL.
fn program(url: &str) -> (Program, String) {
    let program = Program::new();
    let account = program.ok(&["mailbox", "add", "--email", "owner@example.com", "--no-imap"], "").id();
    let url = format!("url={url}");
    program.ok(&["destination", "add", "webhook", "--name", "phone", "--set", &url, "--no-test"], "");
    (program, account)
}

fn ingest(program: &Program, account: &str, subject: &str) -> Value {
    let mail =
        format!("Message-ID: <{subject}@example.com>\r\nFrom: a@example.com\r\nSubject: {subject}\r\n\r\nText\r\n");
    program.ok(&["ingest", "--mailbox", account, "--json", "-"], mail).json()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

#[test]
fn the_first_rule_that_holds_decides_and_rules_can_be_moved() {
    let (program, account) = program("http://127.0.0.1:9/hook");
    program.ok(&["route", "add", "loud", "--to", "phone"], "");
    let add = |args: &[&str]| program.ok(&[&["rule", "add"], args].concat(), "").id();
    let silent = add(&["--if", "subject contains \"invoice\"", "--silent", "invoices are read on Fridays"]);
    let loud = add(&["--mailbox", "owner@example.com", "--if", "subject starts Invoice", "--route", "loud"]);
    let order = || -> Vec<String> {
        program.json(&["rule", "list"]).as_array().unwrap().iter().map(|rule| text(&rule["id"])).collect()
    };
    assert_eq!(order(), [silent.clone(), loud.clone()]);
    let first = ingest(&program, &account, "Invoice-1");
    assert_eq!((&first["decision"], &first["reason"]), (&json!("silent"), &json!("invoices are read on Fridays")));

    program.ok(&["rule", "move", &loud, "--before", &silent], "");
    assert_eq!(order(), [loud.clone(), silent.clone()], "moved before");
    let tried = program.json(&["rule", "try", "--last", "10"]);
    assert_eq!((&tried[0]["decision"], &tried[0]["was"]), (&json!("notify"), &json!("silent")), "what would be now");
    assert_eq!(tried[0]["rule_id"], loud);
    assert_eq!(program.json(&["history"]).as_array().unwrap().len(), 1, "trying tells nobody");
    assert_eq!(ingest(&program, &account, "Invoice-2")["decision"], "notify");

    let before = add(&["--if", "subject is \"Invoice-3\"", "--silent", "not this one", "--before", &loud]);
    assert_eq!(order(), [before.clone(), loud.clone(), silent.clone()]);
    assert_eq!(ingest(&program, &account, "Invoice-3")["reason"], "not this one");
    program.ok(&["rule", "move", &before], "");
    assert_eq!(order(), [loud.clone(), silent, before], "moved to the end");
    let refused = program.run(&["route", "remove", "loud"], "");
    assert!(refused.stderr.contains(&loud), "a route in use stays, and it says by whom: {}", refused.stderr);
    let refused = program.run(&["rule", "add", "--route", "quiet"], "");
    assert!(refused.status.code() == Some(1) && refused.stderr.contains("no route \"quiet\""), "{refused:?}");
    program.ok(&["rule", "remove", &loud], "");
    program.ok(&["route", "remove", "loud"], "");
    assert_eq!(program.json(&["verify"])["ok"], true);
}

#[test]
fn dead_letters_wait_for_the_owner() {
    let mut phone = HttpPeer::start(Receiver::deduplicating());
    let (program, account) = program(&phone.url());
    program.ok(&["settings", "set", "processing.max_attempts", "1"], "");
    program.ok(&["settings", "set", "retry.ladder_seconds", "86400"], "");
    // Four of them would be an alarm, which rings by itself; here only what the owner asks for may.
    program.ok(&["settings", "set", "alarm.dead_letters", "1000"], "");
    phone.down();
    let mut running = program.start_headless();
    for subject in ["One", "Two", "Three", "Four"] {
        ingest(&program, &account, subject);
    }
    let attention = || program.json(&["attention", "--limit", "0"]).as_array().unwrap().clone();
    wait::until("all four are dead", LIMIT, || attention().len() == 4);
    let rows = attention();
    assert_eq!(rows[0]["status"], "dead");
    assert_eq!(rows[0]["last_error"]["code"], "connection_reset");
    let id_of = |subject: &str| text(&rows.iter().find(|row| row["subject"] == subject).unwrap()["dispatch_key"]);
    assert_eq!(program.json(&["status"])["dead"], 4);

    let [one, two] = ["One", "Two"].map(id_of);
    let done = program.json(&["mark-delivered", &one[..8]]);
    assert_eq!(done, json!({"dispatch_key": one, "status": "completed"}));
    assert_eq!(program.json(&["dismiss", &two])["status"], "cancelled");
    let again = program.run(&["dismiss", &two], "");
    assert_eq!(again.status.code(), Some(1), "what is over stays over: {again:?}");
    let refused = program.run(&["retry", &one], "");
    assert!(refused.stderr.contains("completed notification"), "{}", refused.stderr);
    assert_eq!(attention().len(), 2);

    phone.up();
    program.ok(&["retry", &id_of("Three")], "");
    program.ok(&["wait", "--timeout", "30"], "");
    let told = || -> Vec<String> {
        let app = phone.app();
        app.taken().iter().map(|taken| String::from_utf8_lossy(&taken.request.body).into_owned()).collect()
    };
    assert!(matches!(&told()[..], [one] if one.contains("Three")), "only what was asked for: {:?}", told());
    let past = program.json(&["redrive", "--since", "2100-01-01T00:00:00Z"]);
    assert_eq!(past["redriven"], 0, "nothing died since then");
    assert_eq!(program.json(&["redrive", "--since", "1h"])["redriven"], 1);
    program.ok(&["wait", "--timeout", "30"], "");
    assert_eq!(told().len(), 2);
    assert_eq!(attention(), Vec::<Value>::new());
    assert!(running.stop().success());
    assert_eq!(program.json(&["verify"])["ok"], true);
}

#[test]
fn wait_says_whether_anything_is_left_to_do() {
    let (program, account) = program("http://127.0.0.1:9/hook");
    program.ok(&["wait", "--settled", "--timeout", "5"], "");
    ingest(&program, &account, "One");
    let nobody_sends = program.run(&["wait", "--timeout", "1"], "");
    assert_eq!(nobody_sends.status.code(), Some(1), "it is due, and nothing runs: {nobody_sends:?}");
    assert!(nobody_sends.stderr.contains("after 1 s"), "{}", nobody_sends.stderr);
    program.ok(&["settings", "set", "retry.backoff_seconds", "2"], "");
    program.ok(&["settings", "set", "processing.max_attempts", "100"], "");
    let mut running = program.start_headless();
    wait::until("it was tried once", LIMIT, || {
        program.json(&["history"])[0]["notifications"][0]["last_error"] != Value::Null
    });
    // Retried every 2 s or so: most of the time nothing is due, but something always is within the limit.
    program.ok(&["wait", "--timeout", "10"], "");
    let retries = program.run(&["wait", "--settled", "--timeout", "4"], "");
    assert_eq!(retries.status.code(), Some(1), "retries are still to come: {retries:?}");
    program.ok(&["destination", "pause", "phone"], "");
    program.ok(&["wait", "--settled", "--timeout", "10"], "");
    assert_eq!(program.json(&["status"])["pending"], 1, "what waits for a paused destination is not due");
    assert!(running.stop().success());
}
