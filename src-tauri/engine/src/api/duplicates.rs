//! Reports of which the owner was not told again.

use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::api::history::before;
use crate::api::view::{Page, time};
use crate::model::error::Fault;
use crate::model::sighting::Verdict;
use crate::store::table::delivery::DeliveryRow;
use crate::store::table::message::MessageRow;
use crate::store::table::{delivery, message};

/// A row of `duplicates.list`: a mail that was reported more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DuplicatesRow {
    /// The mail.
    pub message_key: String,
    /// Its subject.
    pub subject: Option<String>,
    /// The report that counted.
    pub kept: Kept,
    /// The others.
    pub suppressed: Vec<Suppressed>,
}

/// The report that counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Kept {
    /// By which path.
    pub source: String,
    /// At which place.
    pub locator: String,
    /// When.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub at: String,
}

/// A report that was suppressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Suppressed {
    /// By which path.
    pub source: String,
    /// At which place.
    pub locator: String,
    /// `repeat` (the same event again) or `duplicate` (the same mail by another path or place).
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::SuppressedVerdict"))]
    pub verdict: String,
    /// In words.
    pub reason: String,
    /// When, last.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub at: String,
    /// How often.
    pub times_seen: i64,
}

/// Mails that were reported more than once, newest first.
///
/// # Errors
/// `not_found`, where `before` is not a mail.
pub async fn list(api: &Api, page: Page) -> Result<Vec<DuplicatesRow>, Fault> {
    let limit = page.rows();
    api.find(move |read| {
        let before = match before(read, page.before.as_deref())? {
            Ok(before) => before,
            Err(fault) => return Ok(Err(fault)),
        };
        let mut rows = Vec::new();
        for mail in message::list_suppressed(read, before, limit)? {
            let deliveries = delivery::list(read, &mail.message_key)?;
            rows.extend(show(mail, &deliveries));
        }
        Ok(Ok(rows))
    })
    .await
}

/// `None`: no delivery of it is known any more.
fn show(mail: MessageRow, deliveries: &[DeliveryRow]) -> Option<DuplicatesRow> {
    let (first, others) = deliveries.split_first()?;
    let entry = |row: &DeliveryRow, verdict: &str, reason: &str, at: i64| Suppressed {
        source: row.source.clone(),
        locator: row.locator.clone(),
        verdict: verdict.to_owned(),
        reason: reason.to_owned(),
        at: time(at),
        times_seen: row.times_seen,
    };
    let mut suppressed: Vec<Suppressed> =
        others.iter().map(|row| entry(row, &row.verdict, &row.reason, row.first_seen_at)).collect();
    for row in deliveries.iter().filter(|row| row.times_seen > 1) {
        suppressed.push(entry(row, Verdict::Repeat.as_str(), "the same event was reported again", row.last_seen_at));
    }
    suppressed.sort_by(|a, b| a.at.cmp(&b.at));
    let kept = Kept { source: first.source.clone(), locator: first.locator.clone(), at: time(first.first_seen_at) };
    Some(DuplicatesRow { message_key: mail.message_key.0, subject: mail.facts.subject, kept, suppressed })
}
