//! What one document of the search index says: words of sender and subject, and marks for what else a page is
//! narrowed by.

use std::collections::BTreeSet;

use rusqlite::OptionalExtension;

use crate::mail::fold;
use crate::model::ids::MessageKey;
use crate::model::notification::Status;
use crate::model::outcome::Fate;
use crate::model::repeat::{Path, RepeatReason};
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::delivery::{self, DeliveryRow};

/// Words of one mail that can be searched: a subject may be as long as its sender likes.
const WORDS_MAX: usize = 100;
/// Characters of one word: what is longer is found by its beginning.
const WORD_CHARS_MAX: usize = 40;

/// Begins a mark: no word has it, and the index takes it as a letter.
const MARK: char = '\u{e000}';

/// The mark of a mailbox's scope.
pub(super) fn of_mailbox(mailbox_id: &str) -> String {
    mark('m', mailbox_id)
}

/// The mark of a destination, by its id.
pub(super) fn of_destination(id: &str) -> String {
    mark('d', id)
}

/// The mark of what became of a mail.
pub(super) fn of_fate(fate: Fate) -> String {
    mark('f', fate.as_str())
}

/// The mark of why a report was suppressed.
pub(super) fn of_reason(reason: RepeatReason) -> String {
    mark('r', reason.as_str())
}

/// Anything becomes letters that the index takes as one word.
fn mark(kind: char, value: &str) -> String {
    use std::fmt::Write as _;
    let mut token = String::from(MARK);
    token.push(kind);
    for byte in value.bytes() {
        let _ = write!(token, "{byte:02x}");
    }
    token
}

/// The words a text is searched by.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    fold::words(text).map(|word| match word.char_indices().nth(WORD_CHARS_MAX) {
        Some((end, _)) => word.get(..end).unwrap_or_default().to_owned(),
        None => word,
    })
}

/// Everything the document of a mail says; `None`: there is none, since no page lists the mail.
pub(super) fn of_mail(read: Read<'_>, id: i64) -> Result<Option<BTreeSet<String>>, StoreError> {
    let mut statement = read.prepare(
        "SELECT message_key, mailbox_id, from_name, from_address, subject, last_suppressed_at IS NOT NULL
         FROM processed_messages
         WHERE id = ?1 AND (first_verdict <> 'baseline' OR last_suppressed_at IS NOT NULL)",
    )?;
    let found = statement
        .query_row([id], |row| {
            let texts: [Option<String>; 3] = [row.get(2)?, row.get(3)?, row.get(4)?];
            Ok((MessageKey(row.get(0)?), row.get::<_, String>(1)?, texts, row.get::<_, bool>(5)?))
        })
        .optional()?;
    let Some((key, mailbox_id, texts, suppressed)) = found else { return Ok(None) };
    let mut tokens: BTreeSet<String> = texts.iter().flatten().flat_map(|text| words(text)).take(WORDS_MAX).collect();
    tokens.insert(of_mailbox(&mailbox_id));
    add_fates(read, &key, &mut tokens)?;
    if suppressed {
        let deliveries = delivery::list(read, &key)?;
        tokens.extend(reasons(&deliveries).into_iter().map(|(_, reason)| of_reason(reason)));
    }
    Ok(Some(tokens))
}

/// What became of a mail, and whom it was told or is to be told.
fn add_fates(read: Read<'_>, key: &MessageKey, tokens: &mut BTreeSet<String>) -> Result<(), StoreError> {
    let mut decided = read.prepare(
        "SELECT decision FROM notification_operations WHERE message_key = ?1 ORDER BY created_at, action LIMIT 1",
    )?;
    let decision: Option<String> = decided.query_row([key.as_str()], |row| row.get(0)).optional()?;
    tokens.extend(decision.as_deref().and_then(Fate::of_decision).map(of_fate));
    let mut told = read.prepare(
        "SELECT n.destination_id, n.status FROM notification_operations o
         JOIN notification_outbox n ON n.operation_key = o.operation_key WHERE o.message_key = ?1",
    )?;
    let rows = told.query_map([key.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    for row in rows {
        let (destination, status) = row?;
        tokens.insert(of_destination(&destination));
        tokens.extend(Status::parse(&status).and_then(Fate::of_status).map(of_fate));
    }
    Ok(())
}

/// Why each report but the one that counted was suppressed, with the place of its delivery among `deliveries`. A
/// delivery that was reported again stands there once more for that.
#[must_use]
pub fn reasons(deliveries: &[DeliveryRow]) -> Vec<(usize, RepeatReason)> {
    let Some(kept) = deliveries.first() else { return Vec::new() };
    let kept = Path { source: &kept.source, locator: &kept.locator };
    let mut reasons: Vec<(usize, RepeatReason)> = Vec::new();
    for (at, row) in deliveries.iter().enumerate().skip(1) {
        let other = Path { source: &row.source, locator: &row.locator };
        reasons.push((at, RepeatReason::of_duplicate(kept, other, &row.reason)));
    }
    let again = deliveries.iter().enumerate().filter(|(_, row)| row.times_seen > 1);
    reasons.extend(again.map(|(at, _)| (at, RepeatReason::Reconnect)));
    reasons
}
