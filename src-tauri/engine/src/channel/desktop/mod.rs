//! Channel `desktop`: a notification on this computer, by the service of the owner's session (Desktop Notifications
//! Specification 1.2).
//!
//! Nobody can be asked later what became of one, so its class is C. What this run has shown it shows again in its own
//! place, and while no service or no session is there, it waits.

pub mod desk;
mod send;
mod service;
#[cfg(test)]
mod tests;
mod text;

use crate::channel::desktop::desk::Desk;
use crate::channel::{Class, Kind, Limits};
use crate::model::destination::{Policy, THIS_COMPUTER};
use crate::model::settings::Settings;
use crate::words::Language;

/// The channel.
pub const KIND: Kind = Kind {
    id: THIS_COMPUTER,
    name_key: "channel.desktop",
    classify: |_| Class::C,
    window: None,
    lookup: false,
    retract: false,
    limits: Limits { title_bytes_max: text::SUMMARY_BYTES_MAX, body_bytes_max: text::BODY_BYTES_MAX },
    // A second bubble is a small evil, and who was away overnight wants no fifty of them in the morning.
    policy: Policy::NeverLost,
    max_age_seconds: Some(12 * 3600),
    fields: &[],
    build: send::build,
};

/// What a notification on this computer needs beside its destination.
#[derive(Clone, Default)]
pub struct Seat {
    /// The line to the owner's session.
    pub desk: Desk,
    /// How the owner wants to be told there.
    pub manner: Manner,
}

/// How the owner wants to be told on this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// It may make a sound.
    pub sound: bool,
    /// Do-not-disturb holds.
    pub respect_do_not_disturb: bool,
    /// What the buttons are written in.
    pub language: Language,
}

impl Default for Manner {
    fn default() -> Self {
        Self::of(&Settings::default())
    }
}

impl Manner {
    /// As the settings in force have it.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        Self {
            sound: settings.desktop_sound,
            respect_do_not_disturb: settings.desktop_respect_do_not_disturb,
            language: settings.language.language(),
        }
    }
}

/// What was pressed on a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The notification itself, or its button to open.
    Open,
    /// Its button to mark the mail as read.
    MarkRead,
}

impl Action {
    /// The key of the notification itself, which the specification names.
    const ITSELF: &'static str = "default";

    fn key(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::MarkRead => "mark-read",
        }
    }

    fn parse(key: &str) -> Option<Self> {
        match key {
            Self::ITSELF => Some(Self::Open),
            key => [Self::Open, Self::MarkRead].into_iter().find(|action| action.key() == key),
        }
    }
}
