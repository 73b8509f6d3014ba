//! Every mail, and what came of it; and the same as it happens.

use serde::{Deserialize, Serialize};

use crate::api::view::ErrorView;

/// A row of `history.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// The mail.
    pub message_key: String,
    /// The action on it.
    pub operation_key: Option<String>,
    /// Scope of keys.
    pub mailbox_id: String,
    /// Its author's address.
    pub from: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// Its Date header.
    pub sent_at: Option<String>,
    /// When it was first reported.
    pub first_seen_at: String,
    /// What the first report was found to be.
    pub first_verdict: String,
    /// `notify`, `silent` or `hold`.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// How often it was reported, by all paths.
    pub sightings: u64,
    /// Whom it was told.
    pub notifications: Vec<NotificationView>,
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationView {
    /// Its key.
    pub dispatch_key: String,
    /// The owner's name for the destination.
    pub destination: String,
    /// The real target.
    pub recipient: String,
    /// `pending`, `processing`, `completed`, `dead`, `uncertain` or `cancelled`.
    pub status: String,
    /// Attempts so far in this round.
    pub attempt: i64,
    /// The channel's id of it.
    pub external_message_id: Option<String>,
    /// What went wrong last.
    pub last_error: Option<ErrorView>,
}

/// One thing that happened, as `watch` and the demo show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchRow {
    /// `ring`, `repeat`, `silent` or `alarm`.
    pub event: String,
    /// The mail.
    pub message_key: String,
    /// Its subject.
    pub subject: Option<String>,
    /// Why, for people.
    pub reason: String,
    /// When.
    pub at: String,
}
