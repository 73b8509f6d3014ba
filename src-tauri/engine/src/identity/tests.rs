//! The vectors of an independent implementation, and what they leave open.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;

use super::identify;
use super::keys::{fingerprint, ingest_delivery};
use super::resolve::{Candidates, IdentityKind, Known, Resolution, Seen, aliases, resolve};
use crate::mail::{self, Completeness};
use crate::model::ids::{DeliveryKey, MailboxId, MessageKey};
use crate::model::message::{BodyFacts, MailFacts, SentAt};
use crate::model::sighting::ProviderId;

fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/identity"));
    std::fs::read(root.join(name)).unwrap_or_else(|error| panic!("fixture {name}: {error}"))
}

fn json(name: &str) -> Vec<Value> {
    serde_json::from_slice(&fixture(name)).unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

#[test]
fn every_vector_has_every_field() {
    let vectors = json("identity.json");
    assert_eq!(vectors.len(), 43);
    for vector in &vectors {
        let file = text(vector, "file").unwrap();
        let facts = mail::read(&fixture(file), Completeness::Mail);
        let found = serde_json::to_value(identify(&text(vector, "mailbox_id").unwrap().into(), &[], &facts)).unwrap();
        for (name, expected) in vector.as_object().unwrap().iter().filter(|(name, _)| *name != "file") {
            assert_eq!(found.get(name), Some(expected), "{name} of {file}");
        }
    }
}

#[test]
fn a_provider_id_comes_first() {
    let facts = mail::read(&fixture("plain.eml"), Completeness::Mail);
    let found = identify(&"owner@example.com".into(), &[ProviderId::new("guid", "a1")], &facts);
    assert_eq!((found.identity, found.provider_id.as_deref()), ("provider_id", Some("guid:a1")));
    let expected = "05713bd343cfc2eb27e57c59f645d70a6f8579ec8c0c7698de0d4c116dc1e72b";
    assert_eq!(found.message_key, Some(expected.into()));
    let bare = identify(&"owner@example.com".into(), &[], &MailFacts::default());
    assert_eq!((bare.identity, bare.message_key), ("delivery", None), "nothing identifies it");
}

/// What the store keeps, in memory.
#[derive(Default)]
struct Memory {
    aliases: HashMap<(&'static str, String), MessageKey>,
    mails: HashMap<MessageKey, Known>,
}

struct Report {
    delivery_key: DeliveryKey,
    provider_ids: Vec<ProviderId>,
    facts: MailFacts,
    received_at: i64,
}

impl Memory {
    fn by(&self, kind: IdentityKind, value: Option<&str>) -> Option<Known> {
        let key = self.aliases.get(&(kind.as_str(), value?.to_owned()))?;
        self.mails.get(key).cloned()
    }

    /// Takes one sighting in: its mail's key and the verdict.
    fn take(&mut self, mailbox_id: &MailboxId, report: &Report) -> (MessageKey, &'static str) {
        let facts = &report.facts;
        let print = fingerprint(mailbox_id, facts);
        let by_id = |id: &ProviderId| self.by(IdentityKind::ProviderId, Some(&id.to_string()));
        let candidates = Candidates {
            by_provider_id: report.provider_ids.iter().find_map(by_id),
            by_message_id: self.by(IdentityKind::MessageId, facts.message_id.as_deref()),
            by_fingerprint: self.by(IdentityKind::Fingerprint, print.as_deref()),
        };
        let seen = Seen {
            mailbox_id,
            delivery_key: &report.delivery_key,
            provider_ids: &report.provider_ids,
            facts,
            received_at: report.received_at,
        };
        let (key, verdict) = match resolve(&seen, &candidates) {
            Resolution::Known { message_key, .. } => (message_key, "duplicate"),
            Resolution::Unknown { collision, keys } => {
                let free = keys.into_iter().find(|(key, _)| !self.mails.contains_key(key));
                let (key, _) = free.expect("the last key is the delivery's own");
                (key, if collision { "collision" } else { "new" })
            }
        };
        for (kind, value) in aliases(&report.provider_ids, facts, print.as_deref()) {
            self.aliases.entry((kind, value)).or_insert_with(|| key.clone());
        }
        let known = self.mails.entry(key.clone()).or_insert_with(|| Known {
            message_key: key.clone(),
            message_id: None,
            sent_at: None,
            subject: None,
            body_sha256: None,
            received_at: report.received_at,
            provider_ids: Vec::new(),
        });
        known.message_id = known.message_id.take().or_else(|| facts.message_id.clone());
        known.sent_at = known.sent_at.take().or_else(|| facts.sent_at.clone());
        known.subject = known.subject.take().or_else(|| facts.subject.clone());
        known.body_sha256 = known.body_sha256.take().or_else(|| facts.body.as_ref().map(|body| body.sha256.clone()));
        for id in &report.provider_ids {
            if !known.provider_ids.contains(id) {
                known.provider_ids.push(id.clone());
            }
        }
        (key, verdict)
    }
}

fn report_of(sighting: &Value, index: usize, received_at: i64) -> Report {
    let facts = match text(sighting, "file") {
        Some(file) => mail::read(&fixture(&format!("sightings/{file}")), Completeness::Mail),
        None => mail::from_values(
            text(sighting, "message_id"),
            text(sighting, "from"),
            text(sighting, "subject"),
            text(sighting, "date"),
        ),
    };
    Report {
        delivery_key: ingest_delivery(&"a".into(), text(sighting, "path").unwrap(), &index.to_string()),
        provider_ids: text(sighting, "provider_id").and_then(ProviderId::parse).into_iter().collect(),
        facts,
        received_at,
    }
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: Vec<usize>| {
        (0..count).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, count - 1);
            longer
        })
    };
    let mut all: Vec<_> = orders(count - 1).into_iter().flat_map(insert).collect();
    all.sort();
    all
}

/// One entry a sighting, in its own place: the mail it was found to be of.
fn run(mailbox_id: &MailboxId, reports: &[Report], order: &[usize]) -> (usize, Vec<(MessageKey, &'static str)>) {
    let mut memory = Memory::default();
    let mut found = vec![(MessageKey::from(""), ""); reports.len()];
    for &at in order {
        found[at] = memory.take(mailbox_id, &reports[at]);
    }
    (memory.mails.len(), found)
}

#[test]
fn sequences_of_sightings_ring_alike_in_every_order() {
    let sequences = json("sightings/sightings.json");
    assert_eq!(sequences.len(), 16);
    for sequence in &sequences {
        let name = text(sequence, "name").unwrap();
        let mailbox_id = MailboxId::from(text(sequence, "mailbox_id").unwrap());
        let received_at: jiff::Timestamp = text(sequence, "received_at").unwrap().parse().unwrap();
        let sightings = sequence.get("sightings").and_then(Value::as_array).unwrap();
        let reports: Vec<_> =
            sightings.iter().enumerate().map(|(i, s)| report_of(s, i, received_at.as_millisecond())).collect();
        let orders = orders(reports.len());
        for order in &orders {
            let (rings, found) = run(&mailbox_id, &reports, order);
            assert_eq!(Some(rings as u64), sequence.get("rings").and_then(Value::as_u64), "rings of {name}, {order:?}");
            for (a, one) in sightings.iter().enumerate() {
                for (b, other) in sightings.iter().enumerate() {
                    let same = one.get("mail") == other.get("mail");
                    assert_eq!(found[a].0 == found[b].0, same, "{name}, {order:?}: sightings {a} and {b}");
                }
            }
        }
        for (sighting, (key, verdict)) in sightings.iter().zip(run(&mailbox_id, &reports, &orders[0]).1) {
            assert_eq!(Some(key.as_str()), text(sighting, "message_key"), "key in {name}");
            assert_eq!(Some(verdict), text(sighting, "verdict"), "verdict in {name}");
        }
    }
}

const DAY: i64 = 86_400_000;

/// A sighting in short: `id=… date=<day>|bad subject=… body=… guid=…`, received on day 0.
fn short(text: &str, index: usize) -> Report {
    let value =
        |name: &str| text.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned);
    let sent_at = value("date").map(|day| SentAt { at: day.parse::<i64>().ok().map(|day| day * DAY), text: day });
    let facts = MailFacts {
        message_id: value("id"),
        sent_at,
        subject: value("subject"),
        body: value("body").map(|sha256| BodyFacts { sha256, preview: String::new() }),
        ..MailFacts::default()
    };
    let provider_ids = value("guid").map(|id| ProviderId::new("guid", id)).into_iter().collect();
    Report { delivery_key: format!("d{index}").as_str().into(), provider_ids, facts, received_at: 0 }
}

fn check(expected: &[&str], sightings: &[&str]) {
    let reports: Vec<_> = sightings.iter().enumerate().map(|(i, text)| short(text, i)).collect();
    let order: Vec<_> = (0..reports.len()).collect();
    let found = run(&"m".into(), &reports, &order).1;
    let verdicts: Vec<_> = found.iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, expected, "{sightings:?}");
}

#[test]
fn rules_of_resolving() {
    // A provider id is trusted unless Message-ID and Date both differ.
    check(&["new", "duplicate"], &["guid=1 id=a@b date=0 body=x", "guid=1 id=c@d date=0 body=y"]);
    check(&["new", "duplicate"], &["guid=1 id=a@b date=0 body=x", "guid=1 id=a@b date=1 body=x"]);
    check(&["new", "duplicate"], &["guid=1 id=a@b date=0 body=x", "guid=1 date=1 body=y"]);
    check(&["new", "duplicate"], &["guid=1", "guid=1 id=a@b date=0 body=x"]);
    check(&["new", "collision"], &["guid=1 id=a@b date=0 body=x", "guid=1 id=c@d date=1 body=y"]);
    check(&["new", "collision"], &["guid=1 id=a@b date=bad body=x", "guid=1 id=c@d date=worse body=y"]);
    // Refused there, it may still be known by its Message-ID or content.
    check(
        &["new", "new", "duplicate"],
        &[
            "guid=1 id=a@b date=0 subject=s body=x",
            "id=c@d date=1 subject=t body=y",
            "guid=1 id=c@d date=1 subject=t body=y",
        ],
    );
    // A Message-ID is trusted where one side is bare.
    check(&["new", "duplicate"], &["id=a@b", "id=a@b date=0 subject=s body=x"]);
    check(&["new", "duplicate"], &["id=a@b date=bad subject=s", "id=a@b date=0 subject=t body=x"]);
    check(&["new", "duplicate"], &["id=a@b date=9 subject=s", "id=a@b date=0 subject=t body=x"]);
    check(&["new", "duplicate"], &["id=a@b date=0", "id=a@b date=1 subject=t body=x"]);
    check(&["new", "collision"], &["id=a@b date=0 subject=s", "id=a@b date=1 subject=s body=x"]);
    // Both have a head: instant and subject decide, and the body does not.
    check(&["new", "duplicate"], &["id=a@b date=0 subject=s body=x", "id=a@b date=0 subject=Re:[l]S body=y"]);
    check(&["new", "collision"], &["id=a@b date=0 subject=s body=x", "id=a@b date=0 subject=t body=x"]);
    // Else the body decides, and other provider ids.
    check(&["new", "duplicate"], &["id=a@b date=9 subject=s body=x", "id=a@b date=9 subject=t body=x"]);
    check(&["new", "collision"], &["id=a@b date=9 subject=s body=x", "id=a@b date=9 subject=s body=y"]);
    check(&["new", "duplicate"], &["guid=1 id=a@b body=x", "id=a@b body=x"]);
    check(&["new", "collision"], &["guid=1 id=a@b body=x", "guid=2 id=a@b body=x"]);
    // Known by content only where there is no Message-ID or one was refused.
    check(&["new", "duplicate"], &["subject=s body=x", "subject=s body=x"]);
    check(&["new", "duplicate"], &["id=a@b subject=s body=x", "subject=s body=x"]);
    check(&["new", "new"], &["subject=s body=x", "id=a@b subject=s body=x"]);
    check(&["new", "new"], &["guid=1 body=x", "guid=2 body=x"]);
    check(&["new", "collision", "duplicate"], &["id=a@b body=x", "id=a@b body=y", "id=a@b body=y"]);
    // Nothing identifies them: each is its own.
    check(&["new", "new"], &["subject=s", "subject=s"]);
}

#[test]
fn a_new_mail_gets_the_first_key_that_is_free() {
    let facts = MailFacts {
        message_id: Some("a@b".into()),
        body: Some(BodyFacts { sha256: "x".into(), preview: String::new() }),
        ..MailFacts::default()
    };
    let kinds = |provider_ids: &[ProviderId], facts: &MailFacts, known: Option<Known>| {
        let seen = Seen { mailbox_id: &"m".into(), delivery_key: &"d".into(), provider_ids, facts, received_at: 0 };
        match resolve(&seen, &Candidates { by_message_id: known, ..Candidates::default() }) {
            Resolution::Unknown { keys, .. } => keys.into_iter().map(|(_, kind)| kind.as_str()).collect::<Vec<_>>(),
            Resolution::Known { by, .. } => panic!("known by {by:?}"),
        }
    };
    let guid = [ProviderId::new("guid", "1")];
    let all = ["provider_id", "message_id", "fingerprint", "provider_id_and_fingerprint", "delivery"];
    assert_eq!(kinds(&guid, &facts, None), all);
    assert_eq!(kinds(&[], &facts, None), ["message_id", "fingerprint", "delivery"]);
    assert_eq!(kinds(&[], &MailFacts::default(), None), ["delivery"], "no fingerprint of an empty body");
    let other = Known {
        message_key: "k".into(),
        message_id: Some("a@b".into()),
        sent_at: None,
        subject: None,
        body_sha256: Some("other".into()),
        received_at: 0,
        provider_ids: Vec::new(),
    };
    assert_eq!(kinds(&[], &facts, Some(other)), ["fingerprint", "delivery"], "not the Message-ID after a refusal");
}
