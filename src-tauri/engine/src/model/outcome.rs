//! What became of a mail, as a page narrows its list.

use crate::model::notification::Status;

/// What became of a mail; several may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Somebody was told.
    Told,
    /// A notification is to be sent, or in hand.
    Sending,
    /// It waits, for a time or for other mails.
    Held,
    /// Nobody was to be told.
    Silent,
    /// Nobody can say whether a notification arrived.
    Uncertain,
    /// A notification was given up.
    Dead,
}

impl Fate {
    /// Every one.
    pub const ALL: [Self; 6] = [Self::Told, Self::Sending, Self::Held, Self::Silent, Self::Uncertain, Self::Dead];

    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Sending => "sending",
            Self::Held => "held",
            Self::Silent => "silent",
            Self::Uncertain => "uncertain",
            Self::Dead => "dead",
        }
    }

    /// From JSON.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fate| fate.as_str() == text)
    }

    /// By what was decided when the mail came; `None`: its notifications say.
    #[must_use]
    pub fn of_decision(decision: &str) -> Option<Self> {
        match decision {
            "hold" => Some(Self::Held),
            "silent" => Some(Self::Silent),
            _ => None,
        }
    }

    /// By one of its notifications; `None`: that one says nothing.
    #[must_use]
    pub fn of_status(status: Status) -> Option<Self> {
        match status {
            Status::Pending | Status::Processing => Some(Self::Sending),
            Status::Completed => Some(Self::Told),
            Status::Uncertain => Some(Self::Uncertain),
            Status::Dead => Some(Self::Dead),
            Status::Cancelled => None,
        }
    }
}
