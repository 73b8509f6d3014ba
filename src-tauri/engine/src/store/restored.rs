//! A history that was taken from a copy: what came between the copy and the restoring is unknown to it, and some of that
//! rang already. Until each mailbox was looked through once, intake tells such mail in digests only.

use std::collections::BTreeSet;

use crate::model::ids::AccountId;
use crate::model::mailbox::Mailbox;
use crate::store::error::StoreError;
use crate::store::table::meta;
use crate::store::{Read, Tx};

/// When the copy was put in place, ms UTC.
pub(in crate::store) const RESTORED_AT: &str = "restored_at";
/// When the copy was made, ms UTC.
pub(in crate::store) const RESTORED_FROM_AT: &str = "restored_from_at";
/// JSON list of the accounts that were looked through since.
pub(in crate::store) const RESTORED_TOLD: &str = "restored_told";

/// Mailboxes that are not read are never looked through: what is reported of them counts as old for so long, ms.
const UNREAD_MS: i64 = 7 * 86_400_000;

/// What is still to be looked through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    at: i64,
    told: BTreeSet<AccountId>,
}

impl Restored {
    /// What is still to be looked through; `None` where every mailbox that is read was.
    ///
    /// # Errors
    /// [`StoreError`] of the query.
    pub fn get(read: Read<'_>, mailboxes: &[Mailbox], now_at: i64) -> Result<Option<Self>, StoreError> {
        let Some(at) = meta::get(read, RESTORED_AT)?.and_then(|at| at.parse().ok()) else { return Ok(None) };
        let told = meta::get(read, RESTORED_TOLD)?.and_then(|told| serde_json::from_str(&told).ok());
        let restored = Self { at, told: told.unwrap_or_default() };
        Ok(Some(restored).filter(|restored| !restored.is_over(mailboxes, now_at)))
    }

    /// Whether a mail unknown to the copy may have rung before. One whose time of receipt nobody tells was seen first
    /// just now.
    #[must_use]
    pub fn covers(&self, account_id: &AccountId, received_at: Option<i64>) -> bool {
        received_at.is_some_and(|received_at| received_at <= self.at) && !self.told.contains(account_id)
    }

    /// A mailbox was looked through; with the last one the marks go.
    ///
    /// # Errors
    /// [`StoreError`] of a statement.
    pub fn mark_told(
        &self,
        tx: Tx<'_>,
        account_id: &AccountId,
        mailboxes: &[Mailbox],
        now_at: i64,
    ) -> Result<(), StoreError> {
        let mut now = self.clone();
        now.told.insert(account_id.clone());
        if !now.is_over(mailboxes, now_at) {
            return meta::set(tx, RESTORED_TOLD, &serde_json::to_string(&now.told)?);
        }
        for key in [RESTORED_AT, RESTORED_FROM_AT, RESTORED_TOLD] {
            meta::remove(tx, key)?;
        }
        Ok(())
    }

    fn is_over(&self, mailboxes: &[Mailbox], now_at: i64) -> bool {
        mailboxes.iter().all(|mailbox| match mailbox.imap {
            Some(_) => self.told.contains(&mailbox.account_id),
            None => now_at > self.at.saturating_add(UNREAD_MS),
        })
    }
}
