//! The tray icon on Linux: a StatusNotifierItem with its menu, over the session bus.

use ksni::menu::{MenuItem, StandardItem, SubMenu};
use ksni::{Category, Handle, OfflineReason, Status, ToolTip, Tray, TrayMethods as _};
use ringonce_engine::supervise::windows::{TrayState, Windows};
use tokio::sync::mpsc::UnboundedSender;

use crate::tray::Action;
use crate::tray::face::{Face, Mark};
use crate::tray::icon::{Ink, pictures};
use crate::tray::words::fill;

const NAME: &str = "Ringonce";

/// The icon; it goes when this is dropped.
pub(super) struct Item {
    handle: Handle<Shown>,
    face: Face,
    ink: Ink,
}

impl Item {
    /// Shows it, now or as soon as something on this desktop shows tray icons.
    pub(super) async fn new(
        face: Face,
        ink: Ink,
        actions: UnboundedSender<Action>,
        windows: Windows,
    ) -> Result<Self, ksni::Error> {
        // Without a host we are told so while it starts.
        windows.set_tray(TrayState::Shown);
        let shown = Shown { face: face.clone(), ink, actions, windows };
        let handle = shown.assume_sni_available(true).spawn().await?;
        Ok(Self { handle, face, ink })
    }

    /// Shows another face.
    pub(super) async fn show(&mut self, face: Face, ink: Ink) {
        if self.face == face && self.ink == ink {
            return;
        }
        self.face = face.clone();
        self.ink = ink;
        let change = |shown: &mut Shown| {
            shown.face = face;
            shown.ink = ink;
        };
        if self.handle.update(change).await.is_none() {
            tracing::debug!("The tray icon is gone");
        }
    }

    /// Takes it away.
    pub(super) async fn end(self) {
        self.handle.shutdown().await;
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        // Asked for now, done by the task that serves it.
        drop(self.handle.shutdown());
    }
}

/// What the bus is told.
struct Shown {
    face: Face,
    ink: Ink,
    actions: UnboundedSender<Action>,
    windows: Windows,
}

impl Shown {
    fn send(&self, action: Action) {
        if self.actions.send(action).is_err() {
            tracing::debug!(?action, "Too late: the program stops");
        }
    }

    fn icons(&self) -> Vec<ksni::Icon> {
        let side = |size| i32::try_from(size).unwrap_or_default();
        pictures(self.face.mark, self.ink)
            .into_iter()
            .map(|picture| ksni::Icon { width: side(picture.size), height: side(picture.size), data: picture.pixels })
            .collect()
    }

    fn pause_or_resume(&self) -> MenuItem<Self> {
        let words = self.face.words;
        if self.face.paused {
            return item(words.resume, Action::Resume);
        }
        let times = [
            item(words.half_an_hour, Action::Pause(Some(30))),
            item(words.an_hour, Action::Pause(Some(60))),
            item(words.until_tomorrow, Action::Pause(None)),
        ];
        SubMenu { label: words.pause.to_owned(), submenu: times.into(), ..SubMenu::default() }.into()
    }
}

impl Tray for Shown {
    fn id(&self) -> String {
        "ringonce".to_owned()
    }

    fn title(&self) -> String {
        NAME.to_owned()
    }

    fn category(&self) -> Category {
        Category::Communications
    }

    fn status(&self) -> Status {
        if self.face.mark == Mark::Attention { Status::NeedsAttention } else { Status::Active }
    }

    fn icon_pixmap(&self) -> Vec<ksni::Icon> {
        self.icons()
    }

    fn attention_icon_pixmap(&self) -> Vec<ksni::Icon> {
        self.icons()
    }

    fn tool_tip(&self) -> ToolTip {
        // A host may read markup in the description, so what comes from a mailbox stands in the title.
        ToolTip { title: self.face.sentence.clone(), ..ToolTip::default() }
    }

    fn activate(&mut self, _x: i32, _y: i32) {
        self.send(Action::Open);
    }

    fn menu(&self) -> Vec<MenuItem<Self>> {
        let words = self.face.words;
        let attention = fill(words.attention, "n", &self.face.attention.to_string());
        vec![
            StandardItem { label: label(&self.face.sentence), enabled: false, ..StandardItem::default() }.into(),
            MenuItem::Separator,
            enabled(words.check_now, Action::CheckNow, !self.face.paused),
            self.pause_or_resume(),
            enabled(&attention, Action::Attention, self.face.attention > 0),
            MenuItem::Separator,
            item(words.open, Action::Open),
            item(words.quit, Action::Quit),
        ]
    }

    fn watcher_online(&self) {
        tracing::info!("The tray icon is shown");
        self.windows.set_tray(TrayState::Shown);
    }

    fn watcher_offline(&self, reason: OfflineReason) -> bool {
        tracing::info!(?reason, "Nothing shows tray icons now");
        self.windows.set_tray(TrayState::NoHost);
        true
    }
}

fn item(words: &str, action: Action) -> MenuItem<Shown> {
    enabled(words, action, true)
}

fn enabled(words: &str, action: Action, enabled: bool) -> MenuItem<Shown> {
    let activate = Box::new(move |shown: &mut Shown| shown.send(action));
    StandardItem { label: label(words), enabled, activate, ..StandardItem::default() }.into()
}

/// In a menu an underscore marks the key of an item, unless it is doubled.
fn label(words: &str) -> String {
    words.replace('_', "__")
}
