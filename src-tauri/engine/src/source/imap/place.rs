//! The place where a mail was seen, and the sighting that tells of it.

use crate::identity::keys::imap_delivery;
use crate::model::ids::{AccountId, DeliveryKey, MailboxId};
use crate::model::mailbox::{FolderCursor, SpecialUse};
use crate::model::sighting::{CursorMove, Intent, Sighting};
use crate::source::imap::session::fetch::Mail;

/// One folder of one mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The account.
    pub(super) account_id: AccountId,
    /// Scope of keys.
    pub(super) mailbox_id: MailboxId,
    /// Wire name of the folder.
    pub(super) folder: String,
    /// What the folder is for.
    pub(super) special_use: SpecialUse,
}

impl Place {
    /// Names the delivery of a mail here.
    pub(super) fn delivery_key(&self, uid_validity: u32, uid: u32) -> DeliveryKey {
        imap_delivery(&self.account_id, &self.folder, uid_validity, uid)
    }

    /// A mail seen here.
    pub(super) fn sighting(&self, uid_validity: u32, uid: u32, mail: Mail, intent: Intent) -> Sighting {
        Sighting {
            account_id: self.account_id.clone(),
            mailbox_id: self.mailbox_id.clone(),
            delivery_key: self.delivery_key(uid_validity, uid),
            source: "imap".to_owned(),
            locator: format!("{};UIDVALIDITY={uid_validity};UID={uid}", self.folder),
            provider_ids: mail.provider_ids,
            facts: mail.facts.unwrap_or_default(),
            received_at: mail.received_at,
            folder: Some(self.folder.clone()),
            special_use: self.special_use,
            intent,
        }
    }

    /// A move of this folder's cursor.
    pub(super) fn cursor_move(&self, cursor: FolderCursor) -> CursorMove {
        CursorMove { account_id: self.account_id.clone(), folder: self.folder.clone(), cursor }
    }
}
