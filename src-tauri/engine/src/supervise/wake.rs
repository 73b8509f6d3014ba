//! The wake detector: a wall clock that ran away from the monotonic one means the computer slept or was set.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::kernel::Kernel;
use crate::store::table::outbox;
use crate::supervise::live::Live;

/// How often the clocks are compared (timers stand still in sleep, so this runs soon after it).
const TICK: Duration = Duration::from_secs(5);
/// A difference from which on it counts, ms.
const JUMP_MS: i64 = 20_000;

/// Compares the clocks until `stop`; after a jump everything that waits looks again.
pub async fn run(kernel: Kernel, live: Live, stop: CancellationToken) {
    loop {
        let (wall_at, began) = (kernel.now(), Instant::now());
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TICK) => {}
        }
        let passed = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
        let jump = kernel.now() - wall_at - passed;
        if jump.abs() < JUMP_MS {
            continue;
        }
        tracing::info!(jump_seconds = jump / 1000, "The clock jumped; everything is looked at again");
        let now_at = kernel.now();
        if let Err(error) = kernel.store.write(move |tx| outbox::clamp_due(tx, now_at)).await {
            tracing::error!("Due times could not be set right: {error}");
        }
        live.poke_all();
        kernel.lanes.wake_all();
        kernel.sweep.notify_one();
    }
}
