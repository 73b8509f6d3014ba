//! One report of one mail by one source.

use std::fmt;

use crate::model::ids::{AccountId, DeliveryKey, MailboxId};
use crate::model::mailbox::{FolderCursor, SpecialUse};
use crate::model::message::MailFacts;
use crate::model::occasion::{Ended, Occasion};

/// "This mail, at this place, by this path."
#[derive(Debug, Clone)]
pub struct Sighting {
    /// The account it was seen in.
    pub account_id: AccountId,
    /// Scope of keys.
    pub mailbox_id: MailboxId,
    /// Names this event of this source.
    pub delivery_key: DeliveryKey,
    /// The path: `imap`, `webhook`, `demo`, `self`, or what `ingest --path` says.
    pub source: String,
    /// The place, for people and for finding it again, e.g. `INBOX;UIDVALIDITY=3;UID=7`.
    pub locator: String,
    /// The provider's own ids, best first.
    pub provider_ids: Vec<ProviderId>,
    /// What it tells of the mail.
    pub facts: MailFacts,
    /// INTERNALDATE or the provider's receive time, ms UTC.
    pub received_at: Option<i64>,
    /// Wire name of the folder, where the path has folders.
    pub folder: Option<String>,
    /// What that folder is for.
    pub special_use: SpecialUse,
    /// How it is to be judged.
    pub intent: Intent,
}

/// How a sighting is to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intent {
    /// It arrived: rules decide.
    #[default]
    Arrival,
    /// It was there before the watching began: recorded, silent.
    Baseline,
    /// It is older than the last check of its folder by far: recorded, silent.
    Old,
    /// The folder was numbered anew: known mail is known, what is new enough rings, the rest is baseline.
    Rebuild {
        /// Unknown mail received at or after this rings, ms UTC.
        rings_from: i64,
    },
    /// It arrived while nobody looked, with what else did: rules decide, and it is told when all of that is here.
    Gathered(Occasion),
    /// The source could not read the mail: told as "a mail that could not be read".
    Unreadable,
}

/// An id given by the provider, with its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderId {
    /// `gmail`, `emailid` or `guid`.
    pub kind: String,
    /// As the provider writes it (`gmail`: decimal).
    pub value: String,
}

impl ProviderId {
    /// An id of a kind.
    pub fn new(kind: impl Into<String>, value: impl Into<String>) -> Self {
        Self { kind: kind.into(), value: value.into() }
    }

    /// From `KIND:VALUE`; `None` where a part is empty or a control character stands in it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, value) = text.split_once(':')?;
        let kind = kind.trim().to_ascii_lowercase();
        let value = value.trim();
        let clean = !kind.is_empty() && !value.is_empty() && !text.chars().any(char::is_control);
        clean.then(|| Self::new(kind, value))
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.value)
    }
}

/// What intake found a sighting to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A mail never seen before.
    New,
    /// The same delivery again.
    Repeat,
    /// The same mail by another path or at another place.
    Duplicate,
    /// A known identifier on another mail.
    Collision,
    /// Was there before the watching began.
    Baseline,
    /// Older than the last check of its folder.
    Old,
}

impl Verdict {
    /// As in SQL and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Repeat => "repeat",
            Self::Duplicate => "duplicate",
            Self::Collision => "collision",
            Self::Baseline => "baseline",
            Self::Old => "old",
        }
    }
}

/// What a source hands over in one go. Everything in it is stored in one transaction or not at all.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The sightings, in the order they were seen.
    pub sightings: Vec<Sighting>,
    /// The cursor that goes with them.
    pub cursor: Option<CursorMove>,
    /// With them an occasion is over.
    pub ended: Option<Ended>,
}

/// Where a folder stands once the report is stored.
#[derive(Debug, Clone)]
pub struct CursorMove {
    /// The account.
    pub account_id: AccountId,
    /// Wire name of the folder.
    pub folder: String,
    /// The new position.
    pub cursor: FolderCursor,
}
