//! Supervise: keeps everything running that should run, as configured now. Nothing else spawns.

pub mod alarms;
pub mod component;
pub mod desktop;
pub mod live;
pub mod mark_read;
pub mod roster;
pub mod wake;
pub mod wanted;
pub mod windows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::kernel::Kernel;
use crate::model::mailbox::Mailbox;
use crate::model::topic::Topic;
use crate::outbox::lane::wait_until;
use crate::secret::kept::KeptSecrets;
use crate::source::Health;
use crate::supervise::live::Live;
use crate::supervise::roster::Roster;
use crate::supervise::wanted::{Listener, Reader, Sender, Wanted};

/// After an error of the database the configuration is read again.
const AFTER_ERROR: Duration = Duration::from_secs(5);

/// While all watching is paused the clock is looked at this often: timers stand still while the computer sleeps.
const PAUSED_LOOK: Duration = Duration::from_secs(60);

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
        let mut paused = false;
        let mut demos: Roster<Mailbox> = Roster::default();
        loop {
            let next_look = match Wanted::read(&self.kernel).await {
                Ok(wanted) => {
                    let pause =
                        wanted.paused_until.map(|until_at| wait_until(until_at, self.kernel.now()).min(PAUSED_LOOK));
                    senders.update(wanted.senders, |sender, stop| self.clone().send(sender.clone(), stop)).await;
                    readers.update(wanted.readers, |reader, stop| self.clone().read(reader.clone(), stop)).await;
                    listeners
                        .update(wanted.listeners, |listener, stop| self.clone().listen(listener.clone(), stop))
                        .await;
                    demos.update(wanted.demos, |mailbox, stop| self.clone().play(mailbox.clone(), stop)).await;
                    // Whoever ended took what was said of it along.
                    self.forget_gone(&wanted.names, &wanted.resting);
                    if std::mem::replace(&mut paused, pause.is_some()) != pause.is_some() {
                        tracing::info!(paused, "All watching was paused, or goes on");
                        self.kernel.changed(&[Topic::Status, Topic::Mailboxes]);
                    }
                    pause
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
        demos.end().await;
        senders.end().await;
    }

    /// Mailboxes that are paused or not read have a state of their own; those that are gone have none.
    fn forget_gone(&self, names: &BTreeSet<String>, resting: &BTreeMap<String, Health>) {
        let known: BTreeMap<String, _> = self.live.health().borrow().clone();
        for name in known.keys().filter(|name| !names.contains(*name)) {
            self.live.set_health(name, None);
        }
        for (name, health) in resting {
            self.live.set_health(name, Some(health.clone()));
        }
    }
}
