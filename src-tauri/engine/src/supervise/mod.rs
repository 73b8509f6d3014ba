//! Supervise: keeps everything running that should run, as configured now. Nothing else spawns.

pub mod alarms;
pub mod component;
pub mod desktop;
pub mod live;
pub mod mark_read;
pub mod roster;
pub mod wake;
pub mod wanted;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::kernel::Kernel;
use crate::secret::kept::KeptSecrets;
use crate::supervise::live::Live;
use crate::supervise::roster::Roster;
use crate::supervise::wanted::{Listener, Reader, Sender, Wanted};

/// After an error of the database the configuration is read again.
const AFTER_ERROR: Duration = Duration::from_secs(5);

/// What the supervisor works with.
#[derive(Clone)]
pub struct Supervisor {
    /// The open data folder.
    pub kernel: Kernel,
    /// Health and pokes.
    pub live: Live,
    /// Passwords and tokens.
    pub secrets: Arc<KeptSecrets>,
}

impl Supervisor {
    /// Runs until `stop`: senders, readers and listeners as configured, again after each change.
    ///
    /// Stops sources before senders, so that nothing new comes in while the last calls end.
    pub async fn run(self, stop: CancellationToken) {
        let mut senders: Roster<Sender> = Roster::default();
        let mut readers: Roster<Reader> = Roster::default();
        let mut listeners: Roster<Listener> = Roster::default();
        loop {
            let next_look = match Wanted::read(&self.kernel).await {
                Ok(wanted) => {
                    self.forget_gone(&wanted);
                    senders.update(wanted.senders, |sender, stop| self.clone().send(sender.clone(), stop)).await;
                    readers.update(wanted.readers, |reader, stop| self.clone().read(reader.clone(), stop)).await;
                    listeners
                        .update(wanted.listeners, |listener, stop| self.clone().listen(listener.clone(), stop))
                        .await;
                    None
                }
                Err(error) => {
                    tracing::error!("The configuration could not be read: {error}");
                    Some(AFTER_ERROR)
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.kernel.reconfigured.notified() => {}
                () = tokio::time::sleep(next_look.unwrap_or(Duration::MAX)), if next_look.is_some() => {}
            }
        }
        readers.end().await;
        listeners.end().await;
        senders.end().await;
    }

    /// Mailboxes that are paused or not read have a state of their own; those that are gone have none.
    fn forget_gone(&self, wanted: &Wanted) {
        let known: BTreeMap<String, _> = self.live.health().borrow().clone();
        for name in known.keys().filter(|name| !wanted.names.contains(*name)) {
            self.live.set_health(name, None);
        }
        for (name, health) in &wanted.resting {
            self.live.set_health(name, Some(health.clone()));
        }
    }
}
