//! Destinations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::view::{ErrorView, SecretText};

/// Parameters of `destination.add`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The channel's id, e.g. `ntfy`.
    pub kind: String,
    /// The owner's name for it.
    pub name: String,
    /// Fields that are not secret.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// Secret fields.
    #[serde(default)]
    pub secrets: BTreeMap<String, SecretText>,
    /// `never-twice` or `never-lost`; by default the channel's.
    #[serde(default)]
    pub policy: Option<String>,
    /// `full` (the default), `sender` or `none`.
    #[serde(default)]
    pub privacy: Option<String>,
    /// A notification older than this is not sent any more; 0: always.
    #[serde(default)]
    pub max_age_seconds: Option<i64>,
    /// Used only where a route names it.
    #[serde(default)]
    pub fallback_only: bool,
    /// Send a test message before it is kept.
    pub test: bool,
}

/// Parameters of `destination.set`; what is not given stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// Which.
    pub id: String,
    /// The owner's name for it.
    #[serde(default)]
    pub name: Option<String>,
    /// Fields to change; an empty value takes the default again.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// Secret fields to change; an empty one is removed.
    #[serde(default)]
    pub secrets: BTreeMap<String, SecretText>,
    /// `never-twice` or `never-lost`.
    #[serde(default)]
    pub policy: Option<String>,
    /// `full`, `sender` or `none`.
    #[serde(default)]
    pub privacy: Option<String>,
    /// A notification older than this is not sent any more; 0: always.
    #[serde(default)]
    pub max_age_seconds: Option<i64>,
    /// Used only where a route names it.
    #[serde(default)]
    pub fallback_only: Option<bool>,
    /// Send a test message before it is kept.
    pub test: bool,
}

/// How a destination is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestinationStatus {
    /// Its id.
    pub id: String,
    /// The owner's name for it.
    pub name: String,
    /// The channel's id.
    pub kind: String,
    /// `ready`, `failing`, `paused` or `sign_in`.
    pub state: String,
    /// When the channel last accepted something.
    pub last_delivery_at: Option<String>,
    /// What went wrong last, while nothing was accepted since.
    pub error: Option<ErrorView>,
}

/// A row of `destination.list`: how it is doing, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestinationView {
    /// How it is doing.
    #[serde(flatten)]
    pub status: DestinationStatus,
    /// The real target, as in keys.
    pub recipient: String,
    /// `never-twice` or `never-lost`.
    pub policy: String,
    /// `full`, `sender` or `none`.
    pub privacy: String,
    /// A notification older than this is not sent any more.
    pub max_age_seconds: Option<i64>,
    /// Used only where a route names it.
    pub fallback_only: bool,
    /// Fields that are not secret, defaults included.
    pub fields: BTreeMap<String, String>,
}

/// A row of `destination.kinds`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindView {
    /// The channel's id.
    pub kind: String,
    /// What can be done where an answer is lost: `A` (it drops repeats), `B` (it can be asked), `C` (neither).
    pub class: String,
    /// How long it remembers a key (class A).
    pub window_seconds: Option<u64>,
    /// It can be asked what became of a key.
    pub lookup: bool,
    /// A notification can be taken back.
    pub retract: bool,
    /// What a message may measure.
    pub limits: LimitsView,
    /// What the owner fills in.
    pub fields: Vec<FieldView>,
}

/// What a message may measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsView {
    /// Bytes of the title.
    pub title_bytes_max: usize,
    /// Bytes of the text.
    pub body_bytes_max: usize,
}

/// One field of the form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldView {
    /// As in `--set KEY=VALUE`.
    pub key: String,
    /// It is given with `--secret KEY=-` and never shown.
    pub secret: bool,
    /// It makes the recipient.
    pub target: bool,
    /// Must be given.
    pub required: bool,
    /// Used where it is not given.
    pub default: Option<String>,
}
