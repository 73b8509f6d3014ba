//! Which mail is it? Pure: the store looks the identifiers up and hands over what it found.

use crate::identity::keys::{Identifier, fingerprint, message_key_by_both, message_key_by_delivery, message_key_of};
use crate::model::ids::{DeliveryKey, MailboxId, MessageKey};
use crate::model::message::{MailFacts, SentAt};
use crate::model::sighting::ProviderId;

/// A Date this far from the receive time or farther says nothing of the mail, ms.
const CREDIBLE_MS_MAX: i64 = 48 * 3_600_000;
/// What replies and forwards put before a subject, in lower case.
const PREFIXES: [&str; 8] = ["re:", "fwd:", "fw:", "aw:", "wg:", "odp:", "отв:", "пер:"];

/// What a mail was recognised by, or what its key is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdentityKind {
    /// The provider's own id.
    ProviderId,
    /// The Message-ID.
    MessageId,
    /// The content.
    Fingerprint,
    /// Provider id and content together, where each alone is another mail's.
    ProviderIdAndFingerprint,
    /// Nothing but the delivery.
    Delivery,
}

impl IdentityKind {
    /// As in SQL and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderId => "provider_id",
            Self::MessageId => "message_id",
            Self::Fingerprint => "fingerprint",
            Self::ProviderIdAndFingerprint => "provider_id_and_fingerprint",
            Self::Delivery => "delivery",
        }
    }
}

/// A mail that is stored, as filled in by all its sightings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its key.
    pub message_key: MessageKey,
    /// Its Message-ID.
    pub message_id: Option<String>,
    /// Its Date.
    pub sent_at: Option<SentAt>,
    /// Its subject, whole.
    pub subject: Option<String>,
    /// Hash of its canonical body.
    pub body_sha256: Option<String>,
    /// INTERNALDATE, else when it was first seen, ms UTC.
    pub received_at: i64,
    /// All provider ids it was seen with.
    pub provider_ids: Vec<ProviderId>,
}

/// What the aliases of a sighting lead to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Candidates {
    /// By the first of its provider ids, in order, that is known.
    pub by_provider_id: Option<Known>,
    /// By its Message-ID.
    pub by_message_id: Option<Known>,
    /// By its fingerprint.
    pub by_fingerprint: Option<Known>,
}

/// A sighting, as far as resolving needs it.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Scope of keys.
    pub mailbox_id: &'a MailboxId,
    /// The delivery it came by.
    pub delivery_key: &'a DeliveryKey,
    /// Best first.
    pub provider_ids: &'a [ProviderId],
    /// What it tells.
    pub facts: &'a MailFacts,
    /// INTERNALDATE, else now, ms UTC.
    pub received_at: i64,
}

/// Which mail a sighting is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Of a known one.
    Known {
        /// That mail.
        message_key: MessageKey,
        /// What it was recognised by.
        by: IdentityKind,
    },
    /// Of a new one.
    Unknown {
        /// A known identifier was refused: it is another mail's.
        collision: bool,
        /// Keys for it, best first: the first that no other mail owns is its key. The last one is its alone.
        keys: Vec<(MessageKey, IdentityKind)>,
    },
}

/// Finds the mail a sighting is of. Where in doubt it is a new one: two rings are better than none.
#[must_use]
pub fn resolve(seen: &Seen<'_>, candidates: &Candidates) -> Resolution {
    let known = |mail: &Known, by| Resolution::Known { message_key: mail.message_key.clone(), by };
    let mut refused = false;
    if let Some(mail) = &candidates.by_provider_id {
        if !was_given_out_again(seen, mail) {
            return known(mail, IdentityKind::ProviderId);
        }
        refused = true;
    }
    if let (Some(_), Some(mail)) = (&seen.facts.message_id, &candidates.by_message_id) {
        if is_congruent(seen, mail) {
            return known(mail, IdentityKind::MessageId);
        }
        refused = true;
    }
    if refused || seen.facts.message_id.is_none() {
        let by_content = candidates.by_fingerprint.as_ref();
        if let Some(mail) = by_content.filter(|mail| !ids_conflict(seen.provider_ids, &mail.provider_ids)) {
            return known(mail, IdentityKind::Fingerprint);
        }
    }
    Resolution::Unknown { collision: refused, keys: keys_for_new(seen, refused) }
}

/// The aliases under which a mail is found again, as `(kind, value)` of `message_identities`. A provider id keeps
/// its namespace in the value, so that no namespace can pose as a kind.
#[must_use]
pub fn aliases(
    provider_ids: &[ProviderId],
    facts: &MailFacts,
    fingerprint: Option<&str>,
) -> Vec<(&'static str, String)> {
    let mut found: Vec<_> = provider_ids.iter().map(|id| (IdentityKind::ProviderId.as_str(), id.to_string())).collect();
    found.extend(facts.message_id.iter().map(|id| (IdentityKind::MessageId.as_str(), id.clone())));
    found.extend(fingerprint.map(|print| (IdentityKind::Fingerprint.as_str(), print.to_owned())));
    found
}

/// A rebuilt server counts its ids anew: one of them is two mails where both Message-ID and Date differ.
fn was_given_out_again(seen: &Seen<'_>, mail: &Known) -> bool {
    let ids_differ = matches!((&seen.facts.message_id, &mail.message_id), (Some(a), Some(b)) if a != b);
    let dates_differ = matches!((&seen.facts.sent_at, &mail.sent_at), (Some(a), Some(b)) if a.text != b.text);
    ids_differ && dates_differ
}

/// True unless two mails bear one Message-ID.
fn is_congruent(seen: &Seen<'_>, mail: &Known) -> bool {
    let one = Side {
        instant: credible(seen.facts.sent_at.as_ref(), seen.received_at),
        subject: seen.facts.subject.as_deref().filter(|subject| !subject.is_empty()),
        body: seen.facts.body.as_ref().map(|body| body.sha256.as_str()),
    };
    let other = Side {
        instant: credible(mail.sent_at.as_ref(), mail.received_at),
        subject: mail.subject.as_deref().filter(|subject| !subject.is_empty()),
        body: mail.body_sha256.as_deref(),
    };
    if one.is_bare() || other.is_bare() {
        return true;
    }
    match (one.head(), other.head()) {
        (Some((a_at, a_subject)), Some((b_at, b_subject))) => {
            a_at == b_at && without_prefixes(a_subject) == without_prefixes(b_subject)
        }
        _ => one.body.is_some() && one.body == other.body && !ids_conflict(seen.provider_ids, &mail.provider_ids),
    }
}

/// One of two things that are compared.
struct Side<'a> {
    /// A credible Date.
    instant: Option<i64>,
    subject: Option<&'a str>,
    body: Option<&'a str>,
}

impl<'a> Side<'a> {
    fn head(&self) -> Option<(i64, &'a str)> {
        self.instant.zip(self.subject)
    }

    /// It names a mail and says too little of it to contradict.
    fn is_bare(&self) -> bool {
        self.body.is_none() && self.head().is_none()
    }
}

fn credible(sent_at: Option<&SentAt>, received_at: i64) -> Option<i64> {
    let at = sent_at?.at?;
    (at.abs_diff(received_at) <= CREDIBLE_MS_MAX.unsigned_abs()).then_some(at)
}

/// Both sides have ids of one namespace, and none in common.
fn ids_conflict(a: &[ProviderId], b: &[ProviderId]) -> bool {
    a.iter().any(|id| {
        let mut same_kind = b.iter().filter(|other| other.kind == id.kind).peekable();
        same_kind.peek().is_some()
            && !a.iter().filter(|mine| mine.kind == id.kind).any(|mine| b.iter().any(|other| other == mine))
    })
}

/// A subject as a list or a forwarder may have changed it: without tags and prefixes, without case.
fn without_prefixes(subject: &str) -> String {
    let lower = subject.to_lowercase();
    let mut rest = lower.trim();
    loop {
        let tag = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')).map(|(_, after)| after);
        let shorter = tag.or_else(|| PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)));
        match shorter {
            Some(shorter) => rest = shorter.trim_start(),
            None => return rest.to_owned(),
        }
    }
}

fn keys_for_new(seen: &Seen<'_>, refused: bool) -> Vec<(MessageKey, IdentityKind)> {
    let of = |identifier| message_key_of(seen.mailbox_id, &identifier);
    let print = fingerprint(seen.mailbox_id, seen.facts);
    let best_id = seen.provider_ids.first();
    let mut keys = Vec::with_capacity(5);
    keys.extend(best_id.map(|id| (of(Identifier::Provider(id)), IdentityKind::ProviderId)));
    let message_id = seen.facts.message_id.as_deref().filter(|_| !refused);
    keys.extend(message_id.map(|id| (of(Identifier::MessageId(id)), IdentityKind::MessageId)));
    keys.extend(print.as_deref().map(|print| (of(Identifier::Fingerprint(print)), IdentityKind::Fingerprint)));
    if let (Some(id), Some(print)) = (best_id, &print) {
        keys.push((message_key_by_both(seen.mailbox_id, id, print), IdentityKind::ProviderIdAndFingerprint));
    }
    keys.push((message_key_by_delivery(seen.mailbox_id, seen.delivery_key), IdentityKind::Delivery));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_compared_without_what_others_put_before_them() {
        let same = [
            ("Invoice 41", "[billing] Invoice 41"),
            ("Invoice 41", "RE: Fwd: [a][b c]  re:Invoice 41"),
            ("Счёт", "Отв: ПЕР: WG: AW: Odp: FW: счёт"),
            ("[open", "[OPEN"),
            ("Re:", "[x]"),
        ];
        for (a, b) in same {
            assert_eq!(without_prefixes(a), without_prefixes(b), "{a:?} and {b:?}");
        }
        for (a, b) in [("Invoice 41", "Invoice 42"), ("Invoice", "Invoice Re: x"), ("Report", "port"), ("a [x]", "a")] {
            assert_ne!(without_prefixes(a), without_prefixes(b), "{a:?} and {b:?}");
        }
    }

    #[test]
    fn ids_conflict_where_a_namespace_has_nothing_in_common() {
        let ids = |text: &str| text.split_whitespace().filter_map(ProviderId::parse).collect::<Vec<_>>();
        for (a, b, expected) in [
            ("", "", false),
            ("guid:1", "", false),
            ("guid:1", "guid:1", false),
            ("guid:1", "guid:2", true),
            ("guid:1", "emailid:2", false),
            ("guid:1", "guid:2 guid:1", false),
            ("guid:1 emailid:1", "guid:1 emailid:2", true),
        ] {
            assert_eq!(ids_conflict(&ids(a), &ids(b)), expected, "{a:?} {b:?}");
            assert_eq!(ids_conflict(&ids(b), &ids(a)), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn a_date_is_credible_within_two_days() {
        let sent = |at| Some(SentAt { text: String::new(), at });
        let check = |at, received_at| credible(sent(at).as_ref(), received_at);
        assert_eq!(check(Some(0), CREDIBLE_MS_MAX), Some(0));
        assert_eq!(check(Some(CREDIBLE_MS_MAX), 0), Some(CREDIBLE_MS_MAX));
        assert_eq!(check(Some(0), CREDIBLE_MS_MAX + 1), None);
        assert_eq!(check(Some(i64::MIN), i64::MAX), None, "no overflow");
        assert_eq!(check(None, 0), None, "what is no date is not credible");
        assert_eq!(credible(None, 0), None);
    }
}
