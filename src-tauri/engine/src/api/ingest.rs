//! Puts a mail in as if a source had reported it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::api::view::parse_time;
use crate::api::{Api, invalid, named};
use crate::identity::keys;
use crate::intake::take_in;
use crate::mail::{self, Completeness};
use crate::model::error::Fault;
use crate::model::mailbox::SpecialUse;
use crate::model::sighting::{Intent, ProviderId, Report, Sighting};
use crate::store::error::StoreError;

/// The path of Ringonce's own messages.
const SELF: &str = "self";

/// Parameters of `ingest.put`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
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
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub provider_ids: Vec<String>,
    /// When the provider received it, RFC 3339.
    #[serde(default)]
    pub received_at: Option<String>,
    /// The mail, or its first `limits::IDENTITY_PREFIX_BYTES`, in base64.
    pub mail: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Put {
    /// Names the event.
    pub delivery_key: String,
    /// What it was found to be.
    pub verdict: String,
    /// The mail.
    pub message_key: String,
    /// The action on it.
    pub operation_key: String,
    /// `notify`, `silent` or `hold`.
    pub decision: String,
    /// Why.
    pub reason: String,
}

/// Puts a mail in, as if a source had reported it.
///
/// # Errors
/// `not_found` for the mailbox, `invalid` for values that do not fit; `storage`, then nothing of it is stored.
pub async fn put(api: &Api, params: PutParams) -> Result<Put, Fault> {
    let provider_ids = params.provider_ids.iter().map(|text| {
        ProviderId::parse(text).ok_or_else(|| {
            invalid(format!("{text:?} is not an id of a provider"), "give KIND:VALUE, such as gmail:1234")
        })
    });
    let provider_ids = provider_ids.collect::<Result<Vec<_>, _>>()?;
    let is_word = |path: &str| path.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
    if params.path.is_empty() || params.path == SELF || !is_word(&params.path) {
        return Err(invalid(format!("{:?} is not a path", params.path), "give one word, such as webhook or imap"));
    }
    let received_at = params.received_at.as_deref().map(parse_time).transpose()?;
    let bytes = BASE64_STANDARD
        .decode(&params.mail)
        .map_err(|_| invalid("the mail is not in base64", "check what was given"))?;
    let mailbox = api.find(move |read| named::own_mailbox(read, &params.mailbox)).await?;
    let delivery_id = params.delivery_id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let sighting = Sighting {
        delivery_key: keys::ingest_delivery(&mailbox.account_id, &params.path, &delivery_id),
        account_id: mailbox.account_id,
        mailbox_id: mailbox.mailbox_id,
        source: params.path,
        locator: format!("ingest {delivery_id}"),
        provider_ids,
        facts: mail::read(&bytes, Completeness::Mail),
        received_at,
        folder: None,
        special_use: SpecialUse::None,
        intent: Intent::Arrival,
    };
    let taken = take_in(api.kernel()?, Report { sightings: vec![sighting], cursor: None, ended: None }).await?;
    let one = taken.into_iter().next().ok_or_else(StoreError::closed)?;
    Ok(Put {
        delivery_key: one.delivery_key.0,
        verdict: one.verdict.as_str().to_owned(),
        message_key: one.message_key.0,
        operation_key: one.operation_key.0,
        decision: one.decision,
        reason: one.reason,
    })
}
