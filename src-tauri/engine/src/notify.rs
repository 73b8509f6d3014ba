//! Notify: an operation that was decided becomes notifications, with their text frozen, in the same transaction.

use crate::kernel::Kernel;
use crate::model::destination::Destination;
use crate::model::ids::{DestinationId, LeaseToken};
use crate::model::notification::{OperationStatus, Status};
use crate::outbox::lanes::{Born, Slot};
use crate::payload;
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::message::MessageRow;
use crate::store::table::operation::OperationRow;
use crate::store::table::outbox::{self, NewRow, OutboxRow};

/// What was started in a transaction and is handed over after its commit.
#[derive(Default)]
pub struct Started {
    /// Lanes that have something to claim.
    pub wake: Vec<DestinationId>,
    born: Vec<Born>,
}

impl Started {
    /// After the commit: what was born leased goes to its lane, the others are woken.
    pub fn hand_over(self, kernel: &Kernel) {
        for born in self.born {
            match kernel.lanes.get(&born.row.destination_id) {
                Some(lane) => lane.hand_over(born),
                // The lane ended meanwhile: its lease ends and the row is rescued.
                None => kernel.sweep.notify_one(),
            }
        }
        for id in &self.wake {
            kernel.lanes.wake(id);
        }
    }
}

/// Stores the notifications of an operation that has just been registered or released.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn start(
    tx: Tx<'_>,
    kernel: &Kernel,
    mail: &MessageRow,
    operation: &OperationRow,
    lease_at_birth: bool,
    started: &mut Started,
) -> Result<(), StoreError> {
    if operation.status != OperationStatus::Processing {
        return Ok(());
    }
    let configured = kernel.configured(*tx)?;
    for way in &operation.routes {
        let members: Vec<&Destination> = way
            .iter()
            .filter_map(|id| configured.rulebook.destinations.iter().find(|destination| &destination.id == id))
            .collect();
        let Some(primary) = members.first() else { continue };
        add(tx, kernel, mail, operation, primary, lease_at_birth, started)?;
        // While the primary is paused the next of its route is told as well.
        if primary.paused.is_some()
            && let Some(next) = members.iter().skip(1).find(|destination| destination.paused.is_none())
        {
            add(tx, kernel, mail, operation, next, lease_at_birth, started)?;
        }
    }
    Ok(())
}

fn add(
    tx: Tx<'_>,
    kernel: &Kernel,
    mail: &MessageRow,
    operation: &OperationRow,
    destination: &Destination,
    lease_at_birth: bool,
    started: &mut Started,
) -> Result<(), StoreError> {
    let now_at = kernel.now();
    let language = kernel.configured(*tx)?.settings.language.language();
    let payload = payload::render(mail, &operation.operation_key, destination, language);
    let text = serde_json::to_string(&payload)?;
    let lease = if lease_at_birth { lease(tx, kernel, destination, now_at)? } else { None };
    let inserted = outbox::insert(
        tx,
        &NewRow {
            dispatch_key: &payload.dispatch_key,
            operation_key: &operation.operation_key,
            recipient: &destination.recipient,
            destination_id: &destination.id,
            payload: &text,
            now_at,
            lease: lease.as_ref().map(|lease| (&lease.token, lease.until)),
        },
    )?;
    match lease {
        _ if !inserted => {}
        None => started.wake.push(destination.id.clone()),
        Some(lease) => started.born.push(Born {
            row: OutboxRow {
                id: 0,
                dispatch_key: payload.dispatch_key,
                operation_key: operation.operation_key.clone(),
                recipient: destination.recipient.clone(),
                destination_id: destination.id.clone(),
                payload: text,
                status: Status::Processing,
                reason: None,
                due_at: now_at,
                wait_ms: 0,
                attempt: 0,
                round: 1,
                lease_token: Some(lease.token),
                first_attempt_at: Some(now_at),
                uncertain_at: None,
                lookups: 0,
                may_be_repeat: false,
                external_message_id: None,
                last_error: None,
                created_at: now_at,
                completed_at: None,
            },
            slot: lease.slot,
        }),
    }
    Ok(())
}

struct Lease {
    token: LeaseToken,
    until: i64,
    slot: Slot,
}

/// A row is born leased where its lane has room right now: that saves the commit of a claim.
fn lease(tx: Tx<'_>, kernel: &Kernel, destination: &Destination, now_at: i64) -> Result<Option<Lease>, StoreError> {
    use std::sync::atomic::Ordering;
    if destination.paused.is_some() || kernel.unsettled.load(Ordering::SeqCst) > 0 {
        return Ok(None);
    }
    let Some(slot) = kernel.lanes.get(&destination.id).and_then(|lane| lane.try_slot()) else { return Ok(None) };
    let lease_ms = i64::try_from(kernel.configured(*tx)?.settings.lease.as_millis()).unwrap_or(i64::MAX);
    Ok(Some(Lease { token: kernel.new_token(), until: now_at.saturating_add(lease_ms), slot }))
}
