//! Pausing all watching: nothing rings meanwhile, nothing is lost, and it ends by itself.

use crate::support::clock::WallClock;
use crate::support::dovecot::Dovecot;
use crate::support::http_peer::HttpPeer;
use crate::support::mail::Mail;
use crate::support::panel::Panel;
use crate::support::program::Program;
use crate::support::receiver::Receiver;
use crate::support::wait::secs;
use crate::tray::bench::{Desktop, quit, wait_shows};

const LIMIT: std::time::Duration = secs(30);

#[test]
fn a_pause_from_the_menu_keeps_quiet_and_is_caught_up_with() {
    let desktop = Desktop::new();
    let panel = Panel::start(&desktop.session.address());
    let peer = HttpPeer::start(Receiver::new());
    let user = Dovecot::shared().fresh_user();
    desktop.program.add_mailbox(Dovecot::shared(), &user, &[]);
    let unread = desktop.program.add_unread_mailbox();
    desktop.program.add_webhook("phone", &peer, &[]);
    let running = desktop.program.start(&["--background"]);
    let icon = panel.icon();
    wait_shows(&icon, "watching", "Watching 2 mailboxes.");
    icon.click("1 hour");
    wait_shows(&icon, "paused", "Paused until ");
    assert!(!icon.entry("Check now").enabled && !icon.labels().contains(&"Pause".to_owned()), "{:?}", icon.menu());
    let refused = desktop.program.run(&["check-now"], "");
    assert!(refused.stderr.contains("paused until"), "{}", refused.stderr);
    desktop.wait_status("every mailbox is paused", |status| {
        status["mailboxes"].as_array().is_some_and(|all| all.iter().all(|mailbox| mailbox["state"] == "paused"))
    });
    Dovecot::shared().deliver(&user, &Mail::new("Not read").bytes());
    let held = desktop.program.ingest(&unread, &["--path", "webhook"], Mail::new("Taken").bytes());
    assert_eq!(held["decision"], "hold", "what others report is taken, and waits: {held}");
    icon.click("Resume");
    peer.wait_taken(2, LIMIT);
    wait_shows(&icon, "watching", "Watching 2 mailboxes.");
    assert!(icon.labels().contains(&"Pause".to_owned()), "{:?}", icon.menu());
    desktop.program.settle();
    assert_eq!(peer.app().taken().len(), 2, "each once");
    quit(&icon, running);
    desktop.program.assert_sound();
}

#[test]
fn much_that_came_in_a_pause_is_told_as_a_digest() {
    let peer = HttpPeer::start(Receiver::new());
    let program = Program::new();
    let mailbox = program.add_unread_mailbox();
    program.add_webhook("phone", &peer, &[]);
    let mut running = program.start_headless();
    program.ok(&["pause", "--minutes", "30"], "");
    for number in 0..6 {
        program.ingest(&mailbox, &[], Mail::new(&format!("Number {number}")).bytes());
    }
    assert_eq!(peer.app().taken().len(), 0, "nothing rings meanwhile");
    program.ok(&["resume"], "");
    peer.wait_taken(1, LIMIT);
    program.settle();
    assert_eq!(peer.app().taken().len(), 1, "more than catch_up.single_max make one digest");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_pause_lasts_over_a_restart_and_ends_by_itself_over_a_sleep() {
    let peer = HttpPeer::start(Receiver::new());
    let mut program = Program::new();
    let clock = WallClock::of(&mut program);
    let user = Dovecot::shared().fresh_user();
    program.add_mailbox(Dovecot::shared(), &user, &[]);
    program.add_webhook("phone", &peer, &[]);
    let until = program.json(&["pause", "--minutes", "30"])["until"].clone();
    let mut running = program.start_headless();
    assert_eq!(program.json(&["status"])["paused_until"], until, "set before the start");
    Dovecot::shared().deliver(&user, &Mail::new("Waits").bytes());
    assert!(running.stop().success());
    let mut running = program.start_headless();
    let status = program.json(&["status"]);
    assert_eq!((&status["paused_until"], &status["mailboxes"][0]["state"]), (&until, &"paused".into()));
    assert_eq!(peer.app().taken().len(), 0, "it is still paused");
    clock.set_offset(31 * 60);
    peer.wait_taken(1, LIMIT);
    assert_eq!(program.json(&["status"])["paused_until"], serde_json::Value::Null, "it is over");
    assert!(running.stop().success());
    program.assert_sound();
}

#[test]
fn a_pause_has_limits_and_can_be_until_tomorrow() {
    let program = Program::new();
    for minutes in ["0", "10081"] {
        let refused = program.run(&["pause", "--minutes", minutes], "");
        assert_eq!(refused.status.code(), Some(1), "{minutes}");
        assert!(refused.stderr.contains("give 1 to 10080"), "{}", refused.stderr);
    }
    assert!(program.ok(&["pause"], "").stdout.starts_with("Paused until "), "until tomorrow");
    program.ok(&["resume"], "");
    assert_eq!(program.json(&["status"])["paused_until"], serde_json::Value::Null);
    let refused = program.run(&["check-now"], "");
    assert!(refused.stderr.contains("not running"), "{}", refused.stderr);
}
