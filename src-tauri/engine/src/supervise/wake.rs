//! The wake detector: a wall clock that ran away from the monotonic one means the computer slept or was set; other
//! addresses of its own mean another network. Either way no open line is to be trusted (imap.md rule 17).

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::kernel::Kernel;
use crate::model::topic::Topic;
use crate::net::tcp::{OwnAddresses, own_addresses};
use crate::store::table::outbox;
use crate::supervise::live::Live;

/// How often the clocks are compared (timers stand still in sleep, so this runs soon after it).
const TICK: Duration = Duration::from_secs(2);
/// A difference from which on it counts, ms.
const JUMP_MS: i64 = 20_000;

/// Compares the clocks and the network until `stop`; after a change everything that waits looks again.
pub async fn run(kernel: Kernel, live: Live, stop: CancellationToken) {
    let mut network = own_addresses();
    loop {
        if live.set_offline(network == OwnAddresses::default(), kernel.now()) {
            kernel.changed(&[Topic::Status]);
        }
        let (wall_at, began) = (kernel.now(), Instant::now());
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TICK) => {}
        }
        let passed = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
        let jump = kernel.now() - wall_at - passed;
        let before = std::mem::replace(&mut network, own_addresses());
        if jump.abs() >= JUMP_MS {
            tracing::info!(jump_seconds = jump / 1000, "The clock jumped; everything is looked at again");
        } else if is_another(before, network) {
            tracing::info!("The network is another one; everything is looked at again");
        } else {
            continue;
        }
        let now_at = kernel.now();
        if let Err(error) = kernel.store.write(move |tx| outbox::clamp_due(tx, now_at)).await {
            tracing::error!("Due times could not be set right: {error}");
        }
        live.wake();
        // A pause may be over.
        kernel.reconfigured.notify_one();
        kernel.lanes.wake_all();
        kernel.sweep.notify_one();
    }
}

/// A network that is gone is none; it counts when there is one again.
fn is_another(before: OwnAddresses, now: OwnAddresses) -> bool {
    now != before && now != OwnAddresses::default()
}
