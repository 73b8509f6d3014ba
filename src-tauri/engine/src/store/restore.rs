//! Restoring: a database that is not sound is moved aside, and the newest sound copy takes its place.
//!
//! The copy knows nothing of what happened after it was made. What it holds to be unsent may have been sent since, so
//! it is handed to the rescue as in hand of a run that is gone: asked about, held, or repeated under its key.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::store::backup;
use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::restored::{RESTORED_AT, RESTORED_FROM_AT};

/// A file up to this size is looked through at each start; that takes some 50 ms.
const LOOKED_THROUGH_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// What may have been sent since the copy: as if claimed, and its bytes on the way, when the copy was made.
const HAND_TO_RESCUE: &str = "
    UPDATE attempts SET payload_started_at = coalesce(payload_started_at, started_at) WHERE outcome IS NULL;
    UPDATE notification_outbox SET status = 'processing', completed_at = NULL, lease_token = 'restored.' || id,
        lease_until = ?1, first_attempt_at = coalesce(first_attempt_at, ?1)
    WHERE status = 'pending' OR (status = 'dead' AND reason = 'used up'
        AND EXISTS (SELECT 1 FROM ladders l WHERE l.operation_key = notification_outbox.operation_key));
    INSERT INTO attempts (dispatch_key, attempt, lease_token, started_at, payload_started_at)
        SELECT dispatch_key, (SELECT count(*) + 1 FROM attempts a WHERE a.dispatch_key = n.dispatch_key), lease_token, ?1, ?1
        FROM notification_outbox n WHERE lease_token LIKE 'restored.%';
    UPDATE notification_operations SET status = 'processing', completed_at = NULL
    WHERE operation_key IN (SELECT operation_key FROM notification_outbox WHERE lease_token LIKE 'restored.%');";

/// An error where the file is not a sound database.
fn check(connection: &Connection) -> Result<(), StoreError> {
    let said: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if said == "ok" { Ok(()) } else { Err(StoreError::new(StoreErrorKind::Corrupt, said.replace('\n', " "))) }
}

/// As [`check`], for a start: a large file is not looked through whole, its damage shows where it is met.
pub(in crate::store) fn check_at_start(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(file) if file.len() <= LOOKED_THROUGH_BYTES_MAX => check(connection),
        _ => Ok(()),
    }
}

/// Moves a broken database aside and puts the newest sound copy in its place, or an empty one where there is none.
/// Until the last step the broken one stays where it is, so that nothing is lost if this is interrupted.
pub(in crate::store) fn restore(database: &Path, now_at: i64, cause: &StoreError) -> Result<(), StoreError> {
    let prepared = database.with_extension("restoring");
    let copy = newest_sound(database, &prepared, now_at)?;
    if copy.is_none() {
        fs::write(&prepared, b"").map_err(|error| StoreError::io(&prepared, &error))?;
    }
    let done = fs::set_permissions(&prepared, fs::Permissions::from_mode(0o600))
        .and_then(|()| File::open(&prepared)?.sync_all())
        .and_then(|()| move_aside(database, now_at))
        .and_then(|aside| fs::rename(&prepared, database).map(|()| aside));
    let aside = done.map_err(|error| StoreError::io(database, &error))?;
    let aside = backup::name(&aside);
    match copy {
        Some(copy) => tracing::error!(
            "The database was broken ({cause}): it was moved aside as {aside}, and the copy {} was put in its place",
            backup::name(&copy)
        ),
        None => tracing::error!(
            "The database was broken ({cause}) and there is no copy: it was moved aside as {aside}, and a new one was \
             begun; add mailboxes and destinations again"
        ),
    }
    Ok(())
}

/// Prepares the newest copy that is sound and tells which.
fn newest_sound(database: &Path, prepared: &Path, now_at: i64) -> Result<Option<PathBuf>, StoreError> {
    for (from_at, copy) in backup::by_age(database)? {
        fs::copy(&copy, prepared).map_err(|error| StoreError::io(prepared, &error))?;
        match prepare(prepared, from_at, now_at) {
            Ok(()) => return Ok(Some(copy)),
            Err(error) if matches!(error.kind, StoreErrorKind::Full | StoreErrorKind::Io) => return Err(error),
            Err(error) => tracing::warn!("The copy {} cannot be used: {error}", backup::name(&copy)),
        }
    }
    Ok(None)
}

fn prepare(prepared: &Path, from_at: i64, now_at: i64) -> Result<(), StoreError> {
    let mut connection = Connection::open(prepared)?;
    check(&connection)?;
    let transaction = connection.transaction()?;
    // Statements one by one: a batch takes no values.
    for statement in HAND_TO_RESCUE.split_inclusive(';').filter(|statement| statement.contains(' ')) {
        let takes = usize::from(statement.contains("?1"));
        transaction.execute(statement, rusqlite::params_from_iter(std::iter::repeat_n(from_at, takes)))?;
    }
    for (key, at) in [(RESTORED_AT, now_at), (RESTORED_FROM_AT, from_at)] {
        transaction.execute(
            "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, at.to_string()),
        )?;
    }
    transaction.commit()?;
    // Closed here, so that no log stands beside the file that is moved.
    connection.close().map_err(|(_, error)| error.into())
}

/// The database stays where it is, too, until another takes its place; its log may not: it would be replayed on that.
fn move_aside(database: &Path, now_at: i64) -> std::io::Result<PathBuf> {
    let aside = database.with_extension(format!("broken-{now_at}"));
    fs::hard_link(database, &aside).or_else(|_| fs::copy(database, &aside).map(|_| ()))?;
    for suffix in ["-wal", "-shm"] {
        let side = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        if side(database).exists() {
            fs::rename(side(database), side(&aside))?;
        }
    }
    Ok(aside)
}
