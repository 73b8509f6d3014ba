//! Puts a mail in as if a source had reported it.

use serde::{Deserialize, Serialize};

/// Parameters of `ingest.put`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutParams {
    /// The mailbox it belongs to, by id or address.
    pub mailbox: String,
    /// What its source is called.
    pub path: String,
    /// Names the event; without it each call is a new one.
    #[serde(default)]
    pub delivery_id: Option<String>,
    /// The provider's ids of the mail, `KIND:VALUE`, best first.
    #[serde(default)]
    pub provider_ids: Vec<String>,
    /// When the provider received it, RFC 3339.
    #[serde(default)]
    pub received_at: Option<String>,
    /// The mail, or its first `limits::IDENTITY_PREFIX_BYTES`, in base64.
    pub mail: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// Names the event.
    pub delivery_key: String,
    /// What it was found to be.
    pub verdict: String,
    /// The mail.
    pub message_key: String,
    /// The action on it.
    pub operation_key: Option<String>,
    /// `notify`, `silent` or `hold`.
    pub decision: Option<String>,
}
