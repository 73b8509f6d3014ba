//! `mailboxes`.

use rusqlite::{OptionalExtension, Row};

use crate::model::ids::AccountId;
use crate::model::mailbox::{ImapServer, Mailbox, Tls};
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

const COLUMNS: &str =
    "account_id, mailbox_id, email, host, port, tls, username, ca_file, pin, allow_plaintext, folders,
     paused, link_template";

/// Every mailbox that was not removed, oldest first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>) -> Result<Vec<Mailbox>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM mailboxes WHERE removed_at IS NULL ORDER BY created_at, rowid");
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map([], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// One mailbox, removed ones not.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, id: &AccountId) -> Result<Option<Mailbox>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM mailboxes WHERE account_id = ?1 AND removed_at IS NULL");
    Ok(read.prepare(&sql)?.query_row([id.as_str()], from_row).optional()?)
}

/// Stores a new mailbox, or all fields of a known one.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn put(tx: Tx<'_>, mailbox: &Mailbox, now_at: i64) -> Result<(), StoreError> {
    let imap = mailbox.imap.as_ref();
    tx.prepare(
        "INSERT INTO mailboxes (account_id, mailbox_id, email, host, port, tls, username, ca_file, pin,
             allow_plaintext, folders, paused, created_at, link_template)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (account_id) DO UPDATE SET email = excluded.email, host = excluded.host, port = excluded.port,
             tls = excluded.tls, username = excluded.username, ca_file = excluded.ca_file, pin = excluded.pin,
             allow_plaintext = excluded.allow_plaintext, folders = excluded.folders, paused = excluded.paused,
             link_template = excluded.link_template",
    )?
    .execute((
        mailbox.account_id.as_str(),
        mailbox.mailbox_id.as_str(),
        &mailbox.email,
        imap.map(|server| &server.host),
        imap.map(|server| server.port),
        imap.map(|server| server.tls.as_str()),
        imap.map(|server| &server.username),
        imap.and_then(|server| server.ca_file.as_ref()),
        imap.and_then(|server| server.pin.as_ref()),
        imap.is_some_and(|server| server.allow_plaintext),
        serde_json::to_string(&mailbox.folders)?,
        mailbox.paused,
        now_at,
        &mailbox.link_template,
    ))?;
    Ok(())
}

/// Marks a mailbox as removed. `false`: there is none.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_removed(tx: Tx<'_>, id: &AccountId, now_at: i64) -> Result<bool, StoreError> {
    let changed = tx
        .prepare("UPDATE mailboxes SET removed_at = ?2 WHERE account_id = ?1 AND removed_at IS NULL")?
        .execute((id.as_str(), now_at))?;
    Ok(changed > 0)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Mailbox> {
    let host: Option<String> = row.get(3)?;
    let imap = match host {
        None => None,
        Some(host) => Some(ImapServer {
            host,
            port: row.get(4)?,
            tls: row.get::<_, String>(5).map(|text| Tls::parse(&text).unwrap_or(Tls::Implicit))?,
            username: row.get(6)?,
            ca_file: row.get(7)?,
            pin: row.get(8)?,
            allow_plaintext: row.get(9)?,
        }),
    };
    Ok(Mailbox {
        account_id: AccountId(row.get(0)?),
        mailbox_id: row.get::<_, String>(1)?.into(),
        email: row.get(2)?,
        imap,
        folders: serde_json::from_str(&row.get::<_, String>(10)?).unwrap_or_default(),
        paused: row.get(11)?,
        link_template: row.get(12)?,
    })
}
