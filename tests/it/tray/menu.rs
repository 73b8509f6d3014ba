//! The menu carries everything; the icon differs in shape by state; a panel may come and go.

use crate::support::dovecot::Dovecot;
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::mail::Mail;
use crate::support::panel::Panel;
use crate::support::receiver::Receiver;
use crate::support::wait::{self, secs};
use crate::tray::bench::{Desktop, quit, wait_shows};

#[test]
fn the_menu_carries_everything_and_a_click_opens_the_window() {
    let desktop = Desktop::new();
    let panel = Panel::start(&desktop.session.address());
    let user = Dovecot::shared().fresh_user();
    desktop.program.add_mailbox(Dovecot::shared(), &user, &[]);
    let running = desktop.program.start(&["--background"]);
    let icon = panel.icon();
    let sentence = "Watching 1 mailbox. No mail yet.";
    wait_shows(&icon, "watching", sentence);
    let menu = [sentence, "Check now", "Pause", "30 minutes", "1 hour", "Until tomorrow", "Needs attention (0)"];
    assert_eq!(icon.labels(), [&menu[..], &["Open Ringonce", "Quit"]].concat());
    assert!(!icon.entry(sentence).enabled && !icon.entry("Needs attention (0)").enabled, "nothing to click there");
    assert_eq!((icon.status().as_str(), desktop.window.lines()), ("Active", Vec::new()), "nobody asked for a window");

    icon.activate();
    desktop.window.wait_attached(1);
    icon.activate();
    desktop.window.wait("open null", 1);
    icon.click("Open Ringonce");
    desktop.window.wait("open null", 2);
    icon.click("Check now");
    Dovecot::shared().deliver(&user, &Mail::new("Shown").bytes());
    wait_shows(&icon, "watching", "Watching 1 mailbox. Last mail: ");
    quit(&icon, running);
    desktop.window.wait("bye", 1);
    assert_eq!((panel.icons(), desktop.window.count("started")), (1, 1), "one icon, one window");
}

#[test]
fn what_needs_attention_is_counted_and_a_click_goes_there() {
    let desktop = Desktop::new();
    let panel = Panel::start(&desktop.session.address());
    desktop.program.hurry();
    let peer = HttpPeer::start(Receiver::new());
    let mailbox = desktop.program.add_unread_mailbox();
    desktop.program.add_webhook("phone", &peer, &[]);
    peer.set(Mode::status(404));
    let running = desktop.program.start(&["--background"]);
    let icon = panel.icon();
    wait_shows(&icon, "watching", "Watching 1 mailbox.");
    desktop.program.ingest(&mailbox, &[], Mail::new("Refused").bytes());
    wait_shows(&icon, "attention", "Watching 1 mailbox.");
    wait::until("it is said", secs(20), || icon.tip().ends_with("1 notification needs attention."));
    assert_eq!(icon.status(), "NeedsAttention");
    icon.click("Needs attention (1)");
    let started = desktop.window.wait("started ", 1);
    assert!(started.ends_with("--place #/attention"), "it goes there at once: {started}");
    desktop.window.wait_attached(1);
    icon.click("Needs attention (1)");
    desktop.window.wait("open \"#/attention\"", 1);
    quit(&icon, running);
}

#[test]
fn a_server_that_is_gone_shows_in_the_shape_of_the_icon() {
    let desktop = Desktop::new();
    let panel = Panel::start(&desktop.session.address());
    let dovecot = Dovecot::start();
    desktop.program.add_mailbox(&dovecot, &dovecot.fresh_user(), &[]);
    let running = desktop.program.start(&["--background"]);
    let icon = panel.icon();
    wait_shows(&icon, "watching", "Watching 1 mailbox.");
    dovecot.stop();
    // Where the tests run without any network, that is what is said.
    wait_shows(&icon, "offline", "No ");
    quit(&icon, running);
}

#[test]
fn a_panel_may_come_later_and_go() {
    let desktop = Desktop::new();
    let running = desktop.program.start(&["--background"]);
    let tray_is = |state: &'static str| desktop.wait_status(state, move |status| status["tray"] == state);
    tray_is("no_host");
    let panel = Panel::start(&desktop.session.address());
    wait_shows(&panel.icon(), "watching", "No mailbox yet.");
    tray_is("shown");
    drop(panel);
    tray_is("no_host");
    let panel = Panel::start(&desktop.session.address());
    tray_is("shown");
    quit(&panel.icon(), running);
    desktop.wait_status("nothing runs", |status| status["tray"] == "none" && status["running"] == false);
}

#[test]
fn without_a_session_bus_the_watching_goes_on() {
    let mut desktop = Desktop::new();
    desktop.program.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus");
    let mut running = desktop.program.start(&[]);
    desktop.window.wait_attached(1);
    desktop.wait_status("it says so", |status| status["tray"] == "no_host");
    assert!(running.stop().success());
}

#[test]
fn it_speaks_the_language_of_the_system() {
    for (locale, open, quit_word) in
        [("pl_PL.UTF-8", "Otwórz Ringonce", "Zakończ"), ("ru_RU.UTF-8", "Открыть Ringonce", "Выход")]
    {
        let mut desktop = Desktop::new();
        desktop.program.env("LC_ALL", locale);
        let panel = Panel::start(&desktop.session.address());
        let mut running = desktop.program.start(&["--background"]);
        let icon = panel.icon();
        assert!(icon.labels().ends_with(&[open.to_owned(), quit_word.to_owned()]), "{locale}: {:?}", icon.labels());
        assert!(running.stop().success());
    }
}

#[test]
fn start_at_login_is_an_entry_of_the_desktop() {
    let mut desktop = Desktop::new();
    let config = desktop.program.scratch().join("config");
    desktop.program.env("XDG_CONFIG_HOME", config.clone());
    let entry = config.join("autostart/ringonce.desktop");
    let mut running = desktop.program.start(&["--background"]);
    desktop.wait_status("it runs", |status| status["tray"] != "none");
    assert!(!entry.exists(), "a data folder of one's own is not started at login unless its owner says so");
    desktop.program.set(&[("ui.start_at_login", "true")]);
    wait::until("there is an entry", secs(20), || entry.exists());
    let text = std::fs::read_to_string(&entry).unwrap();
    let exec = format!("--data-dir \"{}\" --background", desktop.program.data_dir().display());
    assert!(text.lines().any(|line| line.starts_with("Exec=") && line.ends_with(&exec)), "{text}");
    desktop.program.set(&[("ui.start_at_login", "false")]);
    wait::until("it is gone", secs(20), || !entry.exists());
    assert!(running.stop().success());
}
