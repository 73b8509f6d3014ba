//! What happens, as it happens: for `watch` and the demo. The history has it all; these may be missed.

use crate::model::ids::MessageKey;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// What.
    pub event: Event,
    /// The mail, where it is about one.
    pub message_key: Option<MessageKey>,
    /// Its subject, or the alarm's text.
    pub subject: String,
    /// Why.
    pub reason: String,
    /// When, ms UTC.
    pub at: i64,
}

/// Kinds of happening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The owner was told of a mail.
    Ring,
    /// A report of a known mail was suppressed.
    Repeat,
    /// A mail was silent.
    Silent,
    /// An alarm was opened.
    Alarm,
}

impl Event {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Repeat => "repeat",
            Self::Silent => "silent",
            Self::Alarm => "alarm",
        }
    }
}
