//! Sources beside IMAP.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::mailbox::STOPPED;
use crate::api::view::{ErrorView, Id, Nothing, SecretText};
use crate::api::{Api, invalid, named, not_found};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::SourceId;
use crate::model::topic::Topic;
use crate::net::signature;
use crate::secret::SecretName;
use crate::source::webhook;
use crate::store::table::source::{self, SourceRow};
use crate::supervise::wanted::listener_name;

/// The one kind there is beside IMAP.
const WEBHOOK: &str = "webhook";

/// Parameters of `source.add`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "SourceAddParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// `webhook`.
    pub kind: String,
    /// The mailbox whose mail it reports.
    pub mailbox: String,
    /// Settings; `port` (0: a free one, chosen now and kept).
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub fields: BTreeMap<String, String>,
}

/// What `source.add` gives: the only time the secret is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "SourceAdded"))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::MailboxState"))]
    pub state: String,
    /// What is wrong.
    pub error: Option<ErrorView>,
}

/// Adds a source; gives its URL and its secret, which is not shown again.
///
/// # Errors
/// `invalid` for a kind or field that is not there, `not_found` for the mailbox, `secret` where the secret cannot be kept.
pub async fn add(api: &Api, params: AddParams) -> Result<Added, Fault> {
    if params.kind != WEBHOOK {
        return Err(invalid(
            format!("there is no kind of source {:?}", params.kind),
            format!("the kinds are: {WEBHOOK}"),
        ));
    }
    let mut port = 0;
    for (key, value) in &params.fields {
        port = match (key.as_str(), value.trim().parse::<u16>()) {
            ("port", Ok(port)) => port,
            ("port", Err(_)) => return Err(invalid(format!("{value:?} is not a port"), "give port=0 to 65535")),
            _ => return Err(invalid(format!("{WEBHOOK} has no field {key:?}"), "its fields are: port")),
        };
    }
    let mailbox = api.find(move |read| named::own_mailbox(read, &params.mailbox)).await?;
    if port == 0 {
        port = webhook::free_port().await?;
    }
    let secret = signature::new_secret().map_err(|error| {
        Fault::new(
            FaultCode::Internal,
            "Nothing was changed",
            format!("there are no random numbers ({error})"),
            "try again",
        )
    })?;
    // Who knows the address still needs the secret; but it should not be guessed either.
    let id = SourceId(uuid::Uuid::new_v4().simple().to_string());
    let name = SecretName::source(&id);
    api.keep_secret(&name, secret.clone()).await?;
    let row = SourceRow { id: id.clone(), kind: WEBHOOK.to_owned(), account_id: mailbox.account_id, port };
    let now_at = api.clock.now();
    let stored = api.change(&[Topic::Sources, Topic::Status], move |tx| source::insert(tx, &row, now_at).map(Ok));
    if let Err(fault) = stored.await {
        api.forget_secret(&name).await;
        return Err(fault);
    }
    Ok(Added { url: webhook::url(port, &id), id: id.0, secret: SecretText(secret) })
}

/// Every source, oldest first.
///
/// # Errors
/// `storage`.
pub async fn list(api: &Api, _: Nothing) -> Result<Vec<SourceView>, Fault> {
    let rows = api.read(source::list).await?;
    let view = |row: SourceRow| {
        let health = api.live().map(|live| live.health_of(&listener_name(row.port)));
        SourceView {
            url: webhook::url(row.port, &row.id),
            state: health.as_ref().map_or(STOPPED, |health| health.state.as_str()).to_owned(),
            error: health.and_then(|health| health.error).as_ref().map(ErrorView::from),
            id: row.id.0,
            kind: row.kind,
            mailbox: row.account_id.0,
        }
    };
    Ok(rows.into_iter().map(view).collect())
}

/// Removes a source and its secret.
///
/// # Errors
/// `not_found`; `secret`, where its secret cannot be removed.
pub async fn remove(api: &Api, params: Id) -> Result<Nothing, Fault> {
    let id = SourceId(params.id);
    if !api.read(source::list).await?.iter().any(|row| row.id == id) {
        return Err(not_found("source", id.as_str(), "source list"));
    }
    api.secrets.remove(&SecretName::source(&id)).await?;
    let now_at = api.clock.now();
    api.change(&[Topic::Sources, Topic::Status], move |tx| {
        source::mark_removed(tx, &id, now_at).map(|_| Ok(Nothing {}))
    })
    .await
}
