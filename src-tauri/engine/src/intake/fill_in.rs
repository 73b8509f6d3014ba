//! What a mail lacks is filled in by the first sighting that has it.

use crate::model::sighting::Sighting;
use crate::store::table::message::MessageRow;

/// Fills in what the mail lacks and this sighting has. `false`: nothing new.
pub(super) fn fill_in(mail: &mut MessageRow, sighting: &Sighting, fingerprint: &Option<String>) -> bool {
    let before = mail.clone();
    let (known, told) = (&mut mail.facts, &sighting.facts);
    let empty_subject = known.subject.as_deref().is_none_or(str::is_empty);
    if empty_subject && told.subject.is_some() {
        known.subject.clone_from(&told.subject);
    }
    if known.sent_at.as_ref().is_none_or(|sent| sent.at.is_none()) && told.sent_at.is_some() {
        known.sent_at.clone_from(&told.sent_at);
    }
    fill(&mut known.message_id, &told.message_id);
    fill(&mut known.from_address, &told.from_address);
    fill(&mut known.from_name, &told.from_name);
    fill(&mut known.list_id, &told.list_id);
    fill(&mut known.body, &told.body);
    if known.to.is_empty() {
        known.to.clone_from(&told.to);
    }
    fill(&mut mail.fingerprint, fingerprint);
    if mail.folder.is_none() && sighting.folder.is_some() {
        mail.folder.clone_from(&sighting.folder);
        mail.special_use = sighting.special_use;
    }
    // Until a sighting brings the provider's receive time, the time it was first seen stands for it.
    if mail.received_at == mail.processed_at {
        mail.received_at = sighting.received_at.unwrap_or(mail.received_at);
    }
    for id in &sighting.provider_ids {
        if !mail.provider_ids.iter().any(|known| known.kind == id.kind) {
            mail.provider_ids.push(id.clone());
        }
    }
    *mail != before
}

fn fill<T: Clone>(known: &mut Option<T>, told: &Option<T>) {
    if known.is_none() {
        known.clone_from(told);
    }
}
