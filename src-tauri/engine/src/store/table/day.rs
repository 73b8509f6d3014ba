//! `days`: counts by the owner's own day.

use rusqlite::OptionalExtension;

use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// What happened on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Day {
    /// Reports of mail that arrived, repeats included.
    pub sightings: i64,
    /// Mails the owner was told of.
    pub rings: i64,
    /// Mails that were silent by rule.
    pub silent: i64,
    /// Reports that were suppressed.
    pub duplicates: i64,
}

/// Adds to a day (`YYYY-MM-DD`).
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn add(tx: Tx<'_>, day: &str, more: Day) -> Result<(), StoreError> {
    if more == Day::default() {
        return Ok(());
    }
    tx.prepare(
        "INSERT INTO days (day, sightings, rings, silent, duplicates) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (day) DO UPDATE SET sightings = sightings + excluded.sightings, rings = rings + excluded.rings,
             silent = silent + excluded.silent, duplicates = duplicates + excluded.duplicates",
    )?
    .execute((day, more.sightings, more.rings, more.silent, more.duplicates))?;
    Ok(())
}

/// The counts of a day.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, day: &str) -> Result<Day, StoreError> {
    let mut statement = read.prepare("SELECT sightings, rings, silent, duplicates FROM days WHERE day = ?1")?;
    let row = statement.query_row([day], |row| {
        Ok(Day { sightings: row.get(0)?, rings: row.get(1)?, silent: row.get(2)?, duplicates: row.get(3)? })
    });
    Ok(row.optional()?.unwrap_or_default())
}
