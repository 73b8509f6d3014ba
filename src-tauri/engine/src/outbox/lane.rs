//! A lane: the loop that sends to one destination.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{Fuse, FusedFuture};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::channel::Channel;
use crate::crash;
use crate::kernel::{Configured, Kernel};
use crate::limits::LANE_CALLS_MAX;
use crate::model::destination::Destination;
use crate::model::ids::LeaseToken;
use crate::outbox::call;
use crate::outbox::lanes::{Lane, Slot};
use crate::outbox::reconcile;
use crate::store::error::StoreError;
use crate::store::table::outbox::{self, OutboxRow};

/// A lane looks at the table at least this often, whatever it was told.
const LOOK_AT_LEAST: Duration = Duration::from_secs(60);
/// After an error of the database.
const AFTER_ERROR: Duration = Duration::from_secs(2);

/// Sends to one destination until `stop`, then finishes the calls in hand. Meanwhile it asks about what is uncertain:
/// a question without an answer delays no mail.
pub async fn run(kernel: Kernel, destination: Destination, channel: Arc<dyn Channel>, stop: CancellationToken) {
    let lane = kernel.lanes.open(&destination.id);
    let asking = reconcile::ask(&kernel, &destination, channel.as_ref(), &lane.ask);
    tokio::select! {
        () = send_all(&kernel, &lane, &destination, channel.as_ref(), &stop) => {}
        () = asking => {}
    }
}

async fn send_all(
    kernel: &Kernel,
    lane: &Arc<Lane>,
    destination: &Destination,
    channel: &dyn Channel,
    stop: &CancellationToken,
) {
    let mut calls = FuturesUnordered::new();
    // A claim waits for the disk; the calls in hand go on meanwhile.
    let mut claiming = pin!(Fuse::terminated());
    let mut look_at = Some(Instant::now());
    let mut backlog = false;
    loop {
        for born in lane.take_born() {
            calls.push(send(kernel, channel, born.row, born.slot));
        }
        if claiming.is_terminated() && look_at.is_some_and(|at| at <= Instant::now()) {
            look_at = None;
            claiming.set(claim(kernel, lane, destination).fuse());
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = lane.wake.notified() => look_at = Some(Instant::now()),
            claimed = &mut claiming, if !claiming.is_terminated() => {
                let claimed = claimed.unwrap_or_else(|error| {
                    tracing::error!("Nothing is claimed for destination {}: {error}", destination.id);
                    Claimed { rows: Vec::new(), next_look: AFTER_ERROR, full: true }
                });
                backlog = claimed.full;
                for (row, slot) in claimed.rows {
                    calls.push(send(kernel, channel, row, slot));
                }
                // Woken meanwhile: what came since may not have been seen.
                look_at = look_at.or(Some(Instant::now() + claimed.next_look));
            }
            Some(()) = calls.next(), if !calls.is_empty() => {
                // What just ended may be uncertain, and there is room for what did not fit.
                lane.ask.notify_one();
                if backlog {
                    look_at = Some(Instant::now());
                }
            }
            () = tokio::time::sleep_until(look_at.unwrap_or_else(Instant::now)),
                if look_at.is_some() && claiming.is_terminated() => {}
        }
    }
    kernel.lanes.close(&destination.id);
    if !claiming.is_terminated()
        && let Ok(claimed) = claiming.await
    {
        for (row, slot) in claimed.rows {
            calls.push(send(kernel, channel, row, slot));
        }
    }
    for born in lane.take_born() {
        calls.push(send(kernel, channel, born.row, born.slot));
    }
    while calls.next().await.is_some() {}
}

/// What a look at the table brought.
struct Claimed {
    rows: Vec<(OutboxRow, Slot)>,
    /// How long nothing more is due.
    next_look: Duration,
    /// More may be due than there was room for.
    full: bool,
}

async fn send(kernel: &Kernel, channel: &dyn Channel, row: OutboxRow, slot: Slot) {
    let call_timeout = match kernel.configuration().await {
        Ok(configured) => configured.settings.call_timeout,
        Err(_) => Configured::default().settings.call_timeout,
    };
    call::deliver(kernel, channel, row, call_timeout).await;
    drop(slot);
}

/// Claims as much as the lane has room for.
async fn claim(kernel: &Kernel, lane: &Arc<Lane>, destination: &Destination) -> Result<Claimed, StoreError> {
    if kernel.unsettled.load(Ordering::SeqCst) > 0 {
        return Ok(Claimed { rows: Vec::new(), next_look: AFTER_ERROR, full: false });
    }
    let slots: Vec<Slot> = std::iter::from_fn(|| lane.try_slot()).take(LANE_CALLS_MAX).collect();
    if slots.is_empty() {
        // A call that ends makes room.
        return Ok(Claimed { rows: Vec::new(), next_look: LOOK_AT_LEAST, full: true });
    }
    let tokens: Vec<LeaseToken> = slots.iter().map(|_| kernel.new_token()).collect();
    let (in_job, id) = (kernel.clone(), destination.id.clone());
    let too_old_at = destination.oldest_wanted_at(kernel.now());
    let (rows, next_due_at) = kernel
        .store
        .write(move |tx| {
            let now_at = in_job.now();
            let configured = in_job.configured(*tx)?;
            // Whoever pauses or removes it may be quicker than the end of this lane.
            let sends = |known: &Destination| known.id == id && known.paused.is_none();
            if !configured.rulebook.destinations.iter().any(sends) {
                return Ok((Vec::new(), None));
            }
            let lease = configured.settings.lease;
            let lease_until = now_at.saturating_add(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX));
            let rows = outbox::claim(tx, &id, &tokens, lease_until, too_old_at, now_at)?;
            if !rows.is_empty() {
                crash::point("claim_before_commit");
            }
            Ok((rows, outbox::next_due_at(*tx, &id, too_old_at)?))
        })
        .await?;
    if !rows.is_empty() {
        crash::point("claim_after_commit");
    }
    let full = rows.len() == slots.len();
    let next_look = match next_due_at {
        Some(due_at) if !full => wait_until(due_at, kernel.now()).min(LOOK_AT_LEAST),
        _ => LOOK_AT_LEAST,
    };
    Ok(Claimed { rows: rows.into_iter().zip(slots).collect(), next_look, full })
}

/// How long until an instant of the wall clock.
#[must_use]
pub fn wait_until(at: i64, now_at: i64) -> Duration {
    Duration::from_millis(u64::try_from(at.saturating_sub(now_at)).unwrap_or(0))
}
