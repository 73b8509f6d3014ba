//! What the owner has to look at: dead letters and uncertain notifications.

use serde::{Deserialize, Serialize};

use crate::api::history::last_error;
use crate::api::view::{ErrorView, Page, time};
use crate::api::{Api, named};
use crate::model::error::Fault;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{destination, message, operation, outbox};

/// A row of `attention.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct AttentionRow {
    /// The notification.
    pub dispatch_key: String,
    /// The mail.
    pub message_key: String,
    /// Its author's address.
    pub from: Option<String>,
    /// Its author's name, as its From header has it.
    pub from_name: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// The owner's name for the destination.
    pub destination: String,
    /// `dead` or `uncertain`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::AttentionStatus"))]
    pub status: String,
    /// Attempts so far in this round.
    pub attempt: i64,
    /// What went wrong last.
    pub last_error: Option<ErrorView>,
    /// Since when it stands so.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub since: String,
}

/// Dead letters and uncertain notifications, newest first.
///
/// # Errors
/// `not_found`, where `before` is not a notification.
pub async fn list(api: &Api, page: Page) -> Result<Vec<AttentionRow>, Fault> {
    let limit = page.rows();
    api.find(move |read| {
        let before = match page.before.map(|key| named::notification(read, &key)).transpose()? {
            None => None,
            Some(Ok(row)) => Some(row.id),
            Some(Err(fault)) => return Ok(Err(fault)),
        };
        let rows = outbox::list_attention(read, before, limit)?;
        Ok(Ok(rows.iter().map(|row| show(read, row)).collect::<Result<_, _>>()?))
    })
    .await
}

fn show(read: Read<'_>, row: &OutboxRow) -> Result<AttentionRow, StoreError> {
    let operation = operation::get(read, &row.operation_key)?;
    let mail = operation.map(|operation| message::get(read, &operation.message_key)).transpose()?.flatten();
    let (message_key, facts) = mail.map(|mail| (mail.message_key.0, mail.facts)).unwrap_or_default();
    Ok(AttentionRow {
        dispatch_key: row.dispatch_key.0.clone(),
        message_key,
        from: facts.from_address,
        from_name: facts.from_name,
        subject: facts.subject,
        destination: destination::name(read, &row.destination_id)?.unwrap_or_default(),
        status: row.status.as_str().to_owned(),
        attempt: row.attempt,
        last_error: last_error(row),
        since: time(row.uncertain_at.or(row.completed_at).unwrap_or(row.created_at)),
    })
}
