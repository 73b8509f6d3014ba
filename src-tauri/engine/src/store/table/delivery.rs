//! `deliveries`: what was reported, by which path, how often.

use crate::model::ids::{DeliveryKey, MessageKey};
use crate::model::sighting::Verdict;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// One delivery of one mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Names the event of the source.
    pub delivery_key: DeliveryKey,
    /// The path.
    pub source: String,
    /// The place.
    pub locator: String,
    /// What it was found to be when first seen.
    pub verdict: String,
    /// Why, for people.
    pub reason: String,
    /// How often it was reported.
    pub times_seen: i64,
    /// When it was first reported.
    pub first_seen_at: i64,
    /// When it was last reported.
    pub last_seen_at: i64,
}

/// A delivery to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct NewDelivery<'a> {
    /// Names the event of the source.
    pub delivery_key: &'a DeliveryKey,
    /// The mail.
    pub message_key: &'a MessageKey,
    /// The path.
    pub source: &'a str,
    /// The place.
    pub locator: &'a str,
    /// What it is where it was not seen before.
    pub verdict: Verdict,
    /// Why, for people.
    pub reason: &'a str,
    /// Now.
    pub now_at: i64,
}

/// Records a delivery, or counts it once more. `true`: it was seen before.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn record(tx: Tx<'_>, new: &NewDelivery<'_>) -> Result<bool, StoreError> {
    let inserted = tx
        .prepare(
            "INSERT INTO deliveries (delivery_key, message_key, source, locator, verdict, reason, first_seen_at,
                 last_seen_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
             ON CONFLICT (delivery_key, message_key) DO NOTHING",
        )?
        .execute((
            new.delivery_key.as_str(),
            new.message_key.as_str(),
            new.source,
            new.locator,
            new.verdict.as_str(),
            new.reason,
            new.now_at,
        ))?;
    if inserted > 0 {
        return Ok(false);
    }
    tx.prepare(
        "UPDATE deliveries SET times_seen = times_seen + 1, last_seen_at = ?3
         WHERE delivery_key = ?1 AND message_key = ?2",
    )?
    .execute((new.delivery_key.as_str(), new.message_key.as_str(), new.now_at))?;
    Ok(true)
}

/// Whether anything was recorded by this delivery.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn exists(read: Read<'_>, key: &DeliveryKey) -> Result<bool, StoreError> {
    Ok(read.prepare("SELECT 1 FROM deliveries WHERE delivery_key = ?1")?.exists([key.as_str()])?)
}

/// The deliveries of a mail, first seen first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>, key: &MessageKey) -> Result<Vec<DeliveryRow>, StoreError> {
    let mut statement = read.prepare(
        "SELECT delivery_key, source, locator, verdict, reason, times_seen, first_seen_at, last_seen_at
         FROM deliveries WHERE message_key = ?1
         ORDER BY first_seen_at, verdict = 'duplicate', delivery_key",
    )?;
    let rows = statement.query_map([key.as_str()], |row| {
        Ok(DeliveryRow {
            delivery_key: DeliveryKey(row.get(0)?),
            source: row.get(1)?,
            locator: row.get(2)?,
            verdict: row.get(3)?,
            reason: row.get(4)?,
            times_seen: row.get(5)?,
            first_seen_at: row.get(6)?,
            last_seen_at: row.get(7)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
