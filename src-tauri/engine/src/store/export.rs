//! Export and restore: one file with configuration, keys and history. It is a SQLite database like the one in the data
//! folder, so a daily copy can be restored just the same. Secrets are not in it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::restored::{RESTORED_AT, RESTORED_FROM_AT, RESTORED_TOLD};
use crate::store::{FILE_NAME, Read, open};

/// Key in `meta` of an exported file: when it was made.
const EXPORTED_AT: &str = "exported_at";

/// A setting that belongs to the data folder and not to the file: its key, and its value from that in the file.
pub struct Change<'a> {
    /// The setting.
    pub key: &'a str,
    /// The value to store; `None`: as in the file.
    pub value: &'a dyn Fn(Option<&str>) -> Option<String>,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// When the file was made, ms UTC; 0 where it does not say.
    pub from_at: i64,
    /// Where the data is that was there before.
    pub replaced: Option<PathBuf>,
    /// Notifications that were on their way then: whether they arrived, only the owner can know.
    pub uncertain: usize,
}

/// Writes everything into one file of mode 0600; an existing one is replaced only with `force`.
///
/// # Errors
/// [`StoreErrorKind::Refused`] for a file that exists; no room, no permission.
pub fn export(read: Read<'_>, file: &Path, force: bool, now_at: i64) -> Result<(), StoreError> {
    if !force && file.exists() {
        return Err(StoreError::new(StoreErrorKind::Refused, format!("{} exists", file.display())));
    }
    let part = beside(file);
    let copied = new_private(&part).and_then(|_| {
        let target = part.to_str().ok_or_else(|| StoreError::new(StoreErrorKind::Io, "The path is not UTF-8"))?;
        // It fills a file that is there and empty, so that nobody else can read it at any moment.
        Ok(read.0.execute("VACUUM INTO ?1", [target])?)
    });
    let written = copied.and_then(|_| {
        let connection = Connection::open(&part)?;
        set_meta(&connection, EXPORTED_AT, now_at)?;
        drop(connection);
        put_in_place(&part, file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Puts an exported file or a copy in the place of a data folder's database. What was there is moved aside, within the
/// data folder. The caller holds the lock of the folder.
///
/// What was on its way when the file was made may have arrived since, so it is not sent again; and the intake is told
/// from when the data is, so that it does not ring for every mail since then.
///
/// # Errors
/// [`StoreErrorKind::Refused`] for a file that is no such database, [`StoreErrorKind::Newer`]; no room, no permission.
pub fn restore(data_dir: &Path, file: &Path, now_at: i64, change: &Change<'_>) -> Result<Restored, StoreError> {
    let database = data_dir.join(FILE_NAME);
    let part = beside(&database);
    let prepared = prepare(file, &part, now_at, change);
    let (from_at, uncertain) = prepared.inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })?;
    let replaced = if database.exists() { Some(move_aside(data_dir, &database, now_at)?) } else { None };
    put_in_place(&part, &database)?;
    Ok(Restored { from_at, replaced, uncertain })
}

/// A checked copy of the file, made ready to be the database. Gives when it was made, and how much is uncertain.
fn prepare(file: &Path, part: &Path, now_at: i64, change: &Change<'_>) -> Result<(i64, usize), StoreError> {
    let refused = |why: String| StoreError::new(StoreErrorKind::Refused, format!("{} {why}", file.display()));
    let mut from = File::open(file).map_err(|error| refused(format!("cannot be read ({error})")))?;
    let mut to = new_private(part)?;
    std::io::copy(&mut from, &mut to).and_then(|_| to.sync_all()).map_err(|error| StoreError::io(part, &error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(part, flags)?;
    let sound = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    if sound.as_deref() != Ok("ok") || !is_ours(&connection) {
        return Err(refused("is no export or copy of Ringonce, or it is damaged".to_owned()));
    }
    open::newer_is_refused(open::schema_version(&connection)?)?;
    let from_at = made_at(&connection)?;
    let uncertain = connection.execute(
        "UPDATE notification_outbox SET status = 'uncertain', uncertain_at = ?1, due_at = ?1, lease_token = NULL,
             lease_until = NULL, reason = 'on its way when the restored data was saved'
         WHERE status IN ('pending', 'processing')",
        [now_at],
    )?;
    connection.execute(
        "UPDATE attempts SET outcome = 'unknown', finished_at = ?1, code = 'interrupted' WHERE outcome IS NULL",
        [now_at],
    )?;
    set_meta(&connection, RESTORED_AT, now_at)?;
    set_meta(&connection, RESTORED_FROM_AT, from_at)?;
    apply(&connection, change, now_at)?;
    connection.execute("DELETE FROM meta WHERE key IN (?1, ?2)", [EXPORTED_AT, RESTORED_TOLD])?;
    Ok((from_at, uncertain))
}

fn apply(connection: &Connection, change: &Change<'_>, now_at: i64) -> Result<(), StoreError> {
    let select = "SELECT value FROM settings WHERE key = ?1";
    let stored: Option<String> = connection.query_row(select, [change.key], |row| row.get(0)).optional()?;
    if let Some(value) = (change.value)(stored.as_deref()) {
        connection.execute(
            "INSERT INTO settings (key, value, set_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value, set_at = excluded.set_at",
            (change.key, value, now_at),
        )?;
    }
    Ok(())
}

fn is_ours(connection: &Connection) -> bool {
    let tables = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('meta', 'notification_outbox', 'message_identities')",
        [],
        |row| row.get::<_, i64>(0),
    );
    tables == Ok(3)
}

/// When the file was made; of a daily copy, when its newest mail was stored.
fn made_at(connection: &Connection) -> Result<i64, StoreError> {
    let said: Option<String> =
        connection.query_row("SELECT value FROM meta WHERE key = ?1", [EXPORTED_AT], |row| row.get(0)).optional()?;
    match said.and_then(|text| text.parse().ok()) {
        Some(at) => Ok(at),
        None => {
            Ok(connection
                .query_row("SELECT coalesce(max(processed_at), 0) FROM processed_messages", [], |row| row.get(0))?)
        }
    }
}

/// Keeps what was there in a folder of its own, with its daily copies, which belong to it.
fn move_aside(data_dir: &Path, database: &Path, now_at: i64) -> Result<PathBuf, StoreError> {
    let aside = data_dir.join(format!("replaced-{now_at}"));
    DirBuilder::new().mode(0o700).create(&aside).map_err(|error| StoreError::io(&aside, &error))?;
    // What stands in the log of the database goes into it, so that one file is all; a broken one is kept as it is.
    if let Ok(connection) = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    for name in [format!("{FILE_NAME}-wal"), format!("{FILE_NAME}-shm"), "copies".to_owned()] {
        let (from, to) = (data_dir.join(&name), aside.join(&name));
        if from.exists() {
            fs::rename(&from, &to).map_err(|error| StoreError::io(&from, &error))?;
        }
    }
    // A second name: the first is replaced in one step, so that at no moment there is no database.
    let kept = aside.join(FILE_NAME);
    fs::hard_link(database, &kept).map_err(|error| StoreError::io(&kept, &error))?;
    Ok(aside)
}

fn set_meta(connection: &Connection, key: &str, value: i64) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value.to_string()),
    )?;
    Ok(())
}

fn new_private(path: &Path) -> Result<File, StoreError> {
    let _ = fs::remove_file(path);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.map_err(|error| StoreError::io(path, &error))
}

fn put_in_place(part: &Path, file: &Path) -> Result<(), StoreError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(part)
        .and_then(|part| part.sync_all())
        .and_then(|()| fs::rename(part, file))
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(|error| StoreError::io(file, &error))
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    file.with_file_name(name)
}
