//! Settling: what came of an attempt is written by who holds the lease, with everything that follows from it, in one
//! transaction.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::alarm::tell::tell_all;
use crate::alarm::{self, Alarm, Code};
use crate::crash;
use crate::kernel::{Configured, Kernel};
use crate::model::destination::{Destination, PauseReason};
use crate::model::happening::{self, Happening};
use crate::model::ids::{DestinationId, DispatchKey, LeaseToken, MailboxId};
use crate::model::notification::{AttemptOutcome, ChannelError, Payload, Status};
use crate::model::topic::Topic;
use crate::outbox::facts;
use crate::outbox::route;
use crate::outbox::status::{self, Effect, Event, Step};
use crate::payload;
use crate::store::Tx;
use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::table::day::{self, Day};
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{attempt, destination, message, operation, outbox};

/// A settle that cannot be written is tried again this often.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The notification.
    pub dispatch_key: DispatchKey,
    /// Who held it.
    pub token: LeaseToken,
    /// What came of it.
    pub outcome: AttemptOutcome,
}

/// Who has something to do after the commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct After {
    /// Lanes to wake.
    pub wake: Vec<DestinationId>,
    /// A destination was paused or resumed.
    pub reconfigured: bool,
    /// An alarm was opened or cleared, or may have to be.
    pub alarms: bool,
    /// What to say happened.
    pub happened: Vec<Happening>,
}

impl After {
    /// Takes in what follows from another step of the same transaction.
    pub fn add(&mut self, other: Self) {
        self.wake.extend(other.wake);
        self.happened.extend(other.happened);
        self.reconfigured |= other.reconfigured;
        self.alarms |= other.alarms;
    }

    /// Tells who has to know, after the commit.
    pub fn tell(self, kernel: &Kernel) {
        for id in &self.wake {
            kernel.lanes.wake(id);
        }
        if self.reconfigured {
            kernel.reconfigured.notify_one();
            kernel.changed(&[Topic::Destinations]);
        }
        if self.alarms {
            kernel.changed(&[Topic::Alarms]);
        }
        if self.alarms || self.reconfigured {
            kernel.alarms.look.notify_one();
        }
        for happening in self.happened {
            kernel.happened(happening);
        }
        kernel.sweep.notify_one();
        kernel.changed(&[Topic::Status, Topic::History, Topic::Attention]);
    }
}

/// Writes what came of a call, however long the disk refuses; no lane claims meanwhile.
///
/// The call was made and its answer is known only here, so this must not be given up while the program runs.
pub async fn settle(kernel: &Kernel, ended: Ended) {
    let mut held_up = false;
    loop {
        let (in_job, job) = (kernel.clone(), ended.clone());
        let written = kernel
            .store
            .write(move |tx| {
                crash::point("settle_before_commit");
                write(tx, &in_job, &job)
            })
            .await;
        match written {
            Ok(after) => {
                crash::point("settle_after_commit");
                if held_up {
                    kernel.unsettled.fetch_sub(1, Ordering::SeqCst);
                    kernel.lanes.wake_all();
                }
                after.tell(kernel);
                return;
            }
            Err(error) => {
                if !held_up {
                    tracing::error!("What came of notification {} is not yet written: {error}", ended.dispatch_key);
                    kernel.unsettled.fetch_add(1, Ordering::SeqCst);
                    held_up = true;
                }
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}

fn write(tx: Tx<'_>, kernel: &Kernel, ended: &Ended) -> Result<After, StoreError> {
    let now_at = kernel.now();
    let Some(row) = outbox::get(*tx, &ended.dispatch_key)? else { return Ok(After::default()) };
    if row.lease_token.as_ref() != Some(&ended.token) {
        return too_late(tx, kernel, &row, &ended.outcome);
    }
    attempt::settle(tx, &ended.dispatch_key, &ended.token, ended.outcome.as_str(), ended.outcome.error(), now_at)?;
    let event = Event::Attempt(ended.outcome.clone());
    step(tx, kernel, &row, &event, Some(&ended.token))
}

/// Rescued meanwhile. That it was accepted is still worth knowing where nobody else knows.
fn too_late(tx: Tx<'_>, kernel: &Kernel, row: &OutboxRow, outcome: &AttemptOutcome) -> Result<After, StoreError> {
    tracing::warn!("Notification {} was no longer ours when its call ended", row.dispatch_key);
    match outcome {
        AttemptOutcome::Accepted { external_id } if row.status == Status::Uncertain => {
            step(tx, kernel, row, &Event::Found { external_id: external_id.clone() }, None)
        }
        _ => Ok(After::default()),
    }
}

/// Moves a notification and does what follows from it. Called inside the transaction of the event.
///
/// # Errors
/// [`StoreError`] of a statement; [`StoreErrorKind::Refused`] for a move the diagram does not have.
pub fn step(
    tx: Tx<'_>,
    kernel: &Kernel,
    row: &OutboxRow,
    event: &Event,
    token: Option<&LeaseToken>,
) -> Result<After, StoreError> {
    let now_at = kernel.now();
    let configured = kernel.configured(*tx)?;
    let gone;
    let destination = match find(&configured, &row.destination_id) {
        Some(destination) => destination,
        None => {
            gone = removed(row);
            &gone
        }
    };
    let any_unknown = attempt::any_unknown(*tx, &row.dispatch_key)?;
    let facts = facts(destination, any_unknown, &configured.settings, now_at);
    let step = status::next(row, event, &facts)
        .map_err(|illegal| StoreError::new(StoreErrorKind::Refused, illegal.to_string()))?;
    if !outbox::apply(tx, &row.dispatch_key, token, &step.change, now_at)? {
        return Ok(After::default());
    }
    let mut after = After::default();
    if matches!(step.change.status, Status::Pending | Status::Uncertain) {
        after.wake.push(row.destination_id.clone());
    }
    note_outcome(tx, row, &step, now_at)?;
    follow(tx, kernel, row, &configured, &step, &mut after)?;
    if row.status == Status::Uncertain {
        alarm::clear(tx, Code::Uncertain, row.dispatch_key.as_str(), now_at, &mut after)?;
    }
    operation::settle(tx, &row.operation_key, now_at)?;
    Ok(after)
}

fn note_outcome(tx: Tx<'_>, row: &OutboxRow, step: &Step, now_at: i64) -> Result<(), StoreError> {
    match (row.status, step.change.status) {
        (Status::Processing | Status::Uncertain, Status::Completed) if step.change.reason.is_none() => {
            destination::mark_delivered(tx, &row.destination_id, &row.dispatch_key, now_at)
        }
        (Status::Processing, _) => {
            let error: Option<ChannelError> =
                step.change.last_error.as_deref().and_then(|text| serde_json::from_str(text).ok());
            if let (Some(error), Some(text)) = (&error, &step.change.last_error) {
                operation::mark_error(tx, &row.operation_key, text)?;
                destination::mark_error(tx, &row.destination_id, error)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn follow(
    tx: Tx<'_>,
    kernel: &Kernel,
    row: &OutboxRow,
    configured: &Arc<Configured>,
    step: &Step,
    after: &mut After,
) -> Result<(), StoreError> {
    let now_at = kernel.now();
    match step.effect {
        Effect::None => {}
        Effect::Told => {
            route::cover(tx, row, now_at)?;
            let first =
                operation::mark_rang(tx, &row.operation_key, step.change.external_message_id.as_deref(), now_at)?;
            if first {
                after.happened.extend(ring(tx, row, now_at)?);
                if !of_uncounted(row) {
                    day::add(tx, &kernel.today(), Day { rings: 1, ..Day::default() })?;
                }
            }
        }
        Effect::FailOver => {
            // Dead letters may be enough for an alarm now.
            after.alarms = true;
            let rounds = route::Round { ended_round: row.round, begin_ladder: true };
            after.wake.extend(route::fail_over(tx, row, configured, rounds, now_at)?);
        }
        Effect::Alongside => {
            let rounds = route::Round { ended_round: row.round, begin_ladder: false };
            after.wake.extend(route::fail_over(tx, row, configured, rounds, now_at)?);
        }
        Effect::PauseDestination => {
            destination::mark_paused(tx, &row.destination_id, Some(PauseReason::SignIn))?;
            kernel.reconfigure();
            after.reconfigured = true;
            after.wake.extend(route::hand_on_all(tx, &row.destination_id, configured, now_at)?);
        }
        Effect::Alarm => {
            raise(tx, kernel, row, after)?;
        }
    }
    Ok(())
}

/// "Never twice" must not mean "not told": the owner hears which mail may not have arrived.
fn raise(tx: Tx<'_>, kernel: &Kernel, row: &OutboxRow, after: &mut After) -> Result<(), StoreError> {
    let Some(operation) = operation::get(*tx, &row.operation_key)? else { return Ok(()) };
    let Some(mail) = message::get(*tx, &operation.message_key)? else { return Ok(()) };
    if is_uncounted(&mail.mailbox_id) {
        return Ok(());
    }
    let new = Alarm {
        code: Code::Uncertain,
        about: row.dispatch_key.0.clone(),
        text: format!("May not have arrived: {}", mail.facts.subject.unwrap_or_default()),
    };
    if alarm::open(tx, kernel, &new, Some(mail.message_key), kernel.now(), after)? {
        tell_all(tx, kernel, &[], after)?;
    }
    Ok(())
}

fn ring(tx: Tx<'_>, row: &OutboxRow, at: i64) -> Result<Option<Happening>, StoreError> {
    let Some(operation) = operation::get(*tx, &row.operation_key)? else { return Ok(None) };
    let Some(mail) = message::get(*tx, &operation.message_key)? else { return Ok(None) };
    Ok(Some(Happening {
        event: happening::Event::Ring,
        message_key: Some(mail.message_key),
        subject: mail.facts.subject.unwrap_or_default(),
        reason: operation.reason,
        at,
    }))
}

fn of_uncounted(row: &OutboxRow) -> bool {
    let payload: Result<Payload, _> = serde_json::from_str(&row.payload);
    payload.is_ok_and(|payload| is_uncounted(&payload.mailbox_id))
}

/// Nobody wrote the owner there: Ringonce itself, or the demo.
fn is_uncounted(mailbox_id: &MailboxId) -> bool {
    mailbox_id.as_str() == payload::SELF_MAILBOX || mailbox_id.is_demo()
}

fn find<'a>(configured: &'a Configured, id: &DestinationId) -> Option<&'a Destination> {
    configured.rulebook.destinations.iter().find(|destination| &destination.id == id)
}

/// A destination that was removed while its call was in hand: by the strictest policy.
fn removed(row: &OutboxRow) -> Destination {
    Destination {
        id: row.destination_id.clone(),
        name: String::new(),
        kind: String::new(),
        fields: std::collections::BTreeMap::new(),
        recipient: row.recipient.clone(),
        policy: crate::model::destination::Policy::NeverTwice,
        privacy: crate::model::destination::Privacy::None,
        max_age_seconds: None,
        fallback_only: true,
        paused: None,
    }
}
