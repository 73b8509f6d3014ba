//! The window: which one is attached, and how one is asked for. The window is another program; it attaches itself over
//! the local socket, and the resident program with a tray starts it where none is.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};

use crate::kernel::lock;
use crate::model::error::{Fault, FaultCode};

/// Whether the owner sees a tray icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrayState {
    /// It is shown.
    Shown,
    /// Nothing on this desktop shows tray icons now.
    NoHost,
    /// There is none: the program runs without a screen, or nothing runs.
    #[default]
    None,
}

impl TrayState {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::NoHost => "no_host",
            Self::None => "none",
        }
    }
}

/// The window that is attached, if one is, and whoever starts one. Cheap to clone.
#[derive(Clone)]
pub struct Windows(Arc<Parts>);

struct Parts {
    slot: Mutex<Slot>,
    attached: watch::Sender<bool>,
    tray: watch::Sender<TrayState>,
}

#[derive(Default)]
struct Slot {
    window: Option<UnboundedSender<Option<String>>>,
    starter: Option<UnboundedSender<Asked>>,
}

/// Somebody asks for a window where none is attached.
pub struct Asked {
    /// Where in it to go.
    pub place: Option<String>,
    /// Whether one is being started now.
    pub answer: oneshot::Sender<Result<(), Fault>>,
}

impl Default for Windows {
    fn default() -> Self {
        Self(Arc::new(Parts {
            slot: Mutex::default(),
            attached: watch::Sender::new(false),
            tray: watch::Sender::new(TrayState::None),
        }))
    }
}

/// A window's place at the table; given back when dropped.
pub struct Attached {
    places: UnboundedReceiver<Option<String>>,
    windows: Windows,
}

impl Windows {
    /// Makes the caller the window. `None`: another one is.
    #[must_use]
    pub fn attach(&self) -> Option<Attached> {
        let mut slot = lock(&self.0.slot);
        if slot.window.is_some() {
            return None;
        }
        let (window, places) = unbounded_channel();
        slot.window = Some(window);
        self.0.attached.send_replace(true);
        Some(Attached { places, windows: self.clone() })
    }

    /// Whether a window is attached, now and later.
    #[must_use]
    pub fn attached(&self) -> watch::Receiver<bool> {
        self.0.attached.subscribe()
    }

    /// From now on whoever holds the receiver starts a window when one is asked for and none is attached.
    #[must_use]
    pub fn be_starter(&self) -> UnboundedReceiver<Asked> {
        let (starter, asked) = unbounded_channel();
        lock(&self.0.slot).starter = Some(starter);
        asked
    }

    /// Raises the window that is attached; `false`: there is none.
    pub fn raise(&self, place: Option<String>) -> bool {
        lock(&self.0.slot).window.as_ref().is_some_and(|window| window.send(place).is_ok())
    }

    /// Raises the window, or has one started.
    ///
    /// # Errors
    /// `invalid`, where the program runs without a screen; what the starter says.
    pub async fn open(&self, place: Option<String>) -> Result<(), Fault> {
        if self.raise(place.clone()) {
            return Ok(());
        }
        let (answer, answered) = oneshot::channel();
        let asked = lock(&self.0.slot).starter.as_ref().is_some_and(|to| to.send(Asked { place, answer }).is_ok());
        let nobody = || {
            let next_step = "stop it and start it with `ringonce` where there is a screen";
            Fault::new(FaultCode::Invalid, "No window was opened", "Ringonce runs without a screen", next_step)
        };
        if !asked {
            return Err(nobody());
        }
        answered.await.unwrap_or_else(|_| Err(nobody()))
    }

    /// Notes whether the owner sees the tray icon.
    pub fn set_tray(&self, state: TrayState) {
        self.0.tray.send_replace(state);
    }

    /// Whether the owner sees the tray icon, now and later.
    #[must_use]
    pub fn tray(&self) -> watch::Receiver<TrayState> {
        self.0.tray.subscribe()
    }
}

impl Attached {
    /// Somebody asks for the window, at this place; never, once nobody can any more.
    pub async fn asked(&mut self) -> Option<String> {
        match self.places.recv().await {
            Some(place) => place,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        lock(&self.windows.0.slot).window = None;
        self.windows.0.attached.send_replace(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_window_is_attached_and_is_asked_first() {
        let windows = Windows::default();
        let place = || Some("#/attention".to_owned());
        assert!(windows.open(None).await.is_err(), "nobody can open one");
        let mut asked = windows.be_starter();
        let starter = async {
            let one = asked.recv().await.unwrap();
            one.answer.send(Ok(())).unwrap();
            one.place
        };
        assert_eq!(tokio::join!(windows.open(place()), starter), (Ok(()), place()), "one is started");
        let mut first = windows.attach().expect("nobody is");
        assert!(windows.attach().is_none() && *windows.attached().borrow(), "there is one already");
        assert!(windows.open(place()).await.is_ok(), "it is raised");
        assert_eq!(first.asked().await, place());
        assert!(asked.try_recv().is_err(), "and no second one is started");
        drop(first);
        assert!(!*windows.attached().borrow() && windows.attach().is_some(), "the place is free again");
    }
}
