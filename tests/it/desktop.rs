//! Notifications on this computer, shown by a real daemon, and what is pressed on them; on a real mail server.

use serde_json::Value;

use crate::support::desktop::Desktop;
use crate::support::dovecot::{Dovecot, User};
use crate::support::mail::Mail;
use crate::support::program::Program;
use crate::support::wait::{self, secs};

const LINK: &str = "https://mail.example/#search/rfc822msgid:{message_id}";

fn flags(user: &User, folder: &str) -> String {
    Dovecot::shared().doveadm(&["-f", "flow", "fetch", "-u", &user.name, "flags", "mailbox", folder])
}

fn key_of(program: &Program, subject: &str) -> String {
    let rows = program.json(&["history"]);
    let row = rows.as_array().unwrap().iter().find(|row| row["subject"] == subject);
    row.unwrap_or_else(|| panic!("{subject} is not in the history: {rows}"))["message_key"].as_str().unwrap().to_owned()
}

fn actions(program: &Program, key: &str) -> Vec<Value> {
    program.json(&["explain", key])["actions"].as_array().expect("a list").clone()
}

#[test]
fn a_mail_is_shown_and_what_is_pressed_is_done() {
    let mut desktop = Desktop::new();
    let mut program = Program::new();
    desktop.seat(&mut program);
    let user = Dovecot::shared().fresh_user();
    program.add_mailbox(Dovecot::shared(), &user, &["--link-template", LINK]);
    assert_eq!(program.json(&["mailbox", "list"])[0]["link_template"], LINK);
    let refused = program.run(&["destination", "add", "desktop", "--name", "here"], "");
    assert!(refused.stderr.contains("No notification service"), "nobody can show the test: {}", refused.stderr);
    desktop.start_dunst();
    program.ok(&["destination", "add", "desktop", "--name", "here"], "");
    let listed = program.json(&["destination", "list"]);
    assert_eq!((&listed[0]["policy"], &listed[0]["max_age_seconds"]), (&"never-lost".into(), &43_200.into()));
    desktop.wait_shown(1);
    assert_eq!(desktop.close_all()[0].0, "Ringonce test");

    let mut running = program.start_headless();
    let mail = Mail::new("Tea <now> & then");
    Dovecot::shared().deliver(&user, &mail.bytes());
    desktop.wait_shown(1);
    desktop.dunstctl(&["action", "0"]).expect("dunst answers");
    wait::until("the link is opened", secs(20), || !desktop.opened().is_empty());
    let id = mail.message_id().trim_matches(['<', '>']).replace('@', "%40");
    let link = LINK.replace("{message_id}", &id);
    assert_eq!(desktop.opened(), [link.as_str()], "one argument, and no shell");
    let explained = program.json(&["explain", &key_of(&program, "Tea <now> & then")]);
    assert_eq!(explained["link"], link, "the history opens the same");
    assert!(!flags(&user, "INBOX").contains("\\Seen"), "opening changes nothing: {}", flags(&user, "INBOX"));
    let shown = desktop.close_all();
    assert!(shown.iter().any(|(_, body)| body.contains("Tea <now> & then")), "a mail speaks no markup: {shown:?}");

    Dovecot::shared().deliver(&user, &Mail::new("Read me").bytes());
    desktop.wait_shown(1);
    desktop.dunstctl(&["context"]).expect("dunst answers");
    wait::until("it is marked", secs(20), || flags(&user, "INBOX").contains("\\Seen"));
    let key = key_of(&program, "Read me");
    wait::until("it is written down", secs(10), || actions(&program, &key)[0]["outcome"] == "done");
    assert!(actions(&program, &key_of(&program, "Tea <now> & then")).is_empty(), "the other mail was let alone");
    assert_eq!(flags(&user, "INBOX").matches("\\Seen").count(), 1, "one mail was marked: {}", flags(&user, "INBOX"));
    assert!(running.stop().success(), "{}", running.log());
    program.assert_sound();
}

#[test]
fn a_mail_waits_until_there_is_somebody_to_show_it() {
    let mut desktop = Desktop::new();
    let mut program = Program::new();
    desktop.seat(&mut program);
    let user = Dovecot::shared().fresh_user();
    program.add_mailbox(Dovecot::shared(), &user, &[]);
    program.ok(&["destination", "add", "desktop", "--name", "here", "--no-test"], "");
    let mut running = program.start_headless();
    Dovecot::shared().deliver(&user, &Mail::new("Early").bytes());
    let row = || program.json(&["history"])[0]["notifications"][0].clone();
    wait::until("it waits", secs(20), || {
        row()["last_error"]["detail"].as_str().is_some_and(|it| it.contains("service"))
    });
    assert_eq!((row()["status"].as_str(), row()["attempt"].as_i64()), (Some("pending"), Some(0)), "not counted");
    desktop.start_dunst();
    desktop.wait_shown(1);
    wait::until("it is told", secs(10), || row()["status"] == "completed");
    assert!(running.stop().success(), "{}", running.log());
    program.assert_sound();
}

#[test]
fn a_mail_is_marked_as_read_where_it_is_and_only_there() {
    let dovecot = Dovecot::shared();
    let program = Program::new();
    let user = dovecot.fresh_user();
    program.add_mailbox(dovecot, &user, &["--folder", "INBOX"]);
    let mut running = program.start_headless();
    for subject in ["One", "Two", "Three"] {
        dovecot.deliver(&user, &Mail::new(subject).bytes());
    }
    let come = || program.json(&["history"]).as_array().map(Vec::len) == Some(3);
    wait::until("three mails came", secs(30), come);
    let mark = |subject: &str| program.run(&["mark-read", &key_of(&program, subject)], "");
    let seen = || flags(&user, "INBOX").matches("\\Seen").count();
    assert!(mark("One").status.success(), "while the program watches");
    assert_eq!(seen(), 1, "{}", flags(&user, "INBOX"));

    let mut session = dovecot.session(&user);
    session.command("CREATE Away");
    session.command("SELECT INBOX");
    session.command("MOVE 2 Away");
    let moved = mark("Two");
    assert!(!moved.status.success() && moved.stderr.contains("not where it was seen"), "{}", moved.stderr);
    assert!(!flags(&user, "Away").contains("\\Seen"), "nobody looked for it elsewhere");
    let failed = actions(&program, &key_of(&program, "Two"));
    assert_eq!((&failed[0]["outcome"], &failed[0]["error"]["code"]), (&"failed".into(), &"not_found".into()));

    running.stop();
    dovecot.set_uid_validity(&user, "INBOX", 4242);
    let renumbered = mark("Three");
    assert!(!renumbered.status.success(), "its number may be another mail's now");
    assert_eq!(seen(), 1, "and none was touched: {}", flags(&user, "INBOX"));
    let ids = program.ingest(&program.add_unread_mailbox(), &[], Mail::new("Pushed").bytes());
    let pushed = program.run(&["mark-read", ids["message_key"].as_str().unwrap()], "");
    assert!(pushed.stderr.contains("no mailbox that is read by IMAP"), "{}", pushed.stderr);
    program.assert_sound();
}
