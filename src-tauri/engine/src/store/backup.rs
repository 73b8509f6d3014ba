//! Copies of the database: daily, and before each migration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::store::Read;
use crate::store::error::{StoreError, StoreErrorKind};

/// Daily copies that are kept.
const DAILY_KEPT: usize = 3;

/// Writes a whole copy named after the time and removes the oldest daily ones. Returns its path.
///
/// # Errors
/// [`StoreError`]: no room, no permission.
pub fn copy_daily(read: Read<'_>, database: &Path, now_at: i64) -> Result<PathBuf, StoreError> {
    let copy = folder(database)?.join(format!("ringonce-{now_at:015}.db"));
    vacuum_into(read.0, &copy)?;
    let mut copies = list(database)?;
    copies.retain(|path| daily_at(path).is_some());
    for old in copies.iter().rev().skip(DAILY_KEPT) {
        let _ = fs::remove_file(old);
    }
    Ok(copy)
}

/// When the newest daily copy was made, ms UTC.
#[must_use]
pub fn newest_daily_at(database: &Path) -> Option<i64> {
    list(database).ok()?.iter().filter_map(|copy| daily_at(copy)).max()
}

/// Every copy with the time of what is in it, newest first.
pub(in crate::store) fn by_age(database: &Path) -> Result<Vec<(i64, PathBuf)>, StoreError> {
    let mut copies: Vec<(i64, PathBuf)> =
        list(database)?.into_iter().filter_map(|copy| Some((taken_at(&copy)?, copy))).collect();
    copies.sort();
    copies.reverse();
    Ok(copies)
}

/// A daily copy says so by its name, others by when they were written.
fn taken_at(copy: &Path) -> Option<i64> {
    let written = || fs::metadata(copy).ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok();
    daily_at(copy).or_else(|| i64::try_from(written()?.as_millis()).ok())
}

fn daily_at(copy: &Path) -> Option<i64> {
    name(copy).strip_prefix("ringonce-")?.strip_suffix(".db")?.parse().ok()
}

/// A copy of the schema before a migration, so that the step can be taken back by hand.
pub(in crate::store) fn copy_before_migration(
    connection: &Connection,
    database: &Path,
    version: usize,
) -> Result<(), StoreError> {
    let copy = folder(database)?.join(format!("ringonce-before-{:04}.db", version + 1));
    let _ = fs::remove_file(&copy);
    vacuum_into(connection, &copy)
}

fn vacuum_into(connection: &Connection, copy: &Path) -> Result<(), StoreError> {
    let part = copy.with_extension("part");
    let _ = fs::remove_file(&part);
    let target = part.to_str().ok_or_else(|| StoreError::new(StoreErrorKind::Io, "The path is not UTF-8"))?;
    if let Err(error) = connection.execute("VACUUM INTO ?1", [target]) {
        // Half a copy on a full disk takes the room that mail needs.
        let _ = fs::remove_file(&part);
        return Err(error.into());
    }
    fs::set_permissions(&part, fs::Permissions::from_mode(0o600)).map_err(|error| StoreError::io(&part, &error))?;
    fs::rename(&part, copy).map_err(|error| StoreError::io(copy, &error))
}

/// The copies, oldest first.
fn list(database: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let folder = folder(database)?;
    let entries = fs::read_dir(&folder).map_err(|error| StoreError::io(&folder, &error))?;
    let mut copies: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
        .collect();
    copies.sort();
    Ok(copies)
}

fn folder(database: &Path) -> Result<PathBuf, StoreError> {
    let folder = database.with_file_name("copies");
    if !folder.exists() {
        fs::create_dir(&folder).map_err(|error| StoreError::io(&folder, &error))?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))
            .map_err(|error| StoreError::io(&folder, &error))?;
    }
    Ok(folder)
}

pub(in crate::store) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}
