//! Program and window beside each other: opened, closed, opened again, and opened from a notification.

use std::time::Duration;

use ringonce_tests::support::mail::Mail;
use ringonce_tests::support::wait;

use crate::desk::Desk;
use crate::driver::Window;

const LIMIT: Duration = Duration::from_secs(60);
const TITLE: &str = "Ringonce$";
const TOLD: &str = "Ringonce keeps watching";

#[test]
fn closing_the_window_is_explained_once_and_ends_nothing() {
    let mut desk = Desk::new();
    let _running = desk.program.start(&[]);
    for told in [true, false] {
        wait::until("the window is there", LIMIT, || !desk.desktop.screen().windows(TITLE).is_empty());
        let before = desk.resident();
        // A window that the window manager does not know yet is not closed.
        if told {
            wait::until("the owner is told", LIMIT, || {
                desk.desktop.screen().close(TITLE);
                !desk.desktop.screen().windows(TOLD).is_empty()
            });
            let dialog = desk.desktop.screen().windows(TOLD).remove(0);
            let _ = desk.desktop.screen().xdotool(&["windowactivate", "--sync", &dialog, "key", "Return"]);
        }
        wait::until("the window is gone", LIMIT, || {
            desk.desktop.screen().close(TITLE);
            desk.desktop.screen().windows(TITLE).is_empty()
        });
        assert!(desk.desktop.screen().windows(TOLD).is_empty(), "once is enough");
        assert_eq!(desk.resident(), before, "the watching goes on");
        desk.program.ok(&[], "");
    }
    wait::until("the window is there again", LIMIT, || !desk.desktop.screen().windows(TITLE).is_empty());
}

#[tokio::test]
async fn a_press_on_a_notification_shows_the_mail() {
    let desk = Desk::new();
    let mailbox = desk.program.add_unread_mailbox();
    desk.program.ok(&["destination", "add", "desktop", "--name", "Here", "--no-test"], "");
    let window = Window::open(&desk).await;
    window.press("General").await;
    desk.program.ingest(&mailbox, &[], Mail::new("Press me").bytes());
    desk.desktop.wait_shown(1);
    desk.desktop.dunstctl(&["action", "0"]).expect("dunst answers");
    window.see("Arrived once, told once.").await;
    window.see("Press me").await;
    window.close().await;
}

#[tokio::test]
async fn a_program_of_the_owner_is_run_only_once_the_owner_allowed_it() {
    let mut desk = Desk::new();
    desk.program.add_unread_mailbox();
    let window = Window::open(&desk).await;
    let ran = desk.program.scratch().join("ran");
    window.go("#/destinations/add/command").await;
    window.fill("Command", &format!("touch {}", ran.display())).await;
    for allowed in [false, true] {
        window.press("Send a test").await;
        let asked = "Let Ringonce run a program";
        wait::until("the owner is asked", LIMIT, || !desk.desktop.screen().windows(asked).is_empty());
        assert!(!ran.exists(), "nothing runs before");
        let dialog = desk.desktop.screen().windows(asked).remove(0);
        let key = if allowed { "Return" } else { "Escape" };
        let _ = desk.desktop.screen().xdotool(&["windowactivate", "--sync", &dialog, "key", key]);
        window.see(if allowed { "It took the test." } else { "A value does not fit." }).await;
    }
    assert!(ran.exists(), "it ran once it was allowed");
    window.close().await;
}
