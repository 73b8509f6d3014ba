//! The window opens on a new computer.

use ringonce_tests::support::program::Program;
use ringonce_tests::support::screen::Screen;

use crate::driver::Window;

#[tokio::test]
async fn a_new_owner_is_asked_for_a_mailbox() {
    let screen = Screen::new();
    let mut program = Program::new();
    screen.take_in(&mut program);
    let window = Window::open(&screen, &program).await;
    window.see("One mail, one ring").await;
    std::fs::write("/tmp/first.png", window.picture().await).unwrap();
    window.close().await;
}
