//! A desktop: a session bus, and the program with its tray icon on it.

use serde_json::Value;

use crate::support::keyring::Session;
use crate::support::panel::Icon;
use crate::support::program::{Program, Running};
use crate::support::wait::{self, secs};
use crate::support::window::Window;

/// A bus of its own, and a program for it.
pub(crate) struct Desktop {
    pub(crate) session: Session,
    pub(crate) program: Program,
    pub(crate) window: Window,
}

impl Desktop {
    pub(crate) fn new() -> Self {
        let mut session = Session::new();
        session.start_bus();
        let mut program = Program::new();
        program.env("DBUS_SESSION_BUS_ADDRESS", session.address());
        let window = Window::of(&mut program);
        Self { session, program, window }
    }

    #[track_caller]
    pub(crate) fn wait_status(&self, what: &str, fits: impl Fn(&Value) -> bool) {
        let found = wait::find(secs(30), || fits(&self.program.json(&["status"])).then_some(()));
        assert!(found.is_some(), "{what}: {}", self.program.json(&["status"]));
    }
}

/// The drawing of a mark, 22 pixels wide.
fn drawn(mark: &str) -> Vec<u8> {
    let file = format!("{}/../icons/tray/{mark}.alpha", env!("CARGO_MANIFEST_DIR"));
    let all = std::fs::read(&file).expect("the icons are drawn");
    all[16 * 16..][..22 * 22].to_vec()
}

/// Waits until the icon is this one and says this.
#[track_caller]
pub(crate) fn wait_shows(icon: &Icon<'_>, mark: &str, tip: &str) {
    let drawn = drawn(mark);
    let shows = || (icon.coverage(22) == drawn && icon.tip().starts_with(tip)).then_some(());
    let found = wait::find(secs(30), shows);
    assert!(found.is_some(), "the icon {mark} with {tip:?} was awaited; it says {:?}", icon.tip());
}

/// The owner quits in the menu: the click is answered, and the program ends well.
#[track_caller]
pub(crate) fn quit(icon: &Icon<'_>, mut running: Running) {
    icon.click("Quit");
    let status = running.wait_exit(secs(20));
    assert!(status.success(), "it ended with {status}: {}", running.log());
}
