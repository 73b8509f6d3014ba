//! Everything known of one mail.

use serde::{Deserialize, Serialize};

use crate::api::history::{self, HistoryRow};
use crate::api::view::{ErrorView, Id, time};
use crate::api::{Api, named, not_found};
use crate::model::error::Fault;
use crate::model::ids::{DispatchKey, MessageKey};
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::attempt::AttemptRow;
use crate::store::table::delivery::DeliveryRow;
use crate::store::table::mail_action::MailActionRow;
use crate::store::table::{attempt, delivery, mail_action, message, operation, outbox};
use crate::supervise::desktop::link_of;

/// What `explain.get` gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Explanation {
    /// As in the history.
    #[serde(flatten)]
    pub row: HistoryRow,
    /// Every report of it.
    pub deliveries: Vec<DeliveryView>,
    /// Every identifier it is known by.
    pub identities: Vec<IdentityView>,
    /// Every try to tell of it.
    pub attempts: Vec<AttemptView>,
    /// What the owner had done to it.
    pub actions: Vec<ActionView>,
    /// What opens it, by the link of its mailbox; null: that has none.
    pub link: Option<String>,
}

/// One report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DeliveryView {
    /// Names the event of its source.
    pub delivery_key: String,
    /// By which path.
    pub source: String,
    /// At which place.
    pub locator: String,
    /// What it was found to be.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Verdict"))]
    pub verdict: String,
    /// Why, in words.
    pub reason: String,
    /// How often.
    pub times_seen: i64,
    /// When, first.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub first_seen_at: String,
    /// When, last.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub last_seen_at: String,
}

/// One identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct IdentityView {
    /// `message_id`, `fingerprint` or the provider's kind.
    pub kind: String,
    /// Its value.
    pub value: String,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct AttemptView {
    /// The notification it was for.
    pub dispatch_key: String,
    /// Its number.
    pub attempt: i64,
    /// When it was written down.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub started_at: String,
    /// When the first byte of the message was about to leave.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub payload_started_at: Option<String>,
    /// When it was settled.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub finished_at: Option<String>,
    /// `accepted`, `deferred`, `rejected`, `unknown` or `abandoned`; null while it is in hand.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Outcome>"))]
    pub outcome: Option<String>,
    /// What kind of error.
    pub code: Option<String>,
    /// The error for people.
    pub detail: Option<String>,
}

/// Something the owner had done to a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ActionView {
    /// `mark_read`.
    pub action: String,
    /// When it was asked for.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub started_at: String,
    /// When it ended.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub finished_at: Option<String>,
    /// `done` or `failed`; null while it is in hand, and where the program ended meanwhile.
    pub outcome: Option<String>,
    /// What went wrong.
    pub error: Option<ErrorView>,
}

/// Everything known of a mail, by its key or that of one of its notifications.
///
/// # Errors
/// `not_found`; `invalid` for what is not a key.
pub async fn get(api: &Api, params: Id) -> Result<Explanation, Fault> {
    api.find(move |read| {
        let key = match named::message(read, &params.id)? {
            Ok(key) => key,
            Err(fault) => return Ok(Err(fault)),
        };
        let Some(mail) = message::get(read, &key)? else {
            return Ok(Err(not_found("mail", &params.id, "history")));
        };
        let identities =
            mail.identifiers().into_iter().map(|(kind, value)| IdentityView { kind: kind.to_owned(), value }).collect();
        let deliveries = delivery::list(read, &key)?.into_iter().map(DeliveryView::from).collect();
        let attempts = attempts(read, &key)?;
        let actions = mail_action::list(read, &key)?.into_iter().map(ActionView::from).collect();
        let link = link_of(read, &mail)?.map(String::from);
        Ok(Ok(Explanation { row: history::show(read, mail)?, deliveries, identities, attempts, actions, link }))
    })
    .await
}

fn attempts(read: Read<'_>, key: &MessageKey) -> Result<Vec<AttemptView>, StoreError> {
    let mut attempts = Vec::new();
    for operation in operation::list(read, key)? {
        for row in outbox::list(read, &operation.operation_key)? {
            let of_row = attempt::list(read, &row.dispatch_key)?;
            attempts.extend(of_row.into_iter().map(|attempt| AttemptView::new(&row.dispatch_key, attempt)));
        }
    }
    attempts.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    Ok(attempts)
}

impl AttemptView {
    fn new(key: &DispatchKey, row: AttemptRow) -> Self {
        Self {
            dispatch_key: key.0.clone(),
            attempt: row.attempt,
            started_at: time(row.started_at),
            payload_started_at: row.payload_started_at.map(time),
            finished_at: row.finished_at.map(time),
            outcome: row.outcome,
            code: row.code,
            detail: row.detail,
        }
    }
}

impl From<MailActionRow> for ActionView {
    fn from(row: MailActionRow) -> Self {
        let error = row.code.zip(row.detail).map(|(code, detail)| ErrorView { code, detail });
        Self {
            action: row.action,
            started_at: time(row.started_at),
            finished_at: row.finished_at.map(time),
            outcome: row.outcome,
            error,
        }
    }
}

impl From<DeliveryRow> for DeliveryView {
    fn from(row: DeliveryRow) -> Self {
        Self {
            delivery_key: row.delivery_key.0,
            source: row.source,
            locator: row.locator,
            verdict: row.verdict,
            reason: row.reason,
            times_seen: row.times_seen,
            first_seen_at: time(row.first_seen_at),
            last_seen_at: time(row.last_seen_at),
        }
    }
}
