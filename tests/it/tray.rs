//! The tray icon as a panel sees it: what it shows, what its menu says, what a click does.

mod bench;
mod menu;
mod pause;
