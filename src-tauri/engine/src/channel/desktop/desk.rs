//! The desk: the one line to the session bus, what was shown over it, and who hears what was pressed.
//!
//! There is one line for all notifications, opened by the first: servers tell of a press, and take a replacement, on
//! the line that sent the notification and on no other (GNOME Shell).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use tokio::sync::Notify;
use zbus::{Connection, MatchRule, Message, MessageStream, message};

use crate::channel::desktop::{Action, service};
use crate::limits::{DESKTOP_SHOWN_MAX, DESKTOP_UNHEARD_MAX};
use crate::model::ids::{DispatchKey, MessageKey};

/// Reason of `NotificationClosed`: its time was over. Some servers keep it in a list from which it can be pressed.
const EXPIRED: u32 = 1;

/// Shared by the channel that shows and by whoever hears what was pressed. Cheap to clone.
#[derive(Clone, Default)]
pub struct Desk(Arc<Parts>);

#[derive(Default)]
struct Parts {
    /// `None`: that of the owner's session.
    address: Option<String>,
    line: Mutex<Option<Connection>>,
    /// Signals of the line, for whoever listens.
    signals: Mutex<Option<MessageStream>>,
    listened_to: AtomicBool,
    opened: Notify,
    /// Newest last.
    shown: Mutex<VecDeque<Shown>>,
}

/// One notification on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// The server's name on the bus. Another one, or a restarted one, has numbers of its own.
    pub(super) server: String,
    /// Its number there.
    pub(super) number: u32,
    /// What it tells of.
    pub(super) message_key: MessageKey,
    /// The duty it fulfils.
    pub(super) dispatch_key: DispatchKey,
}

/// The owner pressed something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pressed {
    /// The mail.
    pub message_key: MessageKey,
    /// What.
    pub action: Action,
}

impl Desk {
    /// On another bus than that of the session.
    #[cfg(test)]
    pub(super) fn at(address: &str) -> Self {
        Self(Arc::new(Parts { address: Some(address.to_owned()), ..Parts::default() }))
    }

    /// The line, opened where there is none.
    pub(super) async fn line(&self) -> Result<Connection, zbus::Error> {
        if let Some(line) = &*lock(&self.0.line) {
            return Ok(line.clone());
        }
        let builder = match &self.0.address {
            Some(address) => zbus::connection::Builder::address(address.as_str())?,
            None => zbus::connection::Builder::session()?,
        };
        let new = builder.build().await?;
        // Signals that nobody reads would hold up the line.
        let signals = if self.0.listened_to.load(Ordering::SeqCst) { Some(signals(&new).await?) } else { None };
        let mut known = lock(&self.0.line);
        if let Some(line) = &*known {
            // Somebody was quicker.
            return Ok(line.clone());
        }
        *known = Some(new.clone());
        *lock(&self.0.signals) = signals;
        self.0.opened.notify_one();
        Ok(new)
    }

    /// The line is of no use any more; the next notification opens another. What was shown over it is forgotten: a new
    /// bus gives the old names to others.
    pub(super) fn lose_line(&self, line: &Connection) {
        let mut known = lock(&self.0.line);
        if known.as_ref().is_some_and(|known| known.unique_name() == line.unique_name()) {
            *known = None;
            lock(&self.0.shown).clear();
        }
    }

    /// The number under which a server shows this already.
    pub(super) fn number_of(&self, key: &DispatchKey, server: &str) -> Option<u32> {
        let shown = lock(&self.0.shown);
        shown.iter().find(|one| &one.dispatch_key == key && one.server == server).map(|one| one.number)
    }

    /// Notes what is on the screen now.
    pub(super) fn note(&self, new: Shown) {
        let mut shown = lock(&self.0.shown);
        shown.retain(|one| {
            one.dispatch_key != new.dispatch_key && !(one.server == new.server && one.number == new.number)
        });
        if shown.len() >= DESKTOP_SHOWN_MAX {
            shown.pop_front();
        }
        shown.push_back(new);
    }

    fn heard(&self, signal: &Message) -> Option<Pressed> {
        let header = signal.header();
        let server = header.sender()?.as_str();
        let mut shown = lock(&self.0.shown);
        let find = |number: u32| shown.iter().position(|one| one.number == number && one.server == server);
        match header.member()?.as_str() {
            "ActionInvoked" => {
                let (number, key): (u32, String) = signal.body().deserialize().ok()?;
                let one = find(number).and_then(|index| shown.get(index))?;
                Some(Pressed { message_key: one.message_key.clone(), action: Action::parse(&key)? })
            }
            "NotificationClosed" => {
                let (number, reason): (u32, u32) = signal.body().deserialize().ok()?;
                if let Some(index) = find(number).filter(|_| reason != EXPIRED) {
                    shown.remove(index);
                }
                None
            }
            _ => None,
        }
    }
}

async fn signals(line: &Connection) -> Result<MessageStream, zbus::Error> {
    let rule = MatchRule::builder()
        .msg_type(message::Type::Signal)
        .path(service::PATH)?
        .interface(service::INTERFACE)?
        .build();
    MessageStream::for_match_rule(rule, line, Some(DESKTOP_UNHEARD_MAX)).await
}

/// Hears what is pressed. There is one at a time.
pub struct Listener {
    desk: Desk,
    signals: Option<MessageStream>,
}

impl Listener {
    /// From now on.
    #[must_use]
    pub fn new(desk: &Desk) -> Self {
        desk.0.listened_to.store(true, Ordering::SeqCst);
        Self { desk: desk.clone(), signals: None }
    }

    /// The next that the owner presses. Dropping this future loses nothing.
    pub async fn next(&mut self) -> Pressed {
        loop {
            let Some(signals) = &mut self.signals else {
                self.desk.0.opened.notified().await;
                self.signals = lock(&self.desk.0.signals).take();
                continue;
            };
            match signals.next().await {
                Some(Ok(signal)) => {
                    if let Some(pressed) = self.desk.heard(&signal) {
                        return pressed;
                    }
                }
                Some(Err(error)) => tracing::debug!("A signal of the session could not be read: {error}"),
                None => self.end(),
            }
        }
    }

    /// The session ended, or the bus was restarted.
    fn end(&mut self) {
        self.signals = None;
        let line = lock(&self.desk.0.line).clone();
        if let Some(line) = line {
            self.desk.lose_line(&line);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.desk.0.listened_to.store(false, Ordering::SeqCst);
    }
}

/// Locks for a short section; a panic elsewhere does not make the value unusable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
