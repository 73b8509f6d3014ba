//! Every mail, and what came of it; and the same as it happens.

use serde::{Deserialize, Serialize};

use crate::api::view::{ErrorView, Page, parse_time, time};
use crate::api::{Api, invalid, named};
use crate::decide::reason;
use crate::model::error::Fault;
use crate::model::happening::Happening;
use crate::model::notification::{ChannelError, Status};
use crate::model::outcome::Fate;
use crate::outbox::sweep;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::search::{self, Listed, Query};
use crate::store::table::message::MessageRow;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{destination, message, operation, outbox};

/// Parameters of `history.list`; each narrows, what is absent does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "HistoryParams", optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct ListParams {
    /// Rows at most; never more than `limits::PAGE_ROWS_MAX`.
    pub limit: Option<u32>,
    /// The key of the last row of the page before.
    pub before: Option<String>,
    /// Each word begins a word of sender or subject; neither case nor accents count.
    pub text: Option<String>,
    /// Scope of keys of a mailbox (`mailbox_id`).
    pub mailbox: Option<String>,
    /// Whom it was told, or is to be told: a destination by id or name, removed ones too.
    pub destination: Option<String>,
    /// What became of it.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Fate>"))]
    pub outcome: Option<String>,
    /// First seen at or after.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub since: Option<String>,
    /// First seen before.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub until: Option<String>,
}

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
    /// Its author's name, as its From header has it.
    pub from_name: Option<String>,
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
    /// A stable word for `reason`; null where that is a rule's own.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::ReasonCode>"))]
    pub reason_code: Option<String>,
    /// The rule that decided; null: a fixed one.
    pub rule_id: Option<String>,
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

/// Mails that arrived, newest first: all, or those that fit.
///
/// # Errors
/// `not_found`, where `before` is not a mail; `invalid`, where an outcome or time is none.
pub async fn list(api: &Api, params: ListParams) -> Result<Vec<HistoryRow>, Fault> {
    let query = query(&params)?;
    let limit = Page { limit: params.limit, before: None }.rows();
    if !query.is_plain() || params.destination.is_some() {
        catch_up(api).await?;
    }
    api.find(move |read| {
        let before = match before(read, params.before.as_deref())? {
            Ok(before) => before,
            Err(fault) => return Ok(Err(fault)),
        };
        let query = match params.destination.as_deref() {
            Some(name) => query.destinations(&destination::ids_of(read, name)?),
            None => query,
        };
        let rows = search::list(read, &query, Listed::History, before, limit)?;
        Ok(Ok(rows.into_iter().map(|row| show(read, row)).collect::<Result<_, _>>()?))
    })
    .await
}

/// What is asked for, but for the destination.
fn query(params: &ListParams) -> Result<Query, Fault> {
    let at = |time: &Option<String>| time.as_deref().map(parse_time).transpose();
    let mut query = Query::default().seen(at(&params.since)?, at(&params.until)?);
    query = query.text(params.text.as_deref().unwrap_or_default());
    if let Some(mailbox) = &params.mailbox {
        query = query.mailbox(mailbox);
    }
    if let Some(outcome) = &params.outcome {
        let fate = Fate::parse(outcome).ok_or_else(|| {
            let words = Fate::ALL.map(Fate::as_str).join(", ");
            invalid(format!("there is no outcome {outcome:?}"), format!("give one of {words}"))
        })?;
        query = query.fate(fate);
    }
    Ok(query)
}

/// Brings the search index up to what is stored now; without the right to write, pages look at the rest themselves.
pub(super) async fn catch_up(api: &Api) -> Result<(), Fault> {
    let Some(kernel) = &api.kernel else { return Ok(()) };
    Ok(sweep::index(kernel).await?)
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
    let code = first.as_ref().filter(|operation| operation.rule_id.is_none()).and_then(|one| reason::code(&one.reason));
    Ok(HistoryRow {
        message_key: row.message_key.0,
        operation_key: first.as_ref().map(|operation| operation.operation_key.0.clone()),
        mailbox_id: row.mailbox_id.0,
        from: row.facts.from_address,
        from_name: row.facts.from_name,
        subject: row.facts.subject,
        sent_at: row.facts.sent_at.and_then(|sent| sent.at).map(time),
        first_seen_at: time(row.processed_at),
        first_verdict: row.first_verdict.as_str().to_owned(),
        decision: first.as_ref().map(|operation| operation.decision.clone()),
        reason_code: code.map(str::to_owned),
        rule_id: first.as_ref().and_then(|operation| operation.rule_id.clone()).map(|id| id.0),
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
