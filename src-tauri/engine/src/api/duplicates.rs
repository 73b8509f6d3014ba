//! Reports of which the owner was not told again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::history::{self, HistoryRow};
use crate::api::view::{Page, time};
use crate::api::{Api, invalid};
use crate::model::error::Fault;
use crate::model::repeat::RepeatReason;
use crate::model::sighting::Verdict;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::search::{self, Listed, Query};
use crate::store::table::message::MessageRow;
use crate::store::table::{day, delivery, message};

/// Days of a summary.
const SUMMARY_DAYS_MAX: u32 = 366;
/// Mails a summary looks at, those suppressed last first.
const SUMMARY_MAILS_MAX: i64 = 100_000;

/// Parameters of `duplicates.list`; each narrows, what is absent does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DuplicatesParams", optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct ListParams {
    /// Rows at most; never more than `limits::PAGE_ROWS_MAX`.
    pub limit: Option<u32>,
    /// The key of the last row of the page before.
    pub before: Option<String>,
    /// Each word begins a word of sender or subject; neither case nor accents count.
    pub text: Option<String>,
    /// A report was suppressed for this.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::RepeatReason>"))]
    pub reason: Option<String>,
}

/// Parameters of `duplicates.summary`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DuplicatesSummaryParams"))]
#[serde(deny_unknown_fields)]
pub struct SummaryParams {
    /// So many days, today the last.
    pub days: u32,
}

/// What `duplicates.summary` gives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DuplicatesSummary {
    /// Every day, oldest first; empty, where nothing happened on any.
    pub days: Vec<DayFigures>,
    /// Suppressed reports of those days, by reason.
    #[cfg_attr(feature = "types", ts(type = "Partial<Record<RepeatReason, number>>"))]
    pub reasons: BTreeMap<String, i64>,
}

/// What happened on one day. Ringonce's own messages are not counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DayFigures {
    /// The owner's own day, `YYYY-MM-DD`.
    pub day: String,
    /// Reports of mails, repeats included.
    pub sightings: i64,
    /// Mails of which the owner was told.
    pub rings: i64,
    /// Reports that were repeats or duplicates.
    pub duplicates: i64,
}

/// A row of `duplicates.list`: a mail that was reported more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct DuplicatesRow {
    /// The mail.
    pub message_key: String,
    /// Its author's address.
    pub from: Option<String>,
    /// Its author's name, as its From header has it.
    pub from_name: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// The mail as in the history.
    pub row: HistoryRow,
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
    /// A stable word for that.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::RepeatReason"))]
    pub reason_code: String,
    /// When, last.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub at: String,
    /// How often.
    pub times_seen: i64,
}

/// Mails that were reported more than once, newest first: all, or those that fit.
///
/// # Errors
/// `not_found`, where `before` is not a mail; `invalid`, where the reason is none.
pub async fn list(api: &Api, params: ListParams) -> Result<Vec<DuplicatesRow>, Fault> {
    let mut query = Query::default().text(params.text.as_deref().unwrap_or_default());
    if let Some(word) = &params.reason {
        query = query.reason(RepeatReason::parse(word).ok_or_else(|| unknown_reason(word))?);
    }
    let limit = Page { limit: params.limit, before: None }.rows();
    if !query.is_plain() {
        history::catch_up(api).await?;
    }
    api.find(move |read| {
        let before = match history::before(read, params.before.as_deref())? {
            Ok(before) => before,
            Err(fault) => return Ok(Err(fault)),
        };
        let mut rows = Vec::new();
        for mail in search::list(read, &query, Listed::Repeated, before, limit)? {
            rows.extend(show(read, mail)?);
        }
        Ok(Ok(rows))
    })
    .await
}

/// Sightings and rings of the last days, and why repeats were suppressed.
///
/// # Errors
/// `invalid` for a number of days that is too large.
pub async fn summary(api: &Api, params: SummaryParams) -> Result<DuplicatesSummary, Fault> {
    if !(1..=SUMMARY_DAYS_MAX).contains(&params.days) {
        return Err(invalid(
            format!("{} is not a number of days", params.days),
            format!("give 1 to {SUMMARY_DAYS_MAX}"),
        ));
    }
    let (names, from_at) = last_days(api.clock.now(), params.days);
    api.read(move |read| {
        let mut days = Vec::new();
        for name in names {
            let day = day::get(read, &name)?;
            let (sightings, rings, duplicates) = (day.sightings, day.rings, day.duplicates);
            days.push(DayFigures { day: name, sightings, rings, duplicates });
        }
        if days.iter().all(|day| day.sightings == 0 && day.rings == 0) {
            days.clear();
        }
        Ok(DuplicatesSummary { days, reasons: reasons(read, from_at)? })
    })
    .await
}

/// The owner's last days, oldest first, and when the first began.
fn last_days(now_at: i64, days: u32) -> (Vec<String>, i64) {
    let zone = jiff::tz::TimeZone::system();
    let now = jiff::Timestamp::from_millisecond(now_at).unwrap_or_default();
    let today = now.to_zoned_datetime(zone.clone()).date();
    let back = |days: u32| today.saturating_sub(jiff::Span::new().days(i64::from(days)));
    let names = (0..days).rev().map(|days| back(days).to_string()).collect();
    let first = back(days.saturating_sub(1)).to_zoned_datetime(zone).map(|at| at.timestamp().as_millisecond());
    (names, first.unwrap_or(now_at))
}

/// Reports suppressed since then, by reason.
fn reasons(read: Read<'_>, from_at: i64) -> Result<BTreeMap<String, i64>, StoreError> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for key in message::suppressed_since(read, from_at, SUMMARY_MAILS_MAX)? {
        let deliveries = delivery::list(read, &key)?;
        for (at, reason) in search::reasons(&deliveries) {
            let Some(row) = deliveries.get(at) else { continue };
            let count = match reason {
                RepeatReason::Reconnect if row.last_seen_at >= from_at => row.times_seen - 1,
                RepeatReason::Reconnect => 0,
                _ => i64::from(row.first_seen_at >= from_at),
            };
            if count > 0 {
                *counts.entry(reason.as_str().to_owned()).or_default() += count;
            }
        }
    }
    Ok(counts)
}

/// `None`: no delivery of it is known any more.
fn show(read: Read<'_>, mail: MessageRow) -> Result<Option<DuplicatesRow>, StoreError> {
    let deliveries = delivery::list(read, &mail.message_key)?;
    let Some(first) = deliveries.first() else { return Ok(None) };
    let mut suppressed = Vec::new();
    for (at, code) in search::reasons(&deliveries) {
        let Some(row) = deliveries.get(at) else { continue };
        let (verdict, reason, at) = match code {
            RepeatReason::Reconnect => {
                (Verdict::Repeat.as_str(), "the same event was reported again", row.last_seen_at)
            }
            _ => (row.verdict.as_str(), row.reason.as_str(), row.first_seen_at),
        };
        suppressed.push(Suppressed {
            source: row.source.clone(),
            locator: row.locator.clone(),
            verdict: verdict.to_owned(),
            reason: reason.to_owned(),
            reason_code: code.as_str().to_owned(),
            at: time(at),
            times_seen: row.times_seen,
        });
    }
    suppressed.sort_by(|a, b| a.at.cmp(&b.at));
    let kept = Kept { source: first.source.clone(), locator: first.locator.clone(), at: time(first.first_seen_at) };
    let row = history::show(read, mail)?;
    let (from, from_name, subject) = (row.from.clone(), row.from_name.clone(), row.subject.clone());
    Ok(Some(DuplicatesRow { message_key: row.message_key.clone(), from, from_name, subject, row, kept, suppressed }))
}

fn unknown_reason(word: &str) -> Fault {
    let words = RepeatReason::ALL.map(RepeatReason::as_str).join(", ");
    invalid(format!("there is no reason {word:?}"), format!("give one of {words}"))
}
