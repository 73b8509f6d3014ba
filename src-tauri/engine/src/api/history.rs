//! Every mail, and what came of it; and the same as it happens.

use serde::{Deserialize, Serialize};

use crate::api::view::{ErrorView, Page, time};
use crate::api::{Api, named};
use crate::model::error::Fault;
use crate::model::happening::Happening;
use crate::model::notification::{ChannelError, Status};
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::message::MessageRow;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{destination, message, operation, outbox};

/// A row of `history.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub sent_at: Option<String>,
    /// When it was first reported.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub first_seen_at: String,
    /// What the first report was found to be.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Verdict"))]
    pub first_verdict: String,
    /// `notify`, `silent` or `hold`.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::DecisionWord>"))]
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// How often it was reported, by all paths.
    pub sightings: i64,
    /// Whom it was told.
    pub notifications: Vec<NotificationView>,
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct NotificationView {
    /// Its key.
    pub dispatch_key: String,
    /// The owner's name for the destination.
    pub destination: String,
    /// The real target.
    pub recipient: String,
    /// `pending`, `processing`, `completed`, `dead`, `uncertain` or `cancelled`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::NotificationStatus"))]
    pub status: String,
    /// Why it was given up or cancelled.
    pub reason: Option<String>,
    /// Attempts so far in this round.
    pub attempt: i64,
    /// When it is to be sent, while it is pending.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub due_at: Option<String>,
    /// When it ended.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub completed_at: Option<String>,
    /// The channel's id of it.
    pub external_message_id: Option<String>,
    /// What went wrong last.
    pub last_error: Option<ErrorView>,
}

/// One thing that happened, as `watch` and the demo show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub at: String,
}

/// Every mail that arrived, newest first.
///
/// # Errors
/// `not_found`, where `before` is not a mail.
pub async fn list(api: &Api, page: Page) -> Result<Vec<HistoryRow>, Fault> {
    let limit = page.rows();
    api.find(move |read| {
        let before = match before(read, page.before.as_deref())? {
            Ok(before) => before,
            Err(fault) => return Ok(Err(fault)),
        };
        let rows = message::list(read, before, limit, false)?;
        Ok(Ok(rows.into_iter().map(|row| show(read, row)).collect::<Result<_, _>>()?))
    })
    .await
}

/// The number of the mail that a page of mails begins after.
pub(super) fn before(read: Read<'_>, key: Option<&str>) -> named::Named<Option<i64>> {
    match key.map(|key| named::message(read, key)).transpose()? {
        None => Ok(Ok(None)),
        Some(Ok(key)) => Ok(Ok(message::id_of(read, &key)?)),
        Some(Err(fault)) => Ok(Err(fault)),
    }
}

/// One mail, with what came of it.
pub(super) fn show(read: Read<'_>, row: MessageRow) -> Result<HistoryRow, StoreError> {
    let operations = operation::list(read, &row.message_key)?;
    let mut notifications = Vec::new();
    for operation in &operations {
        for notification in outbox::list(read, &operation.operation_key)? {
            notifications.push(show_notification(read, &notification)?);
        }
    }
    // The first is what was decided when it came; others are the owner's wish to be told again.
    let first = operations.into_iter().next();
    Ok(HistoryRow {
        message_key: row.message_key.0,
        operation_key: first.as_ref().map(|operation| operation.operation_key.0.clone()),
        mailbox_id: row.mailbox_id.0,
        from: row.facts.from_address,
        subject: row.facts.subject,
        sent_at: row.facts.sent_at.and_then(|sent| sent.at).map(time),
        first_seen_at: time(row.processed_at),
        first_verdict: row.first_verdict.as_str().to_owned(),
        decision: first.as_ref().map(|operation| operation.decision.clone()),
        reason: first.map(|operation| operation.reason),
        sightings: row.sightings,
        notifications,
    })
}

fn show_notification(read: Read<'_>, row: &OutboxRow) -> Result<NotificationView, StoreError> {
    Ok(NotificationView {
        dispatch_key: row.dispatch_key.0.clone(),
        destination: destination::name(read, &row.destination_id)?.unwrap_or_default(),
        recipient: row.recipient.0.clone(),
        status: row.status.as_str().to_owned(),
        reason: row.reason.clone(),
        attempt: row.attempt,
        due_at: (row.status == Status::Pending).then(|| time(row.due_at)),
        completed_at: row.completed_at.map(time),
        external_message_id: row.external_message_id.clone(),
        last_error: last_error(row),
    })
}

/// What went wrong last with a notification.
pub(super) fn last_error(row: &OutboxRow) -> Option<ErrorView> {
    let error: ChannelError = serde_json::from_str(row.last_error.as_deref()?).ok()?;
    Some(ErrorView::from(&error))
}

impl From<Happening> for WatchRow {
    fn from(happening: Happening) -> Self {
        Self {
            event: happening.event.as_str().to_owned(),
            message_key: happening.message_key.map(|key| key.0).unwrap_or_default(),
            subject: Some(happening.subject),
            reason: happening.reason,
            at: time(happening.at),
        }
    }
}
