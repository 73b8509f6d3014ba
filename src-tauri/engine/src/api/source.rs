//! Sources beside IMAP.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::view::{ErrorView, SecretText};

/// Parameters of `source.add`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// `webhook`.
    pub kind: String,
    /// The mailbox whose mail it reports.
    pub mailbox: String,
    /// Settings; `port` (0: a free one, chosen now and kept).
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
}

/// What `source.add` gives: the only time the secret is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Added {
    /// Its id.
    pub id: String,
    /// Where to post to.
    pub url: String,
    /// What to sign with (`whsec_…`, Standard Webhooks).
    pub secret: SecretText,
}

/// A row of `source.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceView {
    /// Its id.
    pub id: String,
    /// `webhook`.
    pub kind: String,
    /// The account id of the mailbox whose mail it reports.
    pub mailbox: String,
    /// Where to post to.
    pub url: String,
    /// `starting`, `watching`, `failing`; `stopped` while nothing runs.
    pub state: String,
    /// What is wrong.
    pub error: Option<ErrorView>,
}
