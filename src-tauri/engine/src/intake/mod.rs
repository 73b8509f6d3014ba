//! Intake: the one transaction. A report becomes deliveries, mails, identities, operations and notifications, and its
//! cursor moves; after a crash either all of it exists or none.

mod fill_in;
mod gather;
mod sink;
mod work;

use crate::crash;
use crate::identity::keys;
use crate::intake::work::Intake;
use crate::kernel::Kernel;
use crate::model::happening::{Event, Happening};
use crate::model::ids::{DeliveryKey, MessageKey, OperationKey};
use crate::model::occasion::Occasion;
use crate::model::sighting::{Intent, Report, Sighting, Verdict};
use crate::model::topic::Topic;
use crate::outbox::settle::After;
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::operation::OperationRow;
use crate::store::table::{day, folder, message};

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
    let Report { sightings, cursor, ended } = report;
    if let (true, None, Some(ended)) = (sightings.is_empty(), &cursor, &ended)
        && !gather::anything_waits(kernel, ended).await?
    {
        return Ok(Vec::new());
    }
    let prepared: Vec<Prepared> = sightings
        .into_iter()
        .map(|sighting| Prepared { fingerprint: keys::fingerprint(&sighting.mailbox_id, &sighting.facts), sighting })
        .collect();
    let (in_job, ended_one) = (kernel.clone(), ended.is_some());
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
            if let Some(ended) = &ended {
                intake.end(ended)?;
            }
            day::add(tx, &in_job.today(), intake.day)?;
            // Of a mail, not of a check that found none.
            if !taken.is_empty() {
                crash::point("intake_before_commit");
            }
            Ok((taken, intake.started))
        })
        .await?;
    if !taken.is_empty() {
        crash::point("intake_after_commit");
    }
    started.hand_over(kernel);
    if !taken.is_empty() || ended_one {
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
    match (Occasion::of_reason(&held.reason), &mail.account_id) {
        // The others that wait with it are told with it.
        (Some(occasion), Some(account_id)) => intake.tell_gathered(account_id, occasion)?,
        _ => {
            intake.decide_anew(&mail, held, Intent::Arrival, false)?;
        }
    }
    day::add(tx, &kernel.today(), intake.day)?;
    Ok(After { wake: intake.started.wake, ..After::default() })
}
