//! Identity: when are two things the same? Pure: no clock, no database, no I/O.
//!
//! [`keys`] makes the four keys, [`resolve`] says which mail a sighting is of. Here: the identity of one mail as seen
//! alone, as `ringonce identify` prints it.

use serde::Serialize;

use self::keys::{Identifier, NOTIFY_OWNER, message_key_of, operation_key};
use self::resolve::IdentityKind;
use crate::model::ids::{MailboxId, MessageKey, OperationKey};
use crate::model::message::MailFacts;
use crate::model::sighting::ProviderId;

pub mod keys;
pub mod resolve;
#[cfg(test)]
mod tests;

/// Everything that identifies a mail that is seen for the first time and alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Scope of keys.
    pub mailbox_id: MailboxId,
    /// What the key is made from: `provider_id`, `message_id` or `fingerprint`.
    pub identity: &'static str,
    /// The best provider id, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Usable Message-ID.
    pub message_id: Option<String>,
    /// Address of the first author; empty without one.
    pub from: String,
    /// Decoded subject; empty without one.
    pub subject: String,
    /// Date; empty without one.
    pub sent_at: String,
    /// Hash of the canonical body; `None` without a body.
    pub body_sha256: Option<String>,
    /// The content's fingerprint; `None` without a body.
    pub fingerprint: Option<String>,
    /// The fingerprint, by the name the literature has for it.
    pub fallback_key: Option<String>,
    /// Which mail it is. `None` where nothing identifies it (no id and no body): its delivery would.
    pub message_key: Option<MessageKey>,
    /// The order to tell the owner of it.
    pub operation_key: Option<OperationKey>,
}

/// The identity of a mail by its best identifier: provider id, Message-ID, fingerprint.
#[must_use]
pub fn identify(mailbox_id: &MailboxId, provider_ids: &[ProviderId], facts: &MailFacts) -> Identity {
    let fingerprint = keys::fingerprint(mailbox_id, facts);
    let provider_id = provider_ids.first();
    let best = match (provider_id, &facts.message_id, &fingerprint) {
        (Some(id), _, _) => Some((Identifier::Provider(id), IdentityKind::ProviderId)),
        (None, Some(id), _) => Some((Identifier::MessageId(id), IdentityKind::MessageId)),
        (None, None, Some(print)) => Some((Identifier::Fingerprint(print), IdentityKind::Fingerprint)),
        (None, None, None) => None,
    };
    let message_key = best.map(|(identifier, _)| message_key_of(mailbox_id, &identifier));
    Identity {
        mailbox_id: mailbox_id.clone(),
        identity: best.map_or(IdentityKind::Delivery, |(_, kind)| kind).as_str(),
        provider_id: provider_id.map(ToString::to_string),
        message_id: facts.message_id.clone(),
        from: facts.from_address.clone().unwrap_or_default(),
        subject: facts.subject.clone().unwrap_or_default(),
        sent_at: facts.sent_at.as_ref().map(|sent| sent.text.clone()).unwrap_or_default(),
        body_sha256: facts.body.as_ref().map(|body| body.sha256.clone()),
        operation_key: message_key.as_ref().map(|key| operation_key(key, NOTIFY_OWNER)),
        message_key,
        fallback_key: fingerprint.clone(),
        fingerprint,
    }
}
