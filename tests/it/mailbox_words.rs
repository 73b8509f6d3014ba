//! `mailbox add`, `set` and `test`: each wrong value is named in words, and nothing is changed by it.

use serde_json::Value;

use crate::support::dovecot::{Dovecot, Options};
use crate::support::program::{Output, Program};
use crate::support::relay::{Passing, Relay};
use crate::support::wait;

/// A refusal in one line: consequence, cause, next step; with these words in it.
#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let said = output.stderr.trim_end();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let parts = said
        .strip_prefix("ringonce: ")
        .and_then(|said| said.split_once(": "))
        .and_then(|(_, rest)| rest.rsplit_once("; "));
    assert!(
        parts.is_some_and(|(cause, next)| !cause.is_empty() && !next.is_empty()),
        "consequence: cause; next: {said}"
    );
    for word in words {
        assert!(said.contains(word), "wanted {word:?}: {said}");
    }
}

#[test]
fn each_wrong_value_is_named_and_changes_nothing() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let program = Program::new();
    let (ca, port) = (dovecot.ca_file(), dovecot.imaps_port.to_string());
    let ca = ca.to_str().unwrap();
    let login = ["--host", "localhost", "--port", &port, "--ca-file", ca, "--username", &user.name];
    let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
    let id = program.ok(&add, format!("{}\n", user.password)).id();
    let list = || -> Value { program.json(&["mailbox", "list"]) };
    let before = list();
    let password = format!("{}\n", user.password);
    let set = |args: &[&str], stdin: &str, words: &[&str]| {
        refused(&program.run(&[&["mailbox", "set", &id], args].concat(), stdin), words);
        assert_eq!(list(), before, "{args:?} changed something");
    };
    let (plain, lmtp, free) =
        (dovecot.imap_port.to_string(), dovecot.lmtp_port.to_string(), wait::free_port().to_string());
    set(&["--password-stdin"], "wrong\n", &["AUTHENTICATIONFAILED"]);
    set(&["--password-stdin"], "", &["standard input ended"]);
    set(&["--username", "nobody"], "", &["AUTHENTICATIONFAILED"]);
    set(&["--host", "no.such.host.invalid"], "", &["no.such.host.invalid", "spelling"]);
    set(&["--host", "imap example"], "", &["not the name of a server"]);
    set(&["--port", &free], "", &["refused", "port"]);
    set(&["--port", &plain], "", &["starttls"]);
    set(&["--port", &lmtp, "--tls", "starttls"], "", &["220"]);
    set(&["--ca-file", "/nowhere.pem"], "", &["/nowhere.pem"]);
    set(&["--pin", &"0".repeat(64)], "", &["pin"]);
    set(&["--pin", "abc"], "", &["64 hex digits"]);
    set(&["--folder", "Nowhere"], "", &["Nowhere"]);
    set(&["--folder", ""], "", &["not the name of a folder"]);
    set(&["--email", "nobody"], "", &["not an e-mail address"]);
    set(&["--mailbox-id", "other"], "", &["fixed"]);
    set(&["--host", "imap.example.com", "--tls", "none"], "", &["--allow-plaintext"]);
    let other = Dovecot::start_with(&Options { certificate_names: vec!["mail.example.org"], ..Options::default() });
    let (their_port, their_ca) = (other.imaps_port.to_string(), other.ca_file());
    set(&["--port", &their_port, "--ca-file", their_ca.to_str().unwrap()], "", &["mail.example.org"]);
    set(&["--port", &their_port], "", &["--ca-file", "--pin"]);
    let expired = Dovecot::start_with(&Options { certificate_expired: true, ..Options::default() });
    let (their_port, their_ca) = (expired.imaps_port.to_string(), expired.ca_file());
    set(&["--port", &their_port, "--ca-file", their_ca.to_str().unwrap()], "", &["clock"]);

    program.ok(&["mailbox", "test", &id], "");
    program.ok(&["mailbox", "set", &id, "--password-stdin", "--no-test"], "wrong\n");
    refused(&program.run(&["mailbox", "test", &id], ""), &["AUTHENTICATIONFAILED"]);
    program.ok(&["mailbox", "set", &id, "--password-stdin", "--folder", "INBOX", "--folder", "Junk"], &password);
    program.ok(&["mailbox", "test", &id], "");
    assert_eq!(list()[0]["folders"], serde_json::json!(["INBOX", "Junk"]), "a good change is kept");
    refused(&program.run(&["mailbox", "test", "nobody"], ""), &["there is no mailbox", "mailbox list"]);
}

#[test]
fn a_server_that_says_nothing_is_named() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let relay = Relay::start(dovecot.imap_port);
    relay.set(Passing::Blackhole);
    let program = Program::new();
    let port = relay.port.to_string();
    let login = ["--host", "127.0.0.1", "--port", &port, "--tls", "none", "--username", &user.name];
    let add = [&["mailbox", "add", "--email", "owner@example.com", "--password-stdin"], login.as_slice()].concat();
    refused(&program.run(&add, format!("{}\n", user.password)), &["127.0.0.1", "port"]);
    assert_eq!(program.json(&["mailbox", "list"]), serde_json::json!([]), "nothing was added");
}
