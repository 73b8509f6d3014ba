//! Intake: the one transaction. A report becomes deliveries, mails, identities, operations and notifications, and its
//! cursor moves; after a crash either all of it exists or none.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::crash;
use crate::decide::{self, Seen};
use crate::identity::keys;
use crate::identity::resolve::{self, Candidates, IdentityKind, Resolution};
use crate::kernel::{Configured, Kernel};
use crate::model::happening::{Event, Happening};
use crate::model::ids::{AccountId, DeliveryKey, MessageKey, OperationKey};
use crate::model::mailbox::FolderCursor;
use crate::model::notification::OperationStatus;
use crate::model::rule::{Decision, Outcome};
use crate::model::sighting::{Intent, Report, Sighting, Verdict};
use crate::model::topic::Topic;
use crate::notify::{self, Started};
use crate::outbox::settle::After;
use crate::source::{Found, NotStored, Sink};
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::day::{self, Day};
use crate::store::table::delivery::{self, NewDelivery};
use crate::store::table::message::{self, MessageRow};
use crate::store::table::operation::{self, OperationRow};
use crate::store::table::{folder, identity};

/// What became of one sighting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The delivery.
    pub delivery_key: DeliveryKey,
    /// What it was found to be.
    pub verdict: Verdict,
    /// The mail.
    pub message_key: MessageKey,
    /// The action on it.
    pub operation_key: OperationKey,
    /// `notify`, `silent` or `hold`.
    pub decision: String,
    /// Why.
    pub reason: String,
    /// The mail itself is still to be fetched.
    pub awaits_mail: bool,
    /// What to say happened; rings are said when they were accepted.
    happened: Option<(Event, String, String)>,
}

/// A sighting with what can be computed before the transaction.
struct Prepared {
    sighting: Sighting,
    fingerprint: Option<String>,
}

/// Stores a report whole.
///
/// # Errors
/// [`StoreError`]; then nothing of it is stored.
pub async fn take_in(kernel: &Kernel, report: Report) -> Result<Vec<Taken>, StoreError> {
    let Report { sightings, cursor } = report;
    let prepared: Vec<Prepared> = sightings
        .into_iter()
        .map(|sighting| Prepared { fingerprint: keys::fingerprint(&sighting.mailbox_id, &sighting.facts), sighting })
        .collect();
    let in_job = kernel.clone();
    let (taken, started) = kernel
        .store
        .write(move |tx| {
            let mut intake = Intake::new(tx, &in_job)?;
            let mut taken = Vec::with_capacity(prepared.len());
            for one in &prepared {
                taken.push(intake.take(one)?);
            }
            if let Some(step) = &cursor {
                folder::put(tx, step)?;
            }
            day::add(tx, &in_job.today(), intake.day)?;
            crash::point("intake_before_commit");
            Ok((taken, intake.started))
        })
        .await?;
    crash::point("intake_after_commit");
    started.hand_over(kernel);
    if !taken.is_empty() {
        kernel.changed(&[Topic::Status, Topic::History, Topic::Duplicates]);
        if taken.iter().any(|one| one.awaits_mail) {
            kernel.sweep.notify_one();
        }
    }
    for one in &taken {
        if let Some((event, subject, reason)) = one.happened.clone() {
            let message_key = Some(one.message_key.clone());
            kernel.happened(Happening { event, message_key, subject, reason, at: kernel.now() });
        }
    }
    Ok(taken)
}

/// Releases a held operation whose time is over, with what is known by now.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn release(tx: Tx<'_>, kernel: &Kernel, held: &OperationRow) -> Result<After, StoreError> {
    let Some(mail) = message::get(*tx, &held.message_key)? else { return Ok(After::default()) };
    let mut intake = Intake::new(tx, kernel)?;
    intake.lease_at_birth = false;
    intake.decide_anew(&mail, held, Intent::Arrival, false)?;
    day::add(tx, &kernel.today(), intake.day)?;
    Ok(After { wake: intake.started.wake, ..After::default() })
}

/// One transaction's work.
struct Intake<'a> {
    tx: Tx<'a>,
    kernel: &'a Kernel,
    configured: Arc<Configured>,
    now_at: i64,
    lease_at_birth: bool,
    day: Day,
    started: Started,
}

impl<'a> Intake<'a> {
    fn new(tx: Tx<'a>, kernel: &'a Kernel) -> Result<Self, StoreError> {
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

    fn take(&mut self, one: &Prepared) -> Result<Taken, StoreError> {
        let sighting = &one.sighting;
        let candidates = self.candidates(one)?;
        let resolution = resolve::resolve(
            &resolve::Seen {
                mailbox_id: &sighting.mailbox_id,
                delivery_key: &sighting.delivery_key,
                provider_ids: &sighting.provider_ids,
                facts: &sighting.facts,
                received_at: sighting.received_at.unwrap_or(self.now_at),
            },
            &candidates.known,
        );
        let taken = match resolution {
            Resolution::Known { message_key, by } => {
                let mail = candidates.rows.into_iter().find(|row| row.message_key == message_key);
                let mail = match mail {
                    Some(mail) => mail,
                    None => message::get(*self.tx, &message_key)?.ok_or_else(StoreError::closed)?,
                };
                self.seen_again(one, mail, by)?
            }
            Resolution::Unknown { collision, keys } => self.seen_first(one, collision, keys)?,
        };
        if !matches!(sighting.intent, Intent::Baseline) {
            self.day.sightings += 1;
            self.day.duplicates += i64::from(matches!(taken.verdict, Verdict::Duplicate | Verdict::Repeat));
        }
        Ok(taken)
    }

    fn candidates(&self, one: &Prepared) -> Result<Likely, StoreError> {
        let sighting = &one.sighting;
        let mut found = Likely { known: Candidates::default(), rows: Vec::new() };
        let mut look = |kind: IdentityKind, value: &str| -> Result<Option<resolve::Known>, StoreError> {
            let row = message::by_identity(*self.tx, &sighting.mailbox_id, kind.as_str(), value)?;
            let known = row.as_ref().map(MessageRow::known);
            found.rows.extend(row);
            Ok(known)
        };
        let mut by_provider_id = None;
        for id in &sighting.provider_ids {
            by_provider_id = look(IdentityKind::ProviderId, &id.to_string())?;
            if by_provider_id.is_some() {
                break;
            }
        }
        let by_message_id = match &sighting.facts.message_id {
            Some(id) => look(IdentityKind::MessageId, id)?,
            None => None,
        };
        let by_fingerprint = match &one.fingerprint {
            Some(print) => look(IdentityKind::Fingerprint, print)?,
            None => None,
        };
        found.known = Candidates { by_provider_id, by_message_id, by_fingerprint };
        Ok(found)
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
        let decision = self.decide(&mail, sighting.intent, has_reader);
        let operation_key = keys::operation_key(&mail.message_key, keys::NOTIFY_OWNER);
        let operation = operation_row(&mail, &operation_key, keys::NOTIFY_OWNER, &decision, self.now_at);
        if operation::insert(self.tx, &operation)? {
            self.act(&mail, &operation)?;
            self.day.silent += i64::from(decision.outcome == Outcome::Silent && verdict != Verdict::Baseline);
        }
        let silent = decision.outcome == Outcome::Silent && verdict != Verdict::Baseline;
        let happened = silent.then(|| (Event::Silent, subject(&mail), decision.reason));
        Ok(taken(sighting, verdict, mail.message_key, operation, happened))
    }

    /// A mail that is known: counted and shown; it is acted on only where the operation waits for it.
    fn seen_again(&mut self, one: &Prepared, mut mail: MessageRow, by: IdentityKind) -> Result<Taken, StoreError> {
        let sighting = &one.sighting;
        let operation_key = keys::operation_key(&mail.message_key, keys::NOTIFY_OWNER);
        let times_seen = self.record_delivery(sighting, &mail.message_key, Verdict::Duplicate, same_by(by))?;
        message::mark_suppressed(self.tx, &mail.message_key, self.now_at)?;
        let verdict = if times_seen > 1 { Verdict::Repeat } else { Verdict::Duplicate };
        if times_seen == 1 {
            self.record_aliases(&mail.message_key, one)?;
        }
        if fill_in(&mut mail, one) {
            message::update_facts(self.tx, &mail)?;
        }
        let mut operation = operation::get(*self.tx, &operation_key)?.ok_or_else(StoreError::closed)?;
        let fuller = !sighting.facts.is_headerless();
        if operation.status == OperationStatus::Held && fuller {
            operation = self.decide_anew(&mail, &operation, sighting.intent, false)?;
        }
        let reason = format!("{}, by {}", if times_seen > 1 { "reported again" } else { same_by(by) }, sighting.source);
        let happened = Some((Event::Repeat, subject(&mail), reason));
        Ok(taken(sighting, verdict, mail.message_key, operation, happened))
    }

    fn decide_anew(
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

    fn decide(&self, mail: &MessageRow, intent: Intent, has_reader: bool) -> Decision {
        let seen = Seen {
            account_id: mail.account_id.as_ref(),
            facts: &mail.facts,
            folder: mail.folder.as_deref(),
            special_use: mail.special_use,
            intent,
            has_reader,
            received_at: mail.received_at,
        };
        decide::decide(&seen, &self.configured.rulebook, self.now_at)
    }

    fn act(&mut self, mail: &MessageRow, operation: &OperationRow) -> Result<(), StoreError> {
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
    ) -> Result<i64, StoreError> {
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

/// What the aliases of a sighting lead to, as compared and as stored.
struct Likely {
    known: Candidates,
    rows: Vec<MessageRow>,
}

/// Fills in what the mail lacks and this sighting has. `false`: nothing new.
fn fill_in(mail: &mut MessageRow, one: &Prepared) -> bool {
    let sighting = &one.sighting;
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
    fill(&mut mail.fingerprint, &one.fingerprint);
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

fn same_by(by: IdentityKind) -> &'static str {
    match by {
        IdentityKind::ProviderId => "same id of the provider",
        IdentityKind::MessageId => "same Message-ID",
        IdentityKind::Fingerprint | IdentityKind::ProviderIdAndFingerprint | IdentityKind::Delivery => {
            "matched by content"
        }
    }
}

fn operation_row(
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
        awaits_mail: operation.status == OperationStatus::Held,
        decision: operation.decision,
        reason: operation.reason,
        happened,
    }
}

impl Sink for Kernel {
    fn report(&self, report: Report) -> BoxFuture<'_, Result<Vec<Found>, NotStored>> {
        async move {
            let taken = take_in(self, report).await.map_err(|error| NotStored(error.to_string()))?;
            let found = taken.into_iter().map(|one| Found {
                verdict: one.verdict,
                message_key: one.message_key,
                awaits_mail: one.awaits_mail,
            });
            Ok(found.collect())
        }
        .boxed()
    }

    fn cursor<'a>(
        &'a self,
        account_id: &'a AccountId,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Option<FolderCursor>, NotStored>> {
        let (account_id, folder) = (account_id.clone(), folder.to_owned());
        let query = self.store.read(move |read| folder::get(read, &account_id, &folder));
        async move { query.await.map_err(|error| NotStored(error.to_string())) }.boxed()
    }

    fn known<'a>(&'a self, deliveries: &'a [DeliveryKey]) -> BoxFuture<'a, Result<Vec<bool>, NotStored>> {
        let deliveries = deliveries.to_vec();
        let query = self.store.read(move |read| deliveries.iter().map(|key| delivery::exists(read, key)).collect());
        async move { query.await.map_err(|error| NotStored(error.to_string())) }.boxed()
    }
}
