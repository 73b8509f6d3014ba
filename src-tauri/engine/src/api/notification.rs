//! What the owner does about a notification.

use serde::{Deserialize, Serialize};

/// Parameters of `notification.redrive`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedriveParams {
    /// Dead letters since then, RFC 3339.
    pub since: String,
}

/// Parameters of `notification.notify_again`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgainParams {
    /// The mail.
    pub message_key: String,
}

/// What became of one notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Its key.
    pub dispatch_key: String,
    /// Where it stands now.
    pub status: String,
}

/// What `notification.redrive` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redriven {
    /// Notifications put back.
    pub redriven: u64,
}

/// What `notification.notify_again` did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// The new action.
    pub operation_key: String,
}
