//! The engine: opens a data folder, starts everything in order, and stops it in the reverse one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::kernel::Kernel;
use crate::model::error::Fault;
use crate::outbox::{rescue, sweep};
use crate::secret::kept::KeptSecrets;
use crate::source::HealthState;
use crate::store::Store;
use crate::store::table::{outbox, setting};
use crate::supervise::live::Live;
use crate::supervise::wanted::Wanted;
use crate::supervise::{Supervisor, alarms, desktop, roster, wake};

/// A running engine.
pub struct Engine {
    kernel: Kernel,
    live: Live,
    secrets: Arc<KeptSecrets>,
    stop: CancellationToken,
    supervisor: JoinHandle<()>,
    others: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Starts on a data folder whose lock the caller holds: store, then rescue, then senders, then sources.
    ///
    /// # Errors
    /// `storage`, `newer` or `conflict`, where the folder cannot be used.
    pub async fn start(
        data_dir: &Path,
        secrets: impl FnOnce(Option<&str>) -> Result<KeptSecrets, Fault>,
        clock: Clock,
    ) -> Result<Self, Fault> {
        let store = Store::open_or_restore(data_dir, clock.now())?;
        let stored = store.read(setting::list).await?;
        let secrets = Arc::new(secrets(stored.get(crate::secret::kept::SETTING).map(String::as_str))?);
        let kernel = Kernel::new(store, clock);
        let in_job = kernel.clone();
        kernel
            .store
            .write(move |tx| {
                outbox::clamp_due(tx, in_job.now())?;
                rescue::rescue(tx, &in_job)
            })
            .await?;
        let live = Live::default();
        let stop = CancellationToken::new();
        let supervisor = Supervisor { kernel: kernel.clone(), live: live.clone(), secrets: Arc::clone(&secrets) };
        let others = vec![
            tokio::spawn(sweep::run(kernel.clone(), stop.clone())),
            tokio::spawn(wake::run(kernel.clone(), live.clone(), stop.clone())),
            tokio::spawn(alarms::run(supervisor.clone(), stop.clone())),
            tokio::spawn(desktop::run(supervisor.clone(), stop.clone())),
        ];
        let supervisor = tokio::spawn(supervisor.run(stop.clone()));
        Ok(Self { kernel, live, secrets, stop, supervisor, others })
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Health and pokes.
    #[must_use]
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Passwords and tokens.
    #[must_use]
    pub fn secrets(&self) -> &Arc<KeptSecrets> {
        &self.secrets
    }

    /// Returns when every mailbox is watched and every webhook taken, or says why not; at the latest after `limit`.
    ///
    /// # Errors
    /// `storage`, where the configuration cannot be read.
    pub async fn ready(&self, limit: Duration) -> Result<(), Fault> {
        let names = Wanted::read(&self.kernel).await?.names;
        let mut health = self.live.health();
        let all_known = health.wait_for(|all| {
            names.iter().all(|name| all.get(name).is_some_and(|health| health.state != HealthState::Starting))
        });
        let _ = tokio::time::timeout(limit, all_known).await;
        Ok(())
    }

    /// Stops: sources first, then senders with their calls in hand, then the rest.
    pub async fn stop(self) {
        self.stop.cancel();
        roster::end(self.supervisor).await;
        for task in self.others {
            roster::end(task).await;
        }
    }
}
