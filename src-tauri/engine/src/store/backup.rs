//! Copies of the database: daily, before each migration, and what is taken from them when the file is broken.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::store::Read;
use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::restored::{RESTORED_AT, RESTORED_FROM_AT};

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
    copies.retain(|path| name(path).starts_with("ringonce-") && !name(path).contains("before"));
    for old in copies.iter().rev().skip(DAILY_KEPT) {
        let _ = fs::remove_file(old);
    }
    Ok(copy)
}

/// When the newest daily copy was made, ms UTC.
#[must_use]
pub fn newest_daily_at(database: &Path) -> Option<i64> {
    let copies = list(database).ok()?;
    copies.iter().rev().find_map(|path| made_at(path))
}

/// When a daily copy was made, ms UTC.
fn made_at(copy: &Path) -> Option<i64> {
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

/// Moves a broken database aside and puts the newest copy in its place, or nothing where there is none.
/// `restored_at` and `restored_from_at` in `meta` say so to the intake, which rings for no mail of the gap singly.
pub(in crate::store) fn restore_newest(database: &Path, now_at: i64, cause: &StoreError) -> Result<(), StoreError> {
    let broken = database.with_extension(format!("broken-{now_at}"));
    fs::rename(database, &broken).map_err(|error| StoreError::io(database, &error))?;
    for suffix in ["-wal", "-shm"] {
        let side = PathBuf::from(format!("{}{suffix}", database.display()));
        if side.exists() {
            let _ = fs::rename(&side, format!("{}{suffix}", broken.display()));
        }
    }
    let newest = list(database)?.into_iter().rev().find(|copy| sound(copy));
    match newest {
        Some(copy) => {
            fs::copy(&copy, database).map_err(|error| StoreError::io(&copy, &error))?;
            let connection = Connection::open(database)?;
            let from_at = made_at(&copy).unwrap_or(0);
            for (key, value) in [(RESTORED_AT, now_at), (RESTORED_FROM_AT, from_at)] {
                connection.execute(
                    "INSERT INTO meta (key, value) VALUES (?1, ?2)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    (key, value.to_string()),
                )?;
            }
            tracing::error!("The database was broken ({cause}); {} was put in its place", name(&copy));
        }
        None => {
            fs::write(database, b"").map_err(|error| StoreError::io(database, &error))?;
            tracing::error!("The database was broken ({cause}) and there is no copy; a new one was begun");
        }
    }
    fs::set_permissions(database, fs::Permissions::from_mode(0o600)).map_err(|error| StoreError::io(database, &error))
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

fn sound(copy: &Path) -> bool {
    let check = || -> Result<String, rusqlite::Error> {
        Connection::open(copy)?.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
    };
    check().is_ok_and(|answer| answer == "ok")
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

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}
