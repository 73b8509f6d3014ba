//! One transaction's work: each sighting is resolved, recorded, decided and acted on.

use std::sync::Arc;

use crate::decide::{self, Seen};
use crate::identity::keys;
use crate::identity::resolve::{self, Candidates, IdentityKind, Resolution};
use crate::intake::fill_in::fill_in;
use crate::intake::{Prepared, Taken};
use crate::kernel::{Configured, Kernel};
use crate::limits::GATHER_MS;
use crate::model::happening::Event;
use crate::model::ids::{MessageKey, OperationKey};
use crate::model::notification::OperationStatus;
use crate::model::occasion::Occasion;
use crate::model::repeat::MATCHED_BY_CONTENT;
use crate::model::rule::{Decision, Outcome};
use crate::model::sighting::{Intent, Sighting, Verdict};
use crate::notify::{self, Started};
use crate::store::Tx;
use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::table::day::Day;
use crate::store::table::delivery::{self, NewDelivery};
use crate::store::table::identity;
use crate::store::table::message::{self, MessageRow};
use crate::store::table::operation::{self, OperationRow};

/// One transaction's work.
pub(super) struct Intake<'a> {
    pub(super) tx: Tx<'a>,
    pub(super) kernel: &'a Kernel,
    pub(super) configured: Arc<Configured>,
    pub(super) now_at: i64,
    /// New rows may be born leased to their lane.
    pub(super) lease_at_birth: bool,
    /// What to count for today.
    pub(super) day: Day,
    /// What to hand over after the commit.
    pub(super) started: Started,
}

impl<'a> Intake<'a> {
    pub(super) fn new(tx: Tx<'a>, kernel: &'a Kernel) -> Result<Self, StoreError> {
        Ok(Self {
            tx,
            kernel,
            configured: kernel.configured(*tx)?,
            now_at: kernel.now(),
            lease_at_birth: true,
            day: Day::default(),
            started: Started::default(),
        })
    }

    pub(super) fn take(&mut self, one: &Prepared) -> Result<Taken, StoreError> {
        let sighting = &one.sighting;
        // Of a demo that was ended nothing is left, so nothing of it may come in late.
        if sighting.mailbox_id.is_demo() && self.configured.demo.as_ref() != Some(&sighting.account_id) {
            return Err(StoreError::new(StoreErrorKind::Refused, "The demo has ended"));
        }
        let (resolution, rows) = self.resolve(one)?;
        let taken = match resolution {
            Resolution::Known { message_key, by } => {
                let mail = match rows.into_iter().find(|row| row.message_key == message_key) {
                    Some(mail) => mail,
                    None => message::get(*self.tx, &message_key)?.ok_or_else(StoreError::closed)?,
                };
                self.seen_again(one, mail, by)?
            }
            Resolution::Unknown { collision, keys } => self.seen_first(one, collision, keys)?,
        };
        if !matches!(sighting.intent, Intent::Baseline) && !sighting.mailbox_id.is_demo() {
            self.day.sightings += 1;
            self.day.duplicates += i64::from(matches!(taken.verdict, Verdict::Duplicate | Verdict::Repeat));
        }
        Ok(taken)
    }

    /// Which mail it is, and the rows its aliases lead to. An alias is looked up only where the answer may depend on
    /// it: what is known by its first is not asked for by its second, and content speaks only where no name does.
    fn resolve(&self, one: &Prepared) -> Result<(Resolution, Vec<MessageRow>), StoreError> {
        let sighting = &one.sighting;
        let seen = resolve::Seen {
            mailbox_id: &sighting.mailbox_id,
            delivery_key: &sighting.delivery_key,
            provider_ids: &sighting.provider_ids,
            facts: &sighting.facts,
            received_at: sighting.received_at.unwrap_or(self.now_at),
        };
        let look = |kind: IdentityKind, value: &str| {
            message::by_identity(*self.tx, &sighting.mailbox_id, kind.as_str(), value)
        };
        let (mut known, mut rows) = (Candidates::default(), Vec::new());
        for id in &sighting.provider_ids {
            if let Some(row) = look(IdentityKind::ProviderId, &id.to_string())? {
                known.by_provider_id = Some(row.known());
                rows.push(row);
                break;
            }
        }
        if let Some(resolution) = already(&seen, &known, &rows) {
            return Ok((resolution, rows));
        }
        if let Some(id) = &sighting.facts.message_id
            && let Some(row) = look(IdentityKind::MessageId, id)?
        {
            known.by_message_id = Some(row.known());
            rows.push(row);
        }
        if let Some(resolution) = already(&seen, &known, &rows) {
            return Ok((resolution, rows));
        }
        let named = sighting.facts.message_id.is_some() && rows.is_empty();
        if let Some(print) = one.fingerprint.as_deref().filter(|_| !named)
            && let Some(row) = look(IdentityKind::Fingerprint, print)?
        {
            known.by_fingerprint = Some(row.known());
            rows.push(row);
        }
        Ok((resolve::resolve(&seen, &known), rows))
    }

    /// A mail nobody reported before.
    fn seen_first(
        &mut self,
        one: &Prepared,
        collision: bool,
        keys: Vec<(MessageKey, IdentityKind)>,
    ) -> Result<Taken, StoreError> {
        let sighting = &one.sighting;
        let verdict = match sighting.intent {
            Intent::Baseline => Verdict::Baseline,
            Intent::Old => Verdict::Old,
            Intent::Rebuild { rings_from } if sighting.received_at.unwrap_or(self.now_at) < rings_from => {
                Verdict::Baseline
            }
            _ if collision => Verdict::Collision,
            _ => Verdict::New,
        };
        let mut mail = self.new_row(one, verdict);
        for (key, kind) in keys {
            mail.message_key = key;
            mail.identity = kind.as_str().to_owned();
            if message::insert(self.tx, &mail)? {
                break;
            }
        }
        self.record_aliases(&mail.message_key, one)?;
        let reason = if collision { "another mail has its identifier" } else { "first seen" };
        self.record_delivery(sighting, &mail.message_key, verdict, reason)?;
        let has_reader = self.configured.readers.contains(&sighting.account_id);
        let decision = self.decide(&mail, self.intent(sighting), has_reader);
        let operation_key = keys::operation_key(&mail.message_key, keys::NOTIFY_OWNER);
        let operation = operation_row(&mail, &operation_key, keys::NOTIFY_OWNER, &decision, self.now_at);
        let silent = decision.outcome == Outcome::Silent && verdict != Verdict::Baseline;
        if operation::insert(self.tx, &operation)? {
            self.act(&mail, &operation)?;
            self.day.silent += i64::from(silent && !mail.mailbox_id.is_demo());
        }
        let happened = silent.then(|| (Event::Silent, subject(&mail), decision.reason));
        Ok(taken(sighting, verdict, mail.message_key, operation, happened))
    }

    /// A mail that is known: counted and shown; it is acted on only where the operation waits for it.
    fn seen_again(&mut self, one: &Prepared, mut mail: MessageRow, by: IdentityKind) -> Result<Taken, StoreError> {
        let sighting = &one.sighting;
        let operation_key = keys::operation_key(&mail.message_key, keys::NOTIFY_OWNER);
        let again = self.record_delivery(sighting, &mail.message_key, Verdict::Duplicate, same_by(by))?;
        message::mark_suppressed(self.tx, mail.id, self.now_at)?;
        let verdict = if again { Verdict::Repeat } else { Verdict::Duplicate };
        if !again {
            self.record_aliases(&mail.message_key, one)?;
        }
        if fill_in(&mut mail, sighting, &one.fingerprint) {
            message::update_facts(self.tx, &mail)?;
        }
        let mut operation = operation::get(*self.tx, &operation_key)?.ok_or_else(StoreError::closed)?;
        let awaited = operation.status == OperationStatus::Held && operation.reason == decide::reason::AWAITING_MAIL;
        if awaited && !sighting.facts.is_headerless() {
            operation = self.decide_anew(&mail, &operation, self.intent(sighting), false)?;
        }
        let reason = format!("{}, by {}", if again { "reported again" } else { same_by(by) }, sighting.source);
        let happened = Some((Event::Repeat, subject(&mail), reason));
        Ok(taken(sighting, verdict, mail.message_key, operation, happened))
    }

    pub(super) fn decide_anew(
        &mut self,
        mail: &MessageRow,
        held: &OperationRow,
        intent: Intent,
        has_reader: bool,
    ) -> Result<OperationRow, StoreError> {
        let decision = self.decide(mail, intent, has_reader);
        let operation = operation_row(mail, &held.operation_key, &held.action, &decision, held.created_at);
        if operation::release(self.tx, &operation, self.now_at)? {
            self.act(mail, &operation)?;
            self.day.silent += i64::from(decision.outcome == Outcome::Silent);
        }
        Ok(operation)
    }

    /// How a sighting is to be judged. The copy a history was restored from cannot know what rang after it was made.
    fn intent(&self, sighting: &Sighting) -> Intent {
        let paused = self.configured.paused_at(self.now_at).is_some();
        let intent = match sighting.intent {
            Intent::Arrival if paused => Intent::Gathered(Occasion::CatchUp),
            intent => intent,
        };
        let Some(restored) = &self.configured.restored else { return intent };
        match intent {
            Intent::Rebuild { rings_from } if sighting.received_at.is_some_and(|at| at < rings_from) => intent,
            Intent::Arrival | Intent::Gathered(_) | Intent::Rebuild { .. }
                if restored.covers(&sighting.account_id, sighting.received_at) =>
            {
                Intent::Gathered(Occasion::Restore)
            }
            intent => intent,
        }
    }

    pub(super) fn decide(&self, mail: &MessageRow, intent: Intent, has_reader: bool) -> Decision {
        if mail.mailbox_id.is_demo() {
            return decide::decide_demo(&self.configured.rulebook);
        }
        let seen = Seen {
            account_id: mail.account_id.as_ref(),
            facts: &mail.facts,
            folder: mail.folder.as_deref(),
            special_use: mail.special_use,
            intent,
            has_reader,
            received_at: mail.received_at,
        };
        decide::decide(&seen, &self.configured.rulebook, self.held_from(mail))
    }

    /// From when on the time counts that a mail may be held: while all watching is paused, from the end of the pause,
    /// and where nobody reads then, not at all.
    fn held_from(&self, mail: &MessageRow) -> i64 {
        let Some(until_at) = self.configured.paused_at(self.now_at) else { return self.now_at };
        let is_read = mail.account_id.as_ref().is_some_and(|id| self.configured.readers.contains(id));
        if is_read { until_at } else { until_at.saturating_sub(GATHER_MS).max(self.now_at) }
    }

    pub(super) fn act(&mut self, mail: &MessageRow, operation: &OperationRow) -> Result<(), StoreError> {
        notify::start(self.tx, self.kernel, mail, operation, self.lease_at_birth, &mut self.started)
    }

    fn record_aliases(&self, message_key: &MessageKey, one: &Prepared) -> Result<(), StoreError> {
        let sighting = &one.sighting;
        let aliases = resolve::aliases(&sighting.provider_ids, &sighting.facts, one.fingerprint.as_deref());
        for (kind, value) in aliases {
            identity::insert(self.tx, &sighting.mailbox_id, kind, &value, message_key)?;
        }
        Ok(())
    }

    fn record_delivery(
        &self,
        sighting: &Sighting,
        message_key: &MessageKey,
        verdict: Verdict,
        reason: &str,
    ) -> Result<bool, StoreError> {
        delivery::record(
            self.tx,
            &NewDelivery {
                delivery_key: &sighting.delivery_key,
                message_key,
                source: &sighting.source,
                locator: &sighting.locator,
                verdict,
                reason,
                now_at: self.now_at,
            },
        )
    }

    fn new_row(&self, one: &Prepared, first_verdict: Verdict) -> MessageRow {
        let sighting = &one.sighting;
        MessageRow {
            id: 0,
            message_key: MessageKey(String::new()),
            mailbox_id: sighting.mailbox_id.clone(),
            account_id: Some(sighting.account_id.clone()),
            identity: String::new(),
            provider_ids: sighting.provider_ids.clone(),
            fingerprint: one.fingerprint.clone(),
            facts: sighting.facts.clone(),
            folder: sighting.folder.clone(),
            special_use: sighting.special_use,
            received_at: sighting.received_at.unwrap_or(self.now_at),
            processed_at: self.now_at,
            first_verdict,
            sightings: 1,
        }
    }
}

/// The mail, where what was looked up so far names it: what comes after would not be asked.
fn already(seen: &resolve::Seen<'_>, known: &Candidates, rows: &[MessageRow]) -> Option<Resolution> {
    if rows.is_empty() {
        return None;
    }
    Some(resolve::resolve(seen, known)).filter(|resolution| matches!(resolution, Resolution::Known { .. }))
}

fn same_by(by: IdentityKind) -> &'static str {
    match by {
        IdentityKind::ProviderId => "same id of the provider",
        IdentityKind::MessageId => "same Message-ID",
        IdentityKind::Fingerprint | IdentityKind::ProviderIdAndFingerprint | IdentityKind::Delivery => {
            MATCHED_BY_CONTENT
        }
    }
}

pub(super) fn operation_row(
    mail: &MessageRow,
    operation_key: &OperationKey,
    action: &str,
    decision: &Decision,
    created_at: i64,
) -> OperationRow {
    let (status, routes, held_until) = match &decision.outcome {
        Outcome::Notify(ways) if ways.is_empty() => (OperationStatus::Completed, Vec::new(), None),
        Outcome::Notify(ways) => (OperationStatus::Processing, ways.clone(), None),
        Outcome::Silent => (OperationStatus::Completed, Vec::new(), None),
        Outcome::Hold(until) => (OperationStatus::Held, Vec::new(), Some(*until)),
    };
    OperationRow {
        operation_key: operation_key.clone(),
        message_key: mail.message_key.clone(),
        action: action.to_owned(),
        status,
        decision: decision.outcome.as_str().to_owned(),
        reason: decision.reason.clone(),
        rule_id: decision.rule_id.clone(),
        routes,
        held_until,
        created_at,
        rang_at: None,
    }
}

fn subject(mail: &MessageRow) -> String {
    mail.facts.subject.clone().unwrap_or_default()
}

fn taken(
    sighting: &Sighting,
    verdict: Verdict,
    message_key: MessageKey,
    operation: OperationRow,
    happened: Option<(Event, String, String)>,
) -> Taken {
    Taken {
        delivery_key: sighting.delivery_key.clone(),
        verdict,
        message_key,
        operation_key: operation.operation_key,
        awaits_mail: operation.status == OperationStatus::Held && operation.reason == decide::reason::AWAITING_MAIL,
        decision: operation.decision,
        reason: operation.reason,
        happened,
    }
}
