//! `processed_messages`: the mails themselves, as far as they are remembered.

use rusqlite::{OptionalExtension, Row};

use crate::identity::resolve::{self, Known};
use crate::model::ids::{AccountId, MailboxId, MessageKey};
use crate::model::mailbox::SpecialUse;
use crate::model::message::{BodyFacts, MailFacts, SentAt};
use crate::model::sighting::{ProviderId, Verdict};
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// One mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number, growing: lists page by it. 0 for one not yet stored.
    pub id: i64,
    /// Which mail it is.
    pub message_key: MessageKey,
    /// Scope of keys.
    pub mailbox_id: MailboxId,
    /// The account that saw it first; `None` for self messages.
    pub account_id: Option<AccountId>,
    /// What its key was made from.
    pub identity: String,
    /// Ids the provider gave it.
    pub provider_ids: Vec<ProviderId>,
    /// Matched by content.
    pub fingerprint: Option<String>,
    /// What is known of it.
    pub facts: MailFacts,
    /// Wire name of the folder it was seen in first.
    pub folder: Option<String>,
    /// What that folder is for.
    pub special_use: SpecialUse,
    /// INTERNALDATE, else first seen.
    pub received_at: i64,
    /// When it was stored.
    pub processed_at: i64,
    /// What it was found to be at first.
    pub first_verdict: Verdict,
    /// Reports of it, repeats included.
    pub sightings: i64,
}

impl MessageRow {
    /// The mail as [`resolve`] compares it.
    #[must_use]
    pub fn known(&self) -> Known {
        Known {
            message_key: self.message_key.clone(),
            message_id: self.facts.message_id.clone(),
            sent_at: self.facts.sent_at.clone(),
            subject: self.facts.subject.clone(),
            body_sha256: self.facts.body.as_ref().map(|body| body.sha256.clone()),
            received_at: self.received_at,
            provider_ids: self.provider_ids.clone(),
        }
    }

    /// Kind and value of each identifier it has; who else has the same is not asked.
    #[must_use]
    pub fn identifiers(&self) -> Vec<(&'static str, String)> {
        resolve::aliases(&self.provider_ids, &self.facts, self.fingerprint.as_deref())
    }
}

pub(in crate::store) const COLUMNS: &str =
    "m.id, m.message_key, m.mailbox_id, m.account_id, m.identity, m.provider_ids, m.fingerprint, m.message_id,
     m.from_address, m.from_name, m.to_addresses, m.subject, m.sent_at, m.sent_at_ms, m.list_id, m.body_sha256,
     m.preview, m.folder, m.special_use, m.received_at, m.processed_at, m.first_verdict, m.sightings";

/// One mail.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn get(read: Read<'_>, key: &MessageKey) -> Result<Option<MessageRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM processed_messages m WHERE m.message_key = ?1");
    Ok(read.prepare(&sql)?.query_row([key.as_str()], from_row).optional()?)
}

/// The mail an identifier belongs to.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn by_identity(
    read: Read<'_>,
    mailbox_id: &MailboxId,
    kind: &str,
    value: &str,
) -> Result<Option<MessageRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM message_identities i JOIN processed_messages m ON m.message_key = i.message_key
         WHERE i.mailbox_id = ?1 AND i.kind = ?2 AND i.value = ?3"
    );
    Ok(read.prepare(&sql)?.query_row([mailbox_id.as_str(), kind, value], from_row).optional()?)
}

/// Mails, newest first, without those recorded as baseline unless asked; `before` is an exclusive id, `limit` 0 = all.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>, before: Option<i64>, limit: i64, baseline: bool) -> Result<Vec<MessageRow>, StoreError> {
    let arrived = if baseline { "" } else { "AND m.first_verdict <> 'baseline'" };
    let sql =
        format!("SELECT {COLUMNS} FROM processed_messages m WHERE m.id < ?1 {arrived} ORDER BY m.id DESC LIMIT ?2");
    let limit = if limit <= 0 { -1 } else { limit };
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map((before.unwrap_or(i64::MAX), limit), from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Mails of which a report was suppressed, newest first; `before` is an exclusive id, `limit` 0 = all.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list_suppressed(read: Read<'_>, before: Option<i64>, limit: i64) -> Result<Vec<MessageRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM processed_messages m INDEXED BY processed_messages_repeated
         WHERE m.last_suppressed_at IS NOT NULL AND m.id < ?1 ORDER BY m.id DESC LIMIT ?2"
    );
    let limit = if limit <= 0 { -1 } else { limit };
    let mut statement = read.prepare(&sql)?;
    let rows = statement.query_map((before.unwrap_or(i64::MAX), limit), from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Mails of which a report was suppressed since then, that suppressed last first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn suppressed_since(read: Read<'_>, since_at: i64, limit: i64) -> Result<Vec<MessageKey>, StoreError> {
    let mut statement = read.prepare(
        "SELECT message_key FROM processed_messages INDEXED BY processed_messages_suppressed
         WHERE last_suppressed_at >= ?1 ORDER BY last_suppressed_at DESC LIMIT ?2",
    )?;
    let rows = statement.query_map([since_at, limit], |row| row.get(0).map(MessageKey))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a key is taken.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn exists(read: Read<'_>, key: &MessageKey) -> Result<bool, StoreError> {
    Ok(read.prepare("SELECT 1 FROM processed_messages WHERE message_key = ?1")?.exists([key.as_str()])?)
}

/// Stores a new mail. `false`: its key is taken.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn insert(tx: Tx<'_>, row: &MessageRow) -> Result<bool, StoreError> {
    let facts = &row.facts;
    let changed = tx
        .prepare(
            "INSERT INTO processed_messages (message_key, mailbox_id, account_id, identity, provider_ids, fingerprint,
                 message_id, from_address, from_name, to_addresses, subject, sent_at, sent_at_ms, list_id,
                 body_sha256, preview, folder, special_use, received_at, processed_at, first_verdict, sightings)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)
             ON CONFLICT (message_key) DO NOTHING",
        )?
        .execute(rusqlite::params![
            row.message_key.as_str(),
            row.mailbox_id.as_str(),
            row.account_id.as_ref().map(AccountId::as_str),
            row.identity,
            provider_ids_text(&row.provider_ids)?,
            row.fingerprint,
            facts.message_id,
            facts.from_address,
            facts.from_name,
            serde_json::to_string(&facts.to)?,
            facts.subject,
            facts.sent_at.as_ref().map(|sent| &sent.text),
            facts.sent_at.as_ref().and_then(|sent| sent.at),
            facts.list_id,
            facts.body.as_ref().map(|body| &body.sha256),
            facts.body.as_ref().map(|body| &body.preview),
            row.folder,
            special_use_text(row.special_use),
            row.received_at,
            row.processed_at,
            row.first_verdict.as_str(),
            row.sightings,
        ])?;
    Ok(changed > 0)
}

/// Replaces what is known of a mail by a fuller state of it.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn update_facts(tx: Tx<'_>, row: &MessageRow) -> Result<(), StoreError> {
    let facts = &row.facts;
    tx.prepare(
        "UPDATE processed_messages SET provider_ids = ?2, fingerprint = ?3, message_id = ?4, from_address = ?5,
             from_name = ?6, to_addresses = ?7, subject = ?8, sent_at = ?9, sent_at_ms = ?10, list_id = ?11,
             body_sha256 = ?12, preview = ?13, folder = ?14, special_use = ?15, received_at = ?16
         WHERE message_key = ?1",
    )?
    .execute(rusqlite::params![
        row.message_key.as_str(),
        provider_ids_text(&row.provider_ids)?,
        row.fingerprint,
        facts.message_id,
        facts.from_address,
        facts.from_name,
        serde_json::to_string(&facts.to)?,
        facts.subject,
        facts.sent_at.as_ref().map(|sent| &sent.text),
        facts.sent_at.as_ref().and_then(|sent| sent.at),
        facts.list_id,
        facts.body.as_ref().map(|body| &body.sha256),
        facts.body.as_ref().map(|body| &body.preview),
        row.folder,
        special_use_text(row.special_use),
        row.received_at,
    ])?;
    Ok(())
}

/// Counts one more report that was suppressed, of the mail with this number.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_suppressed(tx: Tx<'_>, id: i64, now_at: i64) -> Result<(), StoreError> {
    tx.prepare("UPDATE processed_messages SET sightings = sightings + 1, last_suppressed_at = ?2 WHERE id = ?1")?
        .execute((id, now_at))?;
    Ok(())
}

/// The number by which lists page, of a mail's key.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn id_of(read: Read<'_>, key: &MessageKey) -> Result<Option<i64>, StoreError> {
    let mut statement = read.prepare("SELECT id FROM processed_messages WHERE message_key = ?1")?;
    Ok(statement.query_row([key.as_str()], |row| row.get(0)).optional()?)
}

fn provider_ids_text(ids: &[ProviderId]) -> Result<String, StoreError> {
    let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
    Ok(serde_json::to_string(&texts)?)
}

fn special_use_text(special_use: SpecialUse) -> &'static str {
    match special_use {
        SpecialUse::None => "none",
        SpecialUse::Junk => "junk",
        SpecialUse::Sent => "sent",
    }
}

fn list_of<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    // Nearly every mail has an empty list; parsing that is most of the cost of reading a row.
    if text == "[]" { Vec::new() } else { serde_json::from_str(text).unwrap_or_default() }
}

pub(in crate::store) fn from_row(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    let text = |index: usize| row.get::<_, Option<String>>(index);
    let sent_at_ms: Option<i64> = row.get(13)?;
    let preview = text(16)?.unwrap_or_default();
    let provider_ids: Vec<String> = list_of(row.get_ref(5)?.as_str()?);
    let facts = MailFacts {
        message_id: text(7)?,
        from_address: text(8)?,
        from_name: text(9)?,
        to: list_of(row.get_ref(10)?.as_str()?),
        subject: text(11)?,
        sent_at: text(12)?.map(|text| SentAt { text, at: sent_at_ms }),
        list_id: text(14)?,
        body: text(15)?.map(|sha256| BodyFacts { sha256, preview }),
    };
    Ok(MessageRow {
        id: row.get(0)?,
        message_key: MessageKey(row.get(1)?),
        mailbox_id: MailboxId(row.get(2)?),
        account_id: text(3)?.map(AccountId),
        identity: row.get(4)?,
        provider_ids: provider_ids.iter().filter_map(|id| ProviderId::parse(id)).collect(),
        fingerprint: text(6)?,
        facts,
        folder: text(17)?,
        special_use: match row.get_ref(18)?.as_str()? {
            "junk" => SpecialUse::Junk,
            "sent" => SpecialUse::Sent,
            _ => SpecialUse::None,
        },
        received_at: row.get(19)?,
        processed_at: row.get(20)?,
        first_verdict: match row.get_ref(21)?.as_str()? {
            "collision" => Verdict::Collision,
            "baseline" => Verdict::Baseline,
            "old" => Verdict::Old,
            _ => Verdict::New,
        },
        sightings: row.get(22)?,
    })
}
