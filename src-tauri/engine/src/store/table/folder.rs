//! `folders`: where we stand in each. Written only in the transaction that stores what was read up to there.

use rusqlite::OptionalExtension;

use crate::model::ids::AccountId;
use crate::model::mailbox::{Backfill, BackfillPurpose, FolderCursor};
use crate::model::sighting::CursorMove;
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// Where a folder stands; `None` at first sight.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, account_id: &AccountId, folder: &str) -> Result<Option<FolderCursor>, StoreError> {
    let mut statement = read.prepare(
        "SELECT uid_validity, next_uid, floor_uid, backfill_from, backfill_to, backfill_purpose, backfill_left,
             newest_known_at, last_check_at
         FROM folders WHERE account_id = ?1 AND folder = ?2",
    )?;
    let row = statement.query_row([account_id.as_str(), folder], |row| {
        let purpose: Option<String> = row.get(5)?;
        let backfill = match purpose.as_deref().and_then(BackfillPurpose::parse) {
            None => None,
            Some(purpose) => {
                Some(Backfill { from_uid: row.get(3)?, to_uid: row.get(4)?, purpose, mails_left: row.get(6)? })
            }
        };
        Ok(FolderCursor {
            uid_validity: row.get(0)?,
            next_uid: row.get(1)?,
            floor_uid: row.get(2)?,
            backfill,
            newest_known_at: row.get(7)?,
            last_check_at: row.get(8)?,
        })
    });
    Ok(row.optional()?)
}

/// Whether a renumbered folder of an account is still looked through.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn is_rebuilding(read: Read<'_>, account_id: &AccountId) -> Result<bool, StoreError> {
    let mut statement = read.prepare("SELECT 1 FROM folders WHERE account_id = ?1 AND backfill_purpose = 'rebuild'")?;
    Ok(statement.exists([account_id.as_str()])?)
}

/// Moves a folder's cursor.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn put(tx: Tx<'_>, step: &CursorMove) -> Result<(), StoreError> {
    let cursor = &step.cursor;
    let backfill = cursor.backfill.as_ref();
    tx.prepare(
        "INSERT INTO folders (account_id, folder, uid_validity, next_uid, floor_uid, backfill_from, backfill_to,
             backfill_purpose, backfill_left, newest_known_at, last_check_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (account_id, folder) DO UPDATE SET uid_validity = excluded.uid_validity,
             next_uid = excluded.next_uid, floor_uid = excluded.floor_uid, backfill_from = excluded.backfill_from,
             backfill_to = excluded.backfill_to, backfill_purpose = excluded.backfill_purpose,
             backfill_left = excluded.backfill_left, newest_known_at = excluded.newest_known_at,
             last_check_at = excluded.last_check_at",
    )?
    .execute((
        step.account_id.as_str(),
        &step.folder,
        cursor.uid_validity,
        cursor.next_uid,
        cursor.floor_uid,
        backfill.map(|range| range.from_uid),
        backfill.map(|range| range.to_uid),
        backfill.map(|range| range.purpose.as_str()),
        backfill.map(|range| range.mails_left),
        cursor.newest_known_at,
        cursor.last_check_at,
    ))?;
    Ok(())
}

/// Forgets a folder that is not watched any more: watched again, it is a first sight.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn remove(tx: Tx<'_>, account_id: &AccountId, folder: &str) -> Result<(), StoreError> {
    tx.prepare("DELETE FROM folders WHERE account_id = ?1 AND folder = ?2")?.execute([account_id.as_str(), folder])?;
    Ok(())
}
