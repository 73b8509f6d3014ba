//! Opening: pragmas, permissions, migrations, and what is done with a database that is not sound.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::{Read, backup, restore};

/// Schema steps, in order; `user_version` counts those that were made. Append only.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_core.sql"),
    include_str!("../../migrations/0002_lists.sql"),
    include_str!("../../migrations/0003_mark_read.sql"),
];

/// Older SQLite has a WAL reset bug that can lose committed pages (fixed in 3.51.3).
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// Another program (a command without the resident program) may hold the file this long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens for the writer: makes the file (0600) where there is none, and brings the schema up to date.
pub(in crate::store) fn for_writing(path: &Path, now_at: i64) -> Result<Connection, StoreError> {
    prepare(path)?;
    let connection = connect_and_check(path)?;
    migrate(&connection, path, now_at)?;
    Ok(connection)
}

/// As [`for_writing`], but looks through the file first and restores one that is not sound.
pub(in crate::store) fn for_running(path: &Path, now_at: i64) -> Result<Connection, StoreError> {
    prepare(path)?;
    let sound =
        connect_and_check(path).and_then(|connection| restore::check_at_start(&connection, path).map(|()| connection));
    let connection = match sound {
        Err(error) if error.kind == StoreErrorKind::Corrupt => {
            restore::restore(path, now_at, &error)?;
            connect_and_check(path)?
        }
        other => other?,
    };
    migrate(&connection, path, now_at)?;
    Ok(connection)
}

fn prepare(path: &Path) -> Result<(), StoreError> {
    if rusqlite::version_number() < SQLITE_VERSION_MIN {
        return Err(StoreError::new(StoreErrorKind::Internal, "The SQLite built in is older than 3.51.3"));
    }
    make_private(path)
}

/// Opens for a reader, which can write nothing.
pub(in crate::store) fn for_reading(path: &Path) -> Result<Connection, StoreError> {
    // A reader of a WAL database has to be able to make the shared-memory file, so the file is opened for
    // writing and the connection is then forbidden to.
    let connection = connect(path)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -512; PRAGMA temp_store = MEMORY;")?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Opens for `VACUUM INTO`, which a connection with `query_only` refuses. No transaction is open on it.
pub(in crate::store) fn for_copying(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    connection.execute_batch("PRAGMA cache_size = -512;")?;
    Ok(connection)
}

/// Refuses a database of a newer program, and one that was never finished.
pub(in crate::store) fn check_version(read: Read<'_>) -> Result<(), StoreError> {
    let version = schema_version(read.0)?;
    if version < MIGRATIONS.len() {
        return Err(StoreError::new(
            StoreErrorKind::Busy,
            "The database is of an older program and not yet brought up",
        ));
    }
    newer_is_refused(version)
}

fn make_private(path: &Path) -> Result<(), StoreError> {
    let io = |error: std::io::Error| StoreError::io(path, &error);
    if path.exists() {
        let mode = fs::metadata(path).map_err(io)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(io)?;
        }
        return Ok(());
    }
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map_err(io)?;
    Ok(())
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Without it SQLite makes a new plan, and so the whole statement, whenever a bound value changes on which the plan
    // might depend (`kind` of an identifier does); that was a third of the time of an intake.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

fn connect_and_check(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    // FULL: a commit that was answered survives the loss of power. `cache_size` keeps the resident program small.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON;
         PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 4194304;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    // Reading the schema fails here, and not later, where the file is no database.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

fn migrate(connection: &Connection, path: &Path, now_at: i64) -> Result<(), StoreError> {
    let version = schema_version(connection)?;
    newer_is_refused(version)?;
    let pending = MIGRATIONS.get(version..).unwrap_or_default();
    if pending.is_empty() {
        return Ok(());
    }
    if version > 0 {
        backup::copy_before_migration(connection, path, version)?;
    }
    for (step, sql) in (version + 1..).zip(pending) {
        connection.execute_batch(&format!("BEGIN IMMEDIATE;\n{sql}\nPRAGMA user_version = {step};\nCOMMIT;")).map_err(
            |error| {
                let _ = connection.execute_batch("ROLLBACK");
                StoreError::from(error)
            },
        )?;
    }
    connection.execute(
        "INSERT INTO meta (key, value) VALUES ('created_at', ?1) ON CONFLICT (key) DO NOTHING",
        [now_at.to_string()],
    )?;
    Ok(())
}

/// The version of the data's form.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn schema(read: Read<'_>) -> Result<u32, StoreError> {
    Ok(u32::try_from(schema_version(read.0)?).unwrap_or(u32::MAX))
}

pub(in crate::store) fn schema_version(connection: &Connection) -> Result<usize, StoreError> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    usize::try_from(version).map_err(|_| StoreError::new(StoreErrorKind::Corrupt, "The schema version is negative"))
}

pub(in crate::store) fn newer_is_refused(version: usize) -> Result<(), StoreError> {
    if version > MIGRATIONS.len() {
        let detail =
            format!("it has schema {version}, this program knows {} (it is of a newer Ringonce)", MIGRATIONS.len());
        return Err(StoreError::new(StoreErrorKind::Newer, detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_database_is_private_and_durable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ringonce.db");
        let connection = for_writing(&path, 1).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "only the owner may read it");
        let pragma = |name: &str| -> String {
            connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, rusqlite::types::Value>(0)).map_or(
                String::new(),
                |value| match value {
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    other => format!("{other:?}"),
                },
            )
        };
        assert_eq!(pragma("journal_mode"), "wal");
        assert_eq!(pragma("synchronous"), "2", "FULL");
        assert_eq!(pragma("foreign_keys"), "1");
        assert_eq!(pragma("user_version"), MIGRATIONS.len().to_string());
    }

    #[test]
    fn a_newer_database_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ringonce.db");
        for_writing(&path, 1).unwrap().execute_batch("PRAGMA user_version = 999").unwrap();
        let error = for_writing(&path, 2).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Newer);
        let version: i64 =
            Connection::open(&path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, 999, "nothing was written to it");
    }

    #[test]
    fn a_reader_cannot_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ringonce.db");
        let _writer = for_writing(&path, 1).unwrap();
        let reader = for_reading(&path).unwrap();
        assert!(reader.execute("DELETE FROM meta", []).is_err(), "query_only");
    }
}
