//! What an owner does in the window once it is set up.

use std::time::Duration;

use ringonce_tests::support::http_peer::{HttpPeer, Mode};
use ringonce_tests::support::mail::Mail;
use ringonce_tests::support::receiver::Receiver;

use crate::desk::{Desk, signal};
use crate::driver::Window;

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_duplicate_is_shown_with_what_was_kept() {
    let receiver = HttpPeer::start(Receiver::new());
    let desk = Desk::new();
    let mailbox = desk.program.add_unread_mailbox();
    desk.program.add_webhook("Phone", &receiver, &[]);
    let window = Window::open(&desk).await;
    let mail = Mail::new("Twice reported").bytes();
    for (path, id) in [("imap", "one"), ("webhook", "two")] {
        desk.program.ingest(&mailbox, &["--path", path, "--delivery-id", id], &mail);
    }
    receiver.wait_taken(1, LIMIT);
    window.press("Duplicates").await;
    window.see("Twice reported").await;
    window.see("Push and IDLE both reported").await;
    window.press("History").await;
    window.press_row("Twice reported").await;
    window.see("Arrived 2 times, told once.").await;
    window.close().await;
    desk.program.settle();
    assert_eq!(receiver.app().taken().len(), 1, "one mail, one ring");
}

#[tokio::test]
async fn a_dead_letter_is_sent_once_more() {
    let receiver = HttpPeer::start(Receiver::new());
    receiver.set(Mode::status(400));
    let desk = Desk::new();
    desk.program.hurry();
    let mailbox = desk.program.add_unread_mailbox();
    desk.program.add_webhook("Phone", &receiver, &[]);
    let window = Window::open(&desk).await;
    desk.program.ingest(&mailbox, &[], Mail::new("Nobody was told").bytes());
    window.press("Attention").await;
    window.see("Phone was not told about 1 mail.").await;
    window.see("Nobody was told").await;
    receiver.set(Mode::Accept);
    window.press("Retry").await;
    window.see("Nothing is stuck.").await;
    let told = receiver.wait_taken(1, LIMIT);
    assert_eq!(told[0].request.json()["subject"], "Nobody was told", "it is the mail's ring");
    window.close().await;
    desk.program.assert_sound();
}

#[tokio::test]
async fn a_program_that_dies_is_started_again_and_nothing_is_lost() {
    let receiver = HttpPeer::start(Receiver::new());
    let desk = Desk::new();
    let mailbox = desk.program.add_unread_mailbox();
    desk.program.add_webhook("Phone", &receiver, &[]);
    let window = Window::open(&desk).await;
    let before = desk.resident();
    desk.program.ingest(&mailbox, &[], Mail::new("Before the crash").bytes());
    receiver.wait_taken(1, LIMIT);
    // Before its answer is written down nobody could say whether it arrived, and the owner would be told of that.
    desk.program.settle();
    signal(before, "KILL");
    window.press("History").await;
    window.see("Before the crash").await;
    assert_ne!(desk.resident(), before, "another one runs");
    desk.program.ingest(&mailbox, &[], Mail::new("After the crash").bytes());
    window.see("After the crash").await;
    receiver.wait_taken(2, LIMIT);
    window.close().await;
    desk.program.settle();
    assert_eq!(receiver.app().taken().len(), 2, "each mail rang once");
    desk.program.assert_sound();
}

#[tokio::test]
async fn the_window_goes_with_a_program_that_is_told_to_end() {
    let desk = Desk::new();
    let window = Window::open(&desk).await;
    window.see("One mail, one ring.").await;
    desk.signal("TERM");
    window.wait_gone().await;
}
