//! The place where a mail was seen, and the sighting that tells of it.

use crate::identity::keys::imap_delivery;
use crate::model::ids::{AccountId, DeliveryKey, MailboxId};
use crate::model::mailbox::{FolderCursor, SpecialUse};
use crate::model::sighting::{CursorMove, Intent, Sighting};
use crate::source::imap::session::fetch::Mail;

/// One mail in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Wire name of the folder.
    pub folder: String,
    /// UIDVALIDITY of the folder when the mail was seen.
    pub uid_validity: u32,
    /// Its number.
    pub uid: u32,
}

impl Spot {
    /// From the locator of a sighting.
    #[must_use]
    pub fn parse(locator: &str) -> Option<Self> {
        // A folder's name may hold anything, so it is read from the end.
        let (rest, uid) = locator.rsplit_once(";UID=")?;
        let (folder, uid_validity) = rest.rsplit_once(";UIDVALIDITY=")?;
        Some(Self { folder: folder.to_owned(), uid_validity: uid_validity.parse().ok()?, uid: uid.parse().ok()? })
    }

    fn locator(&self) -> String {
        format!("{};UIDVALIDITY={};UID={}", self.folder, self.uid_validity, self.uid)
    }
}

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
            locator: Spot { folder: self.folder.clone(), uid_validity, uid }.locator(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_is_read_back_whatever_the_folder_is_called() {
        for folder in ["INBOX", "a;UID=3;UIDVALIDITY=4", "Entw&APw-rfe", ";", ""] {
            let spot = Spot { folder: folder.to_owned(), uid_validity: 7, uid: 4_294_967_295 };
            assert_eq!(Spot::parse(&spot.locator()), Some(spot));
        }
        for odd in ["", "INBOX", "INBOX;UID=1", "INBOX;UIDVALIDITY=1;UID=x", "INBOX;UIDVALIDITY=1;UID=4294967296"] {
            assert_eq!(Spot::parse(odd), None, "{odd}");
        }
    }
}
