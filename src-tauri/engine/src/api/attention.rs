//! What the owner has to look at: dead letters and uncertain notifications.

use serde::{Deserialize, Serialize};

use crate::api::view::ErrorView;

/// A row of `attention.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionRow {
    /// The notification.
    pub dispatch_key: String,
    /// The mail.
    pub message_key: String,
    /// Its subject.
    pub subject: Option<String>,
    /// The owner's name for the destination.
    pub destination: String,
    /// `dead` or `uncertain`.
    pub status: String,
    /// Attempts so far in this round.
    pub attempt: i64,
    /// What went wrong last.
    pub last_error: Option<ErrorView>,
    /// Since when it stands so.
    pub since: String,
}
