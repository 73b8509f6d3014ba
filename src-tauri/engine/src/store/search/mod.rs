//! The search index: one document a mail, kept up outside the intake.
//!
//! Everything a page is narrowed by is a word of the document, so that any combination is one walk along sorted lists,
//! newest first, however many mails there are. Triggers note what changed since ([`catch_up`] reads that); what is
//! not in the index yet is looked at itself, so that a page never lacks a mail that is stored.

mod page;
mod token;

use crate::model::ids::DestinationId;
use crate::model::outcome::Fate;
use crate::model::repeat::RepeatReason;
use crate::store::error::StoreError;
use crate::store::table::message::{self, MessageRow};
use crate::store::{Read, Tx};

pub use token::reasons;

/// By this much the clock may have been put back: numbers of mails stand for times within it.
const CLOCK_MARGIN_MS: i64 = 86_400_000;

/// What a page is narrowed by; all of it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
    /// First seen at or after, ms UTC.
    since_at: i64,
    /// First seen before, ms UTC.
    until_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    /// The beginning of a word.
    Prefix(String),
    /// One of these.
    AnyOf(Vec<String>),
}

/// Of which list a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Every mail that arrived.
    History,
    /// Mails that were reported more than once.
    Repeated,
}

impl Default for Query {
    fn default() -> Self {
        Self { terms: Vec::new(), since_at: i64::MIN, until_at: i64::MAX }
    }
}

impl Query {
    /// Each word of the text begins a word of sender or subject.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.terms.extend(token::words(text).map(Term::Prefix));
        self
    }

    /// In this scope of keys.
    #[must_use]
    pub fn mailbox(self, mailbox_id: &str) -> Self {
        self.any_of(vec![token::of_mailbox(mailbox_id)])
    }

    /// Told, or to be told, to one of these.
    #[must_use]
    pub fn destinations(self, ids: &[DestinationId]) -> Self {
        self.any_of(ids.iter().map(|id| token::of_destination(id.as_str())).collect())
    }

    /// This became of it.
    #[must_use]
    pub fn fate(self, fate: Fate) -> Self {
        self.any_of(vec![token::of_fate(fate)])
    }

    /// A report of it was suppressed for this.
    #[must_use]
    pub fn reason(self, reason: RepeatReason) -> Self {
        self.any_of(vec![token::of_reason(reason)])
    }

    /// First seen then; `until_at` is exclusive.
    #[must_use]
    pub fn seen(mut self, since_at: Option<i64>, until_at: Option<i64>) -> Self {
        self.since_at = since_at.unwrap_or(self.since_at);
        self.until_at = until_at.unwrap_or(self.until_at);
        self
    }

    /// Nothing but times narrows it: the index is not needed.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.terms.is_empty()
    }

    fn any_of(mut self, tokens: Vec<String>) -> Self {
        self.terms.push(Term::AnyOf(tokens));
        self
    }

    /// As FTS5 reads it. Tokens hold only letters, digits and marks, so nothing is to be escaped.
    fn expression(&self) -> String {
        let terms = self.terms.iter().map(|term| match term {
            Term::Prefix(word) => format!("\"{word}\" *"),
            Term::AnyOf(tokens) => {
                let quoted: Vec<String> = tokens.iter().map(|token| format!("\"{token}\"")).collect();
                format!("({})", quoted.join(" OR "))
            }
        });
        terms.collect::<Vec<_>>().join(" AND ")
    }

    /// Whether a mail that is not in the index (any more) fits.
    fn fits(&self, read: Read<'_>, id: i64) -> Result<bool, StoreError> {
        let Some(tokens) = token::of_mail(read, id)? else { return Ok(false) };
        Ok(self.terms.iter().all(|term| match term {
            Term::Prefix(word) => tokens.range(word.clone()..).next().is_some_and(|token| token.starts_with(word)),
            Term::AnyOf(any) => any.iter().any(|token| tokens.contains(token)),
        }))
    }

    fn in_time(&self, row: &MessageRow) -> bool {
        (self.since_at..self.until_at).contains(&row.processed_at)
    }
}

/// A page, newest first; `before` is an exclusive number.
///
/// # Errors
/// [`StoreError`] of a query.
pub fn list(
    read: Read<'_>,
    query: &Query,
    listed: Listed,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<MessageRow>, StoreError> {
    // A destination nobody ever had fits nothing.
    if query.terms.iter().any(|term| matches!(term, Term::AnyOf(tokens) if tokens.is_empty())) {
        return Ok(Vec::new());
    }
    let (mut low, mut high) = numbers(read, query)?;
    high = high.min(before.unwrap_or(i64::MAX));
    low = low.min(high);
    let span = page::Span { after: low, before: high, since_at: query.since_at, until_at: query.until_at };
    if query.is_plain() {
        return match listed {
            Listed::History => page::list_span(read, &span, limit),
            Listed::Repeated => message::list_suppressed(read, before, limit),
        };
    }
    let mut rows = page::list_matching(read, &query.expression(), listed == Listed::Repeated, &span, limit)?;
    rows.extend(list_unindexed(read, query, listed, &span, limit)?);
    rows.sort_by_key(|row| std::cmp::Reverse(row.id));
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(rows)
}

/// Of the mails whose document is not there or not true any more, those that fit.
fn list_unindexed(
    read: Read<'_>,
    query: &Query,
    listed: Listed,
    span: &page::Span,
    limit: i64,
) -> Result<Vec<MessageRow>, StoreError> {
    let mut statement = read.prepare(
        "SELECT id FROM (
             SELECT id FROM processed_messages WHERE id > (SELECT done_id FROM search_progress)
             UNION ALL SELECT id FROM search_stale WHERE id <= (SELECT done_id FROM search_progress))
         WHERE id > ?1 AND id < ?2 ORDER BY id DESC",
    )?;
    let mut ids = statement.query([span.after, span.before])?;
    let mut rows = Vec::new();
    while let Some(row) = ids.next()? {
        let id = row.get(0)?;
        if !query.fits(read, id)? {
            continue;
        }
        let fitting = page::by_number(read, id, listed == Listed::Repeated)?;
        rows.extend(fitting.filter(|row| query.in_time(row)));
        if i64::try_from(rows.len()).is_ok_and(|found| found >= limit) {
            break;
        }
    }
    Ok(rows)
}

/// Between which numbers, both exclusive, mails of the query's time are.
fn numbers(read: Read<'_>, query: &Query) -> Result<(i64, i64), StoreError> {
    let low = if query.since_at == i64::MIN {
        None
    } else {
        page::last_before(read, query.since_at.saturating_sub(CLOCK_MARGIN_MS))?
    };
    let high = if query.until_at == i64::MAX {
        None
    } else {
        page::first_after(read, query.until_at.saturating_add(CLOCK_MARGIN_MS))?
    };
    Ok((low.unwrap_or(0), high.unwrap_or(i64::MAX)))
}

/// Whether anything is to be brought into the index.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn is_behind(read: Read<'_>) -> Result<bool, StoreError> {
    let mut statement = read.prepare(
        "SELECT EXISTS (SELECT 1 FROM search_stale) OR EXISTS (
             SELECT 1 FROM processed_messages WHERE id > (SELECT done_id FROM search_progress))",
    )?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Brings at most so many mails into the index: those that changed, then new ones. Returns how many; 0: it is whole.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn catch_up(tx: Tx<'_>, limit: usize) -> Result<usize, StoreError> {
    let numbers = |sql: &str, limit: usize| -> Result<Vec<i64>, StoreError> {
        let mut statement = tx.prepare(sql)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(statement.query_map([limit], |row| row.get(0))?.collect::<Result<_, _>>()?)
    };
    let stale = numbers("SELECT id FROM search_stale ORDER BY id LIMIT ?1", limit)?;
    for id in &stale {
        write(tx, *id)?;
        tx.prepare("DELETE FROM search_stale WHERE id = ?1")?.execute([id])?;
    }
    // The number of a forgotten mail is given out again where it was the last.
    tx.prepare(
        "UPDATE search_progress SET done_id = min(done_id, coalesce((SELECT max(id) FROM processed_messages), 0))",
    )?
    .execute([])?;
    let left = limit.saturating_sub(stale.len());
    let new = numbers(
        "SELECT id FROM processed_messages WHERE id > (SELECT done_id FROM search_progress) ORDER BY id LIMIT ?1",
        left,
    )?;
    for id in &new {
        write(tx, *id)?;
    }
    if let Some(last) = new.last() {
        tx.prepare("UPDATE search_progress SET done_id = ?1")?.execute([last])?;
    }
    Ok(stale.len() + new.len())
}

/// A mail got another notification: its document is not true any more.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn touch(tx: Tx<'_>, id: i64) -> Result<(), StoreError> {
    tx.prepare(
        "INSERT INTO search_stale (id) SELECT ?1 WHERE ?1 <= (SELECT done_id FROM search_progress)
         ON CONFLICT (id) DO NOTHING",
    )?
    .execute([id])?;
    Ok(())
}

/// Puts the document of a mail in the place of the one it had.
fn write(tx: Tx<'_>, id: i64) -> Result<(), StoreError> {
    tx.prepare("DELETE FROM mail_words WHERE rowid = ?1")?.execute([id])?;
    let Some(tokens) = token::of_mail(*tx, id)? else { return Ok(()) };
    let text = tokens.into_iter().collect::<Vec<_>>().join(" ");
    tx.prepare("INSERT INTO mail_words (rowid, words) VALUES (?1, ?2)")?.execute((id, text))?;
    Ok(())
}

#[cfg(test)]
mod tests;
