//! The four keys. All are SHA-256 in lower-case hex of UTF-8 text, and none holds anything that can change.

use sha2::{Digest as _, Sha256};

use crate::model::ids::{AccountId, DeliveryKey, DispatchKey, MailboxId, MessageKey, OperationKey, Recipient};
use crate::model::message::MailFacts;
use crate::model::sighting::ProviderId;

/// Tell the owner of a mail.
pub const NOTIFY_OWNER: &str = "notify_owner:v1";

/// Tell the owner again, at the owner's wish: for the `n`-th time, from 1.
#[must_use]
pub fn notify_owner_again(n: u32) -> String {
    format!("notify_owner_again:v1:{n}")
}

/// What a mail is recognised by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identifier<'a> {
    /// The provider's own id.
    Provider(&'a ProviderId),
    /// A usable Message-ID.
    MessageId(&'a str),
    /// The fingerprint; it holds the mailbox already.
    Fingerprint(&'a str),
}

/// The key of the mail an identifier names in a mailbox.
#[must_use]
pub fn message_key_of(mailbox_id: &MailboxId, identifier: &Identifier<'_>) -> MessageKey {
    match identifier {
        Identifier::Provider(id) => hash([mailbox_id.as_str(), ":", &id.kind, ":", &id.value]).into(),
        Identifier::MessageId(id) => hash([mailbox_id.as_str(), ":", id]).into(),
        Identifier::Fingerprint(fingerprint) => (*fingerprint).into(),
    }
}

/// The key of a mail whose better keys are others' already: by its provider id and its content.
#[must_use]
pub fn message_key_by_both(mailbox_id: &MailboxId, provider_id: &ProviderId, fingerprint: &str) -> MessageKey {
    hash([mailbox_id.as_str(), "\n", &provider_id.kind, ":", &provider_id.value, "\n", fingerprint]).into()
}

/// The key of a mail that nothing but its delivery tells from others.
#[must_use]
pub fn message_key_by_delivery(mailbox_id: &MailboxId, delivery_key: &DeliveryKey) -> MessageKey {
    hash([mailbox_id.as_str(), "\n", delivery_key.as_str()]).into()
}

/// One action (its word and version, e.g. [`NOTIFY_OWNER`]) on one mail.
#[must_use]
pub fn operation_key(message_key: &MessageKey, action: &str) -> OperationKey {
    hash([message_key.as_str(), ":", action]).into()
}

/// One action to one recipient.
#[must_use]
pub fn dispatch_key(operation_key: &OperationKey, recipient: &Recipient) -> DispatchKey {
    hash([operation_key.as_str(), ":", recipient.as_str()]).into()
}

/// A mail at its place on an IMAP server. `folder` is the wire name.
#[must_use]
pub fn imap_delivery(account_id: &AccountId, folder: &str, uid_validity: u32, uid: u32) -> DeliveryKey {
    hash(["imap:", account_id.as_str(), ":", folder, ":", &uid_validity.to_string(), ":", &uid.to_string()]).into()
}

/// A mail put in by hand; `id` as given, else random.
#[must_use]
pub fn ingest_delivery(account_id: &AccountId, path: &str, id: &str) -> DeliveryKey {
    hash(["ingest:", account_id.as_str(), ":", path, ":", id]).into()
}

/// A call of a webhook; `event_id` is the provider's, or [`webhook_event_of`] the body where it gives none.
#[must_use]
pub fn webhook_delivery(endpoint_id: &str, event_id: &str) -> DeliveryKey {
    hash(["webhook:", endpoint_id, ":", event_id]).into()
}

/// Stands for the event id of a webhook that has none.
#[must_use]
pub fn webhook_event_of(body: &[u8]) -> String {
    sha256_hex(body)
}

/// A message of the program itself.
#[must_use]
pub fn self_delivery(id: &str) -> DeliveryKey {
    hash(["self:", id]).into()
}

/// What a mail's content is recognised by; `None` where the sighting brought no body.
#[must_use]
pub fn fingerprint(mailbox_id: &MailboxId, facts: &MailFacts) -> Option<String> {
    let body = facts.body.as_ref()?;
    let from = facts.from_address.as_deref().unwrap_or_default();
    let subject = facts.subject.as_deref().unwrap_or_default();
    let sent_at = facts.sent_at.as_ref().map_or("", |sent| sent.text.as_str());
    Some(hash([mailbox_id.as_str(), "\n", from, "\n", subject, "\n", sent_at, "\n", &body.sha256]))
}

/// A target field of a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetField<'a> {
    /// Its key.
    pub name: &'a str,
    /// Its value, or the default.
    pub value: &'a str,
    /// The value is a URL: spelled otherwise it is the same target.
    pub is_url: bool,
}

/// The real target behind a destination, from the kind of its channel and all its target fields, in any order.
#[must_use]
pub fn recipient<'a>(kind: &str, targets: impl IntoIterator<Item = TargetField<'a>>) -> Recipient {
    let mut lines: Vec<(&str, String)> = targets
        .into_iter()
        .map(|field| (field.name, if field.is_url { normal_url(field.value) } else { field.value.to_owned() }))
        .collect();
    lines.sort();
    let mut text = kind.to_owned();
    for (name, value) in lines {
        text.push('\n');
        text.push_str(name);
        text.push('=');
        text.push_str(&value);
    }
    let mut digest = sha256_hex(text.as_bytes());
    digest.truncate(16);
    Recipient(format!("{kind}:{digest}"))
}

/// Scheme and host in lower case, no default port, no slash at the end of the path. What is no URL stays as it is.
fn normal_url(value: &str) -> String {
    let Ok(url) = url::Url::parse(value.trim()) else { return value.to_owned() };
    let ends_in_path = url.query().is_none() && url.fragment().is_none();
    let text = String::from(url);
    if ends_in_path { text.trim_end_matches('/').to_owned() } else { text }
}

/// SHA-256 in lower-case hex.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

fn hash<const N: usize>(parts: [&str; N]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
    }
    to_hex(&hasher.finalize())
}

fn to_hex(digest: &[u8]) -> String {
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    digest.iter().flat_map(|octet| [digit(octet >> 4), digit(octet & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition, written out by hand.
    fn check(key: &str, text: &str) {
        assert_eq!(key, sha256_hex(text.as_bytes()), "key of {text:?}");
    }

    #[test]
    fn keys_are_made_from_their_text() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let mailbox = MailboxId::from("o@e");
        let guid = ProviderId::new("guid", "a1");
        check(message_key_of(&mailbox, &Identifier::Provider(&guid)).as_str(), "o@e:guid:a1");
        check(message_key_of(&mailbox, &Identifier::MessageId("x@y")).as_str(), "o@e:x@y");
        assert_eq!(message_key_of(&mailbox, &Identifier::Fingerprint("f")).as_str(), "f", "not hashed again");
        check(message_key_by_both(&mailbox, &guid, "f").as_str(), "o@e\nguid:a1\nf");
        check(message_key_by_delivery(&mailbox, &"d".into()).as_str(), "o@e\nd");
        check(operation_key(&"m".into(), NOTIFY_OWNER).as_str(), "m:notify_owner:v1");
        check(operation_key(&"m".into(), &notify_owner_again(2)).as_str(), "m:notify_owner_again:v1:2");
        check(dispatch_key(&"op".into(), &"ntfy:00".into()).as_str(), "op:ntfy:00");
        check(imap_delivery(&"acc".into(), "INBOX", 3, 7).as_str(), "imap:acc:INBOX:3:7");
        check(ingest_delivery(&"acc".into(), "webhook", "x").as_str(), "ingest:acc:webhook:x");
        check(webhook_delivery("end", "msg_1").as_str(), "webhook:end:msg_1");
        check(self_delivery("test.1@ringonce").as_str(), "self:test.1@ringonce");
    }

    fn ntfy(server: &str, topic: &str) -> Recipient {
        let server = TargetField { name: "server", value: server, is_url: true };
        let topic = TargetField { name: "topic", value: topic, is_url: false };
        let found = recipient("ntfy", [topic, server]);
        assert_eq!(found, recipient("ntfy", [server, topic]), "the order of fields does not matter");
        found
    }

    #[test]
    fn a_recipient_is_its_target() {
        let text = "ntfy\nserver=https://ntfy.sh\ntopic=mail";
        let expected = format!("ntfy:{}", sha256_hex(text.as_bytes()).get(..16).unwrap());
        for server in ["https://ntfy.sh", "https://ntfy.sh/", "HTTPS://Ntfy.SH:443/", " https://ntfy.sh//"] {
            assert_eq!(ntfy(server, "mail").as_str(), expected, "{server:?}");
        }
        for (server, topic) in
            [("https://ntfy.sh", "Mail"), ("http://ntfy.sh", "mail"), ("https://ntfy.sh:8443", "mail")]
        {
            assert_ne!(ntfy(server, topic).as_str(), expected, "another target: {server} {topic}");
        }
        let desktop = recipient("desktop", []);
        assert_eq!(desktop.as_str(), format!("desktop:{}", sha256_hex(b"desktop").get(..16).unwrap()));
        assert_eq!(normal_url("https://x.example/a/?q=/"), "https://x.example/a/?q=/", "a query is left alone");
        assert_eq!(normal_url("no url/"), "no url/");
    }
}
