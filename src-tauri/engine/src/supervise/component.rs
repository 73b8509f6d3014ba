//! One component: runs a source, notes its health, and starts it again after a growing, jittered pause.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::kernel::Kernel;
use crate::limits::SECRET_AGAIN_AFTER;
use crate::model::error::{Fault, FaultCode};
use crate::model::topic::Topic;
use crate::source::{Context, Exit, Health, HealthState, Source};
use crate::supervise::live::Live;

/// The first pause before a restart, and the longest.
const PAUSE_MIN: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(80);
/// A component that ran this long was healthy: the pauses begin anew.
const HEALTHY_AFTER: Duration = Duration::from_secs(300);

/// Makes a source; a [`Fault`] (no secret now) is tried again.
pub type Make<'a> = dyn Fn() -> futures_util::future::BoxFuture<'a, Result<Box<dyn Source>, Fault>> + Send + Sync + 'a;

/// Runs a source until `stop`, whatever becomes of it.
pub async fn run(
    kernel: Kernel,
    live: Live,
    name: String,
    poke: Arc<Notify>,
    make: &Make<'_>,
    stop: CancellationToken,
) {
    let health = watch::Sender::new(Health::default());
    let mut pause = PAUSE_MIN;
    loop {
        let began = Instant::now();
        let context = Context {
            sink: Arc::new(kernel.clone()),
            health: health.clone(),
            poke: Arc::clone(&poke),
            woken: live.woken(),
            clock: kernel.clock.clone(),
        };
        let once = run_once(make, context, stop.clone());
        let exit = noting(&kernel, &live, &name, health.subscribe(), once).await;
        match exit {
            Exit::Stopped => break,
            Exit::Lost(fault) if fault.code == FaultCode::Secret => {
                // A locked keyring is no broken line: looking again is cheap and asks nobody.
                pause = SECRET_AGAIN_AFTER;
                note(&live, &name, &health, HealthState::Failing, fault);
            }
            Exit::Lost(fault) => note(&live, &name, &health, HealthState::Offline, fault),
            Exit::NeedsOwner(fault) => {
                let state = if fault.code == FaultCode::SignIn { HealthState::SignIn } else { HealthState::Failing };
                note(&live, &name, &health, state, fault);
                kernel.changed(&[Topic::Status]);
                // A new password or server restarts this component; until then the owner may ask for another try.
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = poke.notified() => continue,
                }
            }
        }
        kernel.changed(&[Topic::Status]);
        if began.elapsed() >= HEALTHY_AFTER {
            pause = PAUSE_MIN;
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = poke.notified() => {}
            () = tokio::time::sleep(pause.mul_f64(0.8 + 0.4 * fastrand::f64())) => {}
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
    live.set_health(&name, None);
}

async fn run_once(make: &Make<'_>, context: Context, stop: CancellationToken) -> Exit {
    let source = tokio::select! {
        made = make() => made,
        () = stop.cancelled() => return Exit::Stopped,
    };
    let source = match source {
        Ok(source) => source,
        Err(fault) => {
            tokio::select! {
                () = stop.cancelled() => return Exit::Stopped,
                () = tokio::time::sleep(Duration::from_millis(100)) => {}
            }
            return Exit::Lost(fault);
        }
    };
    // A mail or a server that makes a source panic must not end the program.
    AssertUnwindSafe(source.run(context, stop)).catch_unwind().await.unwrap_or_else(|_| {
        Exit::Lost(Fault::new(
            FaultCode::Internal,
            "It is started again",
            "this part of Ringonce failed in a way that was not foreseen",
            "please report this if it comes again",
        ))
    })
}

/// Runs something and passes on how it is doing meanwhile.
async fn noting<T>(
    kernel: &Kernel,
    live: &Live,
    name: &str,
    mut health: watch::Receiver<Health>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        let now = health.borrow_and_update().clone();
        live.set_health(name, Some(now));
        kernel.changed(&[Topic::Status]);
        tokio::select! {
            done = &mut work => {
                live.set_health(name, Some(health.borrow().clone()));
                return done;
            }
            changed = health.changed() => {
                if changed.is_err() {
                    return work.await;
                }
            }
        }
    }
}

fn note(live: &Live, name: &str, health: &watch::Sender<Health>, state: HealthState, fault: Fault) {
    // What lasts is said once.
    if health.borrow().error.as_ref() != Some(&fault) {
        tracing::warn!(name, "A source ended: {fault}");
    }
    health.send_modify(|health| {
        health.state = state;
        health.error = Some(fault);
    });
    live.set_health(name, Some(health.borrow().clone()));
}
