//! The statements of a page.

use rusqlite::OptionalExtension;

use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::message::{COLUMNS, MessageRow, from_row};

/// Numbers and times between which a page's mails are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// Exclusive number.
    pub(super) after: i64,
    /// Exclusive number.
    pub(super) before: i64,
    /// Stored at or after, ms UTC.
    pub(super) since_at: i64,
    /// Stored before, ms UTC.
    pub(super) until_at: i64,
}

/// Mails of a span, newest first, without those recorded as baseline.
pub(super) fn list_span(read: Read<'_>, span: &Span, limit: i64) -> Result<Vec<MessageRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM processed_messages m INDEXED BY processed_messages_listed
         WHERE m.id > ?1 AND m.id < ?2 AND m.first_verdict <> 'baseline' AND m.processed_at >= ?3
             AND m.processed_at < ?4
         ORDER BY m.id DESC LIMIT ?5"
    );
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map((span.after, span.before, span.since_at, span.until_at, limit), from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Mails of a span whose document in the search index fits and is true, newest first: those that arrived, or those of
/// which a report was suppressed.
pub(super) fn list_matching(
    read: Read<'_>,
    expression: &str,
    suppressed: bool,
    span: &Span,
    limit: i64,
) -> Result<Vec<MessageRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM mail_words CROSS JOIN processed_messages m ON m.id = mail_words.rowid
         WHERE mail_words MATCH ?1 AND mail_words.rowid > ?2 AND mail_words.rowid < ?3
             AND mail_words.rowid <= (SELECT done_id FROM search_progress)
             AND NOT EXISTS (SELECT 1 FROM search_stale s WHERE s.id = mail_words.rowid)
             AND m.processed_at >= ?4 AND m.processed_at < ?5 AND {}
         ORDER BY mail_words.rowid DESC LIMIT ?6",
        listed(suppressed)
    );
    let mut statement = read.prepare(&sql)?;
    let params = (expression, span.after, span.before, span.since_at, span.until_at, limit);
    let rows = statement.query_map(params, from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// One mail by its number, where it is in the history, or where a report of it was suppressed.
pub(super) fn by_number(read: Read<'_>, id: i64, suppressed: bool) -> Result<Option<MessageRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM processed_messages m WHERE m.id = ?1 AND {}", listed(suppressed));
    Ok(read.prepare(&sql)?.query_row([id], from_row).optional()?)
}

fn listed(suppressed: bool) -> &'static str {
    if suppressed { "m.last_suppressed_at IS NOT NULL" } else { "m.first_verdict <> 'baseline'" }
}

/// The number of the mail stored last before a time, of those that arrived.
pub(super) fn last_before(read: Read<'_>, at: i64) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare(
        "SELECT id FROM processed_messages INDEXED BY processed_messages_listed_at
         WHERE first_verdict <> 'baseline' AND processed_at < ?1 ORDER BY processed_at DESC LIMIT 1",
    )?;
    Ok(statement.query_row([at], |row| row.get(0)).optional()?)
}

/// The number of the mail stored first at a time or after, of those that arrived.
pub(super) fn first_after(read: Read<'_>, at: i64) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare(
        "SELECT id FROM processed_messages INDEXED BY processed_messages_listed_at
         WHERE first_verdict <> 'baseline' AND processed_at >= ?1 ORDER BY processed_at LIMIT 1",
    )?;
    Ok(statement.query_row([at], |row| row.get(0)).optional()?)
}
