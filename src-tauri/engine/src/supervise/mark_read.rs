//! Marks a mail as read at its server and writes down what came of it: for the button of a notification, and for the
//! owner who asks in other ways.

use crate::identity::keys::imap_delivery;
use crate::kernel::Kernel;
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::MessageKey;
use crate::model::mailbox::Mailbox;
use crate::model::topic::Topic;
use crate::secret::SecretName;
use crate::secret::kept::KeptSecrets;
use crate::source::imap::mark_read;
use crate::source::imap::place::Spot;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::{delivery, mail_action, mailbox, message};

/// Places that are looked at for one mail.
const SPOTS_MAX: usize = 4;

/// Marks a mail as read.
///
/// # Errors
/// `not_found` where no mailbox that is read by IMAP has it (any more); what stands between us and its server.
pub async fn mark_read(kernel: &Kernel, secrets: &KeptSecrets, key: &MessageKey) -> Result<(), Fault> {
    let (about, now_at) = (key.clone(), kernel.now());
    let id = kernel.store.write(move |tx| mail_action::insert(tx, &about, mail_action::MARK_READ, now_at)).await?;
    kernel.changed(&[Topic::History]);
    let done = mark(kernel, secrets, key).await;
    let (result, now_at) = (done.clone(), kernel.now());
    let written = kernel.store.write(move |tx| mail_action::finish(tx, id, &result, now_at)).await;
    kernel.changed(&[Topic::History]);
    written?;
    done
}

async fn mark(kernel: &Kernel, secrets: &KeptSecrets, key: &MessageKey) -> Result<(), Fault> {
    let about = key.clone();
    let Some((mailbox, spots)) = kernel.store.read(move |read| find(read, &about)).await? else {
        return Err(refused("no mailbox that is read by IMAP has it", "mark it in your mail program"));
    };
    let Some(server) = &mailbox.imap else {
        return Err(refused("its mailbox is not read by IMAP any more", "mark it in your mail program"));
    };
    let password = secrets.get(&SecretName::mailbox(&mailbox.account_id)).await?.ok_or_else(|| {
        refused(
            "the password of its mailbox is not kept",
            "give it again with `ringonce mailbox set ID --password-stdin`",
        )
    })?;
    mark_read::mark_read(server, &password, &spots).await
}

/// The mailbox in which a mail was seen last, and its places there, the newest first.
fn find(read: Read<'_>, key: &MessageKey) -> Result<Option<(Mailbox, Vec<Spot>)>, StoreError> {
    let Some(mail) = message::get(read, key)? else { return Ok(None) };
    let mailboxes = mailbox::list(read)?.into_iter().filter(|mailbox| mailbox.mailbox_id == mail.mailbox_id);
    let mailboxes: Vec<Mailbox> = mailboxes.collect();
    let mut deliveries = delivery::list(read, key)?;
    deliveries.retain(|row| row.source == "imap");
    deliveries.sort_by_key(|row| std::cmp::Reverse(row.first_seen_at));
    let mut found: Option<(Mailbox, Vec<Spot>)> = None;
    for row in deliveries {
        let Some(spot) = Spot::parse(&row.locator) else { continue };
        // A locator does not name its account; the key was made from it.
        let is_from = |mailbox: &&Mailbox| {
            imap_delivery(&mailbox.account_id, &spot.folder, spot.uid_validity, spot.uid) == row.delivery_key
        };
        let Some(mailbox) = mailboxes.iter().find(is_from) else { continue };
        match &mut found {
            None => found = Some((mailbox.clone(), vec![spot])),
            Some((known, spots)) if known.account_id == mailbox.account_id && spots.len() < SPOTS_MAX => {
                spots.push(spot);
            }
            Some(_) => {}
        }
    }
    Ok(found)
}

fn refused(cause: &str, next_step: &str) -> Fault {
    Fault::new(FaultCode::NotFound, "The mail was not marked as read", cause, next_step)
}
