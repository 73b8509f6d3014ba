//! Everything known of one mail.

use serde::{Deserialize, Serialize};

use crate::api::history::HistoryRow;

/// What `explain.get` gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// As in the history.
    #[serde(flatten)]
    pub row: HistoryRow,
    /// Every report of it.
    pub deliveries: Vec<DeliveryView>,
    /// Every identifier it is known by.
    pub identities: Vec<IdentityView>,
    /// Every try to tell of it.
    pub attempts: Vec<AttemptView>,
}

/// One report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryView {
    /// Names the event of its source.
    pub delivery_key: String,
    /// By which path.
    pub source: String,
    /// At which place.
    pub locator: String,
    /// What it was found to be.
    pub verdict: String,
    /// How often.
    pub times_seen: i64,
    /// When, first.
    pub first_seen_at: String,
    /// When, last.
    pub last_seen_at: String,
}

/// One identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityView {
    /// `message_id`, `fingerprint` or the provider's kind.
    pub kind: String,
    /// Its value.
    pub value: String,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptView {
    /// The notification it was for.
    pub dispatch_key: String,
    /// Its number.
    pub attempt: i64,
    /// When it was written down.
    pub started_at: String,
    /// When the first byte of the message was about to leave.
    pub payload_started_at: Option<String>,
    /// When it was settled.
    pub finished_at: Option<String>,
    /// `accepted`, `deferred`, `rejected`, `unknown` or `abandoned`; null while it is in hand.
    pub outcome: Option<String>,
    /// What kind of error.
    pub code: Option<String>,
    /// The error for people.
    pub detail: Option<String>,
}
