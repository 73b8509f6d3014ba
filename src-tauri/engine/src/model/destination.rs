//! Destinations and routes: whom to tell, and by which way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::{DestinationId, Recipient, RouteId};

/// The kind of the destinations that are this computer.
pub const THIS_COMPUTER: &str = "desktop";

/// A configured target of the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Its id.
    pub id: DestinationId,
    /// The owner's name for it.
    pub name: String,
    /// The channel's id, e.g. `ntfy`.
    pub kind: String,
    /// Fields that are not secret, defaults included. Secret ones are in the secret store.
    pub fields: BTreeMap<String, String>,
    /// The real target.
    pub recipient: Recipient,
    /// What to do with a notification whose outcome cannot be found out.
    pub policy: Policy,
    /// How much of a mail leaves this computer by it.
    pub privacy: Privacy,
    /// A notification older than this is not sent any more, in seconds.
    pub max_age_seconds: Option<i64>,
    /// Used only where a route names it.
    pub fallback_only: bool,
    /// Why nothing is sent to it now.
    pub paused: Option<PauseReason>,
}

impl Destination {
    /// A notification decided at this time or before is not sent any more, ms UTC; `None`: none is too old.
    #[must_use]
    pub fn oldest_wanted_at(&self, now_at: i64) -> Option<i64> {
        self.max_age_seconds.map(|seconds| now_at.saturating_sub(seconds.saturating_mul(1000)))
    }
}

/// What to do when nobody can say whether a notification arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Hold it and ask the owner.
    NeverTwice,
    /// Send it again, marked "may be a repeat".
    NeverLost,
}

impl Policy {
    /// As on the command line and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeverTwice => "never-twice",
            Self::NeverLost => "never-lost",
        }
    }

    /// From the command line or the database.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "never-twice" => Some(Self::NeverTwice),
            "never-lost" => Some(Self::NeverLost),
            _ => None,
        }
    }
}

/// How much of a mail leaves this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Privacy {
    /// Sender, subject and the first words.
    Full,
    /// Only the sender.
    Sender,
    /// Nothing but "new mail".
    None,
}

impl Privacy {
    /// As on the command line and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sender => "sender",
            Self::None => "none",
        }
    }

    /// From the command line or the database.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "full" => Some(Self::Full),
            "sender" => Some(Self::Sender),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

/// Why a destination is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseReason {
    /// The owner asked for it.
    Owner,
    /// The channel refused the credentials: the owner has to give new ones.
    SignIn,
}

impl PauseReason {
    /// As in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::SignIn => "sign_in",
        }
    }

    /// From the database.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "owner" => Some(Self::Owner),
            "sign_in" => Some(Self::SignIn),
            _ => None,
        }
    }
}

/// A primary destination and its fallbacks, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Its id.
    pub id: RouteId,
    /// The owner's name for it.
    pub name: String,
    /// Members in order; the first is the primary. Never empty.
    pub members: Vec<DestinationId>,
}
