//! The notification service: what it can do, the call that shows a notification, and what its errors mean.

use std::collections::HashMap;

use notify_rust::{Hint, Notification};
use serde::Serialize;
use zbus::zvariant::{OwnedValue, Type, Value};
use zbus::{Connection, Message};

use crate::channel::desktop::desk::Desk;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode};

/// Its name on the bus, which is that of its interface too.
pub(super) const INTERFACE: &str = "org.freedesktop.Notifications";
/// Its object.
pub(super) const PATH: &str = "/org/freedesktop/Notifications";

/// A service that answers.
pub(super) struct Service {
    line: Connection,
    /// Its own name on the bus.
    pub(super) name: String,
    /// What it can do.
    pub(super) capabilities: Vec<String>,
    /// Whether it shows nothing now (do-not-disturb); `None`: it does not say.
    pub(super) inhibited: Option<bool>,
}

impl Service {
    /// Asks what it can do; the bus starts it where it is not there and can be.
    pub(super) async fn find(desk: &Desk) -> Result<Self, zbus::Error> {
        let line = desk.line().await?;
        let answer = match call(&line, INTERFACE, "GetCapabilities", &()).await {
            Err(error) => {
                if is_broken(&error) {
                    desk.lose_line(&line);
                }
                return Err(error);
            }
            Ok(answer) => answer,
        };
        let name = sender(&answer)?;
        let capabilities = answer.body().deserialize()?;
        // KDE has it, and it is in no version of the specification.
        let asked = call(&line, "org.freedesktop.DBus.Properties", "Get", &(INTERFACE, "Inhibited")).await;
        let inhibited = asked.ok().and_then(|answer| {
            let value: OwnedValue = answer.body().deserialize().ok()?;
            bool::try_from(value).ok()
        });
        Ok(Self { line, name, capabilities, inhibited })
    }

    /// Whether it can do this.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|own| own == capability)
    }

    /// Shows a notification in place of another (0: of none); gives the server's name and number.
    pub(super) async fn show(
        &self,
        desk: &Desk,
        notification: &Notification,
        replaces: u32,
    ) -> Result<(String, u32), AttemptOutcome> {
        let hints: HashMap<&str, Value<'_>> = notification.hints.iter().filter_map(hint).collect();
        let body = (
            &notification.appname,
            replaces,
            &notification.icon,
            &notification.summary,
            &notification.body,
            &notification.actions,
            hints,
            i32::from(notification.timeout),
        );
        let shown = call(&self.line, INTERFACE, "Notify", &body).await;
        let shown = shown.and_then(|answer| Ok((sender(&answer)?, answer.body().deserialize()?)));
        shown.map_err(|error| {
            if is_broken(&error) {
                desk.lose_line(&self.line);
            }
            not_shown(&error)
        })
    }
}

async fn call<B>(line: &Connection, interface: &str, method: &str, body: &B) -> Result<Message, zbus::Error>
where
    B: Serialize + Type,
{
    line.call_method(Some(INTERFACE), PATH, Some(interface), method, body).await
}

fn sender(answer: &Message) -> Result<String, zbus::Error> {
    answer.header().sender().map(|name| name.as_str().to_owned()).ok_or(zbus::Error::MissingField)
}

/// The line itself, not the service.
fn is_broken(error: &zbus::Error) -> bool {
    !matches!(error, zbus::Error::MethodError(..) | zbus::Error::Variant(_) | zbus::Error::MissingField)
}

/// The kinds of hint that are given.
fn hint(hint: &Hint) -> Option<(&'static str, Value<'_>)> {
    Some(match hint {
        Hint::Category(text) => ("category", text.as_str().into()),
        Hint::DesktopEntry(text) => ("desktop-entry", text.as_str().into()),
        Hint::SoundName(text) => ("sound-name", text.as_str().into()),
        Hint::SuppressSound(is_so) => ("suppress-sound", (*is_so).into()),
        Hint::Urgency(urgency) => ("urgency", (*urgency as u8).into()),
        _ => return None,
    })
}

/// Nothing was asked to be shown: this computer cannot now.
pub(super) fn absent(detail: impl Into<String>) -> AttemptOutcome {
    let error = ChannelError::new(ErrorCode::TemporaryUnavailable, detail);
    AttemptOutcome::Deferred { error, retry_after: None, environment: true }
}

/// Why there is no service, in words.
pub(super) fn why(error: &zbus::Error) -> String {
    match error {
        zbus::Error::MethodError(name, ..) if is_absence(name.as_str()) => {
            "No notification service runs in this session".to_owned()
        }
        zbus::Error::MethodError(name, ..) => format!("The notification service answers with {name}"),
        zbus::Error::InputOutput(_)
        | zbus::Error::Connection(..)
        | zbus::Error::Handshake(_)
        | zbus::Error::Address(_) => "There is no desktop session (no session bus)".to_owned(),
        _ => "The notification service is not understood".to_owned(),
    }
}

fn is_absence(name: &str) -> bool {
    let Some(kind) = name.strip_prefix("org.freedesktop.DBus.Error.") else { return false };
    kind.starts_with("Spawn.") || matches!(kind, "ServiceUnknown" | "NameHasNoOwner")
}

/// What an error of the call that shows means: an answer says that it was not shown, none says nothing.
fn not_shown(error: &zbus::Error) -> AttemptOutcome {
    let zbus::Error::MethodError(name, ..) = error else {
        return unknown("The session ended while the notification was on its way");
    };
    match name.strip_prefix("org.freedesktop.DBus.Error.") {
        _ if is_absence(name) => absent(why(error)),
        Some("NoReply" | "Timeout" | "TimedOut" | "Disconnected") => {
            unknown("The notification service ended while the notification was on its way")
        }
        _ => AttemptOutcome::Deferred {
            error: ChannelError::new(ErrorCode::TemporaryUnavailable, why(error)),
            retry_after: None,
            environment: false,
        },
    }
}

/// It may be on the screen.
pub(super) fn unknown(detail: &str) -> AttemptOutcome {
    AttemptOutcome::Unknown { error: ChannelError::new(ErrorCode::NoAnswer, detail) }
}
