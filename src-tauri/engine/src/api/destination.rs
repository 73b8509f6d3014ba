//! Destinations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::view::{ErrorView, Id, Nothing, SecretText, time};
use crate::api::{Api, named};
use crate::channel::{self, Class, Form, Kind};
use crate::model::destination::{Destination, PauseReason};
use crate::model::error::Fault;
use crate::model::notification::ChannelError;
use crate::model::topic::Topic;
use crate::store::table::destination;

/// Parameters of `destination.add`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DestinationAddParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The channel's id, e.g. `ntfy`.
    pub kind: String,
    /// The owner's name for it.
    pub name: String,
    /// Fields that are not secret.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub fields: BTreeMap<String, String>,
    /// Secret fields.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub secrets: BTreeMap<String, SecretText>,
    /// `never-twice` or `never-lost`; by default the channel's.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Policy>"))]
    pub policy: Option<String>,
    /// `full` (the default), `sender` or `none`.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Privacy>"))]
    pub privacy: Option<String>,
    /// A notification older than this is not sent any more; 0: always.
    #[serde(default)]
    pub max_age_seconds: Option<i64>,
    /// Used only where a route names it.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub fallback_only: bool,
    /// Send a test message before it is kept.
    pub test: bool,
}

/// Parameters of `destination.set`; what is not given stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DestinationSetParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// Which.
    pub id: String,
    /// The owner's name for it.
    #[serde(default)]
    pub name: Option<String>,
    /// Fields to change; an empty value takes the default again.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub fields: BTreeMap<String, String>,
    /// Secret fields to change; an empty one is removed.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub secrets: BTreeMap<String, SecretText>,
    /// `never-twice` or `never-lost`.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Policy>"))]
    pub policy: Option<String>,
    /// `full`, `sender` or `none`.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Privacy>"))]
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

/// Parameters of `destination.try`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DestinationTryParams", optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct TryParams {
    /// A stored one, of which only what is given here differs.
    pub id: Option<String>,
    /// The channel's id, where it is not stored.
    pub kind: Option<String>,
    /// The owner's name for it: it stands in the message.
    #[cfg_attr(feature = "types", ts(type = "string"))]
    pub name: String,
    /// Fields that are not secret.
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub fields: BTreeMap<String, String>,
    /// Secret fields.
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub secrets: BTreeMap<String, SecretText>,
}

/// How a destination is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DestinationStatus {
    /// Its id.
    pub id: String,
    /// The owner's name for it.
    pub name: String,
    /// The channel's id.
    pub kind: String,
    /// `ready`, `failing`, `paused` or `sign_in`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::DestinationState"))]
    pub state: String,
    /// When the channel last accepted something.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub last_delivery_at: Option<String>,
    /// What went wrong last, while nothing was accepted since.
    pub error: Option<ErrorView>,
}

/// A row of `destination.list`: how it is doing, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DestinationView {
    /// How it is doing.
    #[serde(flatten)]
    pub status: DestinationStatus,
    /// The real target, as in keys.
    pub recipient: String,
    /// `never-twice` or `never-lost`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Policy"))]
    pub policy: String,
    /// `full`, `sender` or `none`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Privacy"))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct KindView {
    /// The channel's id.
    pub kind: String,
    /// What can be done where an answer is lost: `A` (it drops repeats), `B` (it can be asked), `C` (neither).
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::DeliveryClass"))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct LimitsView {
    /// Bytes of the title.
    pub title_bytes_max: usize,
    /// Bytes of the text.
    pub body_bytes_max: usize,
}

/// One field of the form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
    /// What its value looks like.
    #[cfg_attr(
        feature = "types",
        ts(
            type = "{ kind: 'url' } | { kind: 'text' } | { kind: 'bool' } | { kind: 'number'; min: number; max: number }"
        )
    )]
    pub form: FormView,
}

/// What the value of a field looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FormView {
    /// An http or https URL.
    Url,
    /// Any one line.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number, both ends included.
    Number {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
}

impl From<Form> for FormView {
    fn from(form: Form) -> Self {
        match form {
            Form::Url => Self::Url,
            Form::Text => Self::Text,
            Form::Bool => Self::Bool,
            Form::Number { min, max } => Self::Number { min, max },
        }
    }
}

/// Every destination, oldest first.
///
/// # Errors
/// `storage`.
pub async fn list(api: &Api, _: Nothing) -> Result<Vec<DestinationView>, Fault> {
    api.read(|read| {
        let mut views = Vec::new();
        for destination in destination::list(read)? {
            let (delivered_at, error) = destination::outcome(read, &destination.id)?;
            views.push(show(destination, delivered_at, error.as_ref()));
        }
        Ok(views)
    })
    .await
}

/// Sends nothing to a destination until it is resumed; what is decided meanwhile waits.
///
/// # Errors
/// `not_found`.
pub async fn pause(api: &Api, params: Id) -> Result<Nothing, Fault> {
    mark_paused(api, params.id, Some(PauseReason::Owner)).await
}

/// Sends to a destination again.
///
/// # Errors
/// `not_found`.
pub async fn resume(api: &Api, params: Id) -> Result<Nothing, Fault> {
    mark_paused(api, params.id, None).await
}

/// Every kind of destination there is.
///
/// # Errors
/// None.
pub async fn kinds(_: &Api, _: Nothing) -> Result<Vec<KindView>, Fault> {
    Ok(channel::KINDS.iter().map(|kind| KindView::from(*kind)).collect())
}

async fn mark_paused(api: &Api, id: String, paused: Option<PauseReason>) -> Result<Nothing, Fault> {
    api.change(&[Topic::Destinations, Topic::Status, Topic::Attention], move |tx| {
        let found = match named::destination(*tx, &id)? {
            Ok(found) => found,
            Err(fault) => return Ok(Err(fault)),
        };
        destination::mark_paused(tx, &found.id, paused)?;
        Ok(Ok(Nothing {}))
    })
    .await
}

fn show(destination: Destination, delivered_at: Option<i64>, error: Option<&ChannelError>) -> DestinationView {
    let state = match (destination.paused, error) {
        (Some(PauseReason::Owner), _) => "paused",
        (Some(PauseReason::SignIn), _) => "sign_in",
        (None, Some(_)) => "failing",
        (None, None) => "ready",
    };
    let status = DestinationStatus {
        id: destination.id.0,
        name: destination.name,
        kind: destination.kind,
        state: state.to_owned(),
        last_delivery_at: delivered_at.map(time),
        error: error.map(ErrorView::from),
    };
    DestinationView {
        status,
        recipient: destination.recipient.0,
        policy: destination.policy.as_str().to_owned(),
        privacy: destination.privacy.as_str().to_owned(),
        max_age_seconds: destination.max_age_seconds,
        fallback_only: destination.fallback_only,
        fields: destination.fields,
    }
}

impl From<&Kind> for KindView {
    fn from(kind: &Kind) -> Self {
        let class = match (kind.classify)(&BTreeMap::new()) {
            Class::A { .. } => "A",
            Class::B { .. } => "B",
            Class::C => "C",
        };
        let fields = kind.fields.iter().map(|field| FieldView {
            key: field.key.to_owned(),
            secret: field.secret,
            target: field.target,
            required: field.required,
            default: field.default.map(str::to_owned),
            form: field.form.into(),
        });
        Self {
            kind: kind.id.to_owned(),
            class: class.to_owned(),
            window_seconds: kind.window.map(|window| window.as_secs()),
            lookup: kind.lookup,
            retract: kind.retract,
            limits: LimitsView {
                title_bytes_max: kind.limits.title_bytes_max,
                body_bytes_max: kind.limits.body_bytes_max,
            },
            fields: fields.collect(),
        }
    }
}
