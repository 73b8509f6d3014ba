//! Self messages: digests, alarms and tests are mails of the built-in mailbox `ringonce`, so that they get keys,
//! outbox, retries and history for nothing.

use crate::decide::reason;
use crate::identity::{keys, resolve};
use crate::kernel::Kernel;
use crate::model::ids::{DestinationId, MailboxId, MessageKey, OperationKey};
use crate::model::mailbox::SpecialUse;
use crate::model::message::{BodyFacts, MailFacts, SentAt};
use crate::model::notification::OperationStatus;
use crate::model::sighting::Verdict;
use crate::notify::{self, Started};
use crate::payload::{SELF_MAILBOX, SELF_NAME, rfc3339};
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::delivery::{self, NewDelivery};
use crate::store::table::identity;
use crate::store::table::message::{self, MessageRow};
use crate::store::table::operation::{self, OperationRow};

/// A message to the owner from the program itself.
#[derive(Debug, Clone)]
pub struct SelfMessage {
    /// Names it: the Message-ID before `@ringonce`. The same one is told once.
    pub local_part: String,
    /// One line.
    pub subject: String,
    /// The text.
    pub body: String,
    /// Whom to tell, by which ways.
    pub ways: Vec<Vec<DestinationId>>,
    /// Why, for people.
    pub reason: String,
}

/// What was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The message.
    pub message_key: MessageKey,
    /// The action on it.
    pub operation_key: OperationKey,
    /// Lanes to wake after the commit.
    pub wake: Vec<DestinationId>,
}

/// Stores a self message with its notifications; one that is known already is not told again.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn tell(tx: Tx<'_>, kernel: &Kernel, new: &SelfMessage) -> Result<Told, StoreError> {
    let now_at = kernel.now();
    let mailbox_id = MailboxId::from(SELF_MAILBOX);
    let message_id = format!("{}@{SELF_MAILBOX}", new.local_part);
    let message_key = keys::message_key_of(&mailbox_id, &keys::Identifier::MessageId(&message_id));
    let operation_key = keys::operation_key(&message_key, keys::NOTIFY_OWNER);
    let mail = row(new, mailbox_id, message_id, message_key.clone(), now_at);
    let mut started = Started::default();
    if message::insert(tx, &mail)? {
        for (kind, value) in mail.identifiers() {
            identity::insert(tx, &mail.mailbox_id, kind, &value, &message_key)?;
        }
        delivery::record(
            tx,
            &NewDelivery {
                delivery_key: &keys::self_delivery(&new.local_part),
                message_key: &message_key,
                source: "self",
                locator: &new.local_part,
                verdict: Verdict::New,
                reason: "made by Ringonce",
                now_at,
            },
        )?;
        let completed = new.ways.iter().all(Vec::is_empty);
        let operation = OperationRow {
            operation_key: operation_key.clone(),
            message_key: message_key.clone(),
            action: keys::NOTIFY_OWNER.to_owned(),
            status: if completed { OperationStatus::Completed } else { OperationStatus::Processing },
            decision: "notify".to_owned(),
            reason: if completed { reason::NO_DESTINATION.to_owned() } else { new.reason.clone() },
            rule_id: None,
            routes: new.ways.clone(),
            held_until: None,
            created_at: now_at,
            rang_at: None,
        };
        if operation::insert(tx, &operation)? {
            notify::start(tx, kernel, &mail, &operation, false, &mut started)?;
        }
    }
    Ok(Told { message_key, operation_key, wake: started.wake })
}

fn row(
    new: &SelfMessage,
    mailbox_id: MailboxId,
    message_id: String,
    message_key: MessageKey,
    now_at: i64,
) -> MessageRow {
    let facts = MailFacts {
        message_id: Some(message_id),
        from_address: Some(format!("{SELF_MAILBOX}@{SELF_MAILBOX}")),
        from_name: Some(SELF_NAME.to_owned()),
        subject: Some(new.subject.clone()),
        sent_at: Some(SentAt { text: rfc3339(now_at), at: Some(now_at) }),
        body: Some(BodyFacts { sha256: keys::sha256_hex(new.body.as_bytes()), preview: new.body.clone() }),
        ..MailFacts::default()
    };
    MessageRow {
        id: 0,
        message_key,
        fingerprint: keys::fingerprint(&mailbox_id, &facts),
        mailbox_id,
        account_id: None,
        identity: resolve::IdentityKind::MessageId.as_str().to_owned(),
        provider_ids: Vec::new(),
        facts,
        folder: None,
        special_use: SpecialUse::None,
        received_at: now_at,
        processed_at: now_at,
        first_verdict: Verdict::New,
        sightings: 1,
    }
}
