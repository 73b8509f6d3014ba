//! From a new computer to the first ring, by what stands on the screen.

use std::time::Duration;

use ringonce_tests::support::dovecot::{Dovecot, User};
use ringonce_tests::support::http_peer::HttpPeer;
use ringonce_tests::support::mail::Mail;
use ringonce_tests::support::receiver::Receiver;

use crate::desk::Desk;
use crate::driver::Window;

const LIMIT: Duration = Duration::from_secs(60);

/// Names the server of the test and trusts its certificate; what is left is the password.
async fn find_server(window: &Window, dovecot: &Dovecot, user: &User) {
    window.see("One mail, one ring.").await;
    window.fill("Your e-mail address", &format!("{}@ringonce.test", user.name)).await;
    window.press("Continue").await;
    window.see("Where is your server?").await;
    window.fill("Server", "localhost").await;
    window.fill("Port", &dovecot.imaps_port.to_string()).await;
    window.fill("User name", &user.name).await;
}

#[tokio::test]
async fn from_an_empty_screen_to_the_first_ring() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let receiver = HttpPeer::start(Receiver::new());
    let desk = Desk::new();
    let window = Window::open(&desk).await;
    find_server(&window, dovecot, &user).await;
    window.fill("Password", "a wrong one").await;
    window.press("Sign in").await;
    window.see("Nobody vouches for the certificate of localhost.").await;
    window.press("Trust this certificate").await;
    window.press("Sign in").await;
    window.see("The server refused this password.").await;
    window.fill("Password", &user.password).await;
    window.press("Sign in").await;
    window.see("Which folders should ring?").await;
    window.press("Start watching").await;
    window.see("Where should it ring?").await;
    window.press_part("A signed request to an address of yours").await;
    window.fill("Address", &format!("{}/hook", receiver.url())).await;
    window.press("Send a test").await;
    window.see("It took the test.").await;
    window.press("Add destination").await;
    window.see("This computer is ready.").await;
    window.press("Continue").await;
    window.see("Let it ring.").await;
    window.press("Send the test").await;
    window.see("Webhook took it.").await;
    window.see("This computer took it.").await;
    window.press("Finish").await;
    window.see("Watching 1 mailbox.").await;
    let before = receiver.app().taken().len();
    dovecot.deliver(&user, &Mail::new("The first of all").bytes());
    let told = receiver.wait_taken(before + 1, LIMIT);
    let last = told.last().expect("one more").request.json();
    assert_eq!(last["subject"], "The first of all", "it is the mail's ring");
    window.press("History").await;
    window.see("The first of all").await;
    window.close().await;
    desk.program.settle();
    assert_eq!(receiver.app().taken().len(), before + 1, "one mail, one ring");
    desk.program.assert_sound();
}
