//! What should run: senders, readers and listeners, from the configuration; and how each is started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::channel::desktop::{Manner, Seat};
use crate::channel::{self, Channel};
use crate::clock::Clock;
use crate::kernel::Kernel;
use crate::limits::SECRET_AGAIN_AFTER;
use crate::model::destination::{Destination, THIS_COMPUTER};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::AccountId;
use crate::model::mailbox::Mailbox;
use crate::model::notification::{ChannelError, ErrorCode};
use crate::model::topic::Topic;
use crate::outbox::lane;
use crate::secret::SecretName;
use crate::secret::kept::KeptSecrets;
use crate::source::demo::{self, Demo};
use crate::source::imap::watch::{ImapSettings, ImapSource};
use crate::source::webhook::{Endpoint, Webhook};
use crate::source::{Health, HealthState, Method, Source};
use crate::store::error::StoreError;
use crate::store::table::source::SourceRow;
use crate::store::table::{destination, mailbox, source};
use crate::supervise::Supervisor;
use crate::supervise::component;

/// One destination's lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    destination: Destination,
    call_timeout: Duration,
    /// How it is told on this computer; the same for all others.
    manner: Manner,
    /// Grows when a secret of it was replaced.
    edition: u64,
}

/// One mailbox's reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    mailbox: Mailbox,
    settings: ImapSettings,
    /// Grows when its password was replaced.
    edition: u64,
}

/// One port's webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    port: u16,
    endpoints: Vec<(SourceRow, Mailbox)>,
}

/// What should run now.
pub struct Wanted {
    /// By destination id.
    pub senders: BTreeMap<String, Sender>,
    /// By account id.
    pub readers: BTreeMap<String, Reader>,
    /// By port.
    pub listeners: BTreeMap<String, Listener>,
    /// The demo, by account id.
    pub demos: BTreeMap<String, Mailbox>,
    /// Mailboxes that nobody reads now, with their state.
    pub resting: BTreeMap<String, Health>,
    /// Everything that may have a health.
    pub names: BTreeSet<String>,
    /// Until when nothing is read. Webhooks are taken all the same: who sends them may not come again.
    pub paused_until: Option<i64>,
}

impl Wanted {
    /// From the configuration as committed.
    ///
    /// # Errors
    /// [`StoreError`] of the queries.
    pub async fn read(kernel: &Kernel) -> Result<Self, StoreError> {
        let configured = kernel.configuration().await?;
        let paused_until = configured.paused_at(kernel.now());
        let settings = configured.settings.clone();
        let (mailboxes, destinations, sources) =
            kernel.store.read(|read| Ok((mailbox::list(read)?, destination::list(read)?, source::list(read)?))).await?;
        let senders = destinations
            .into_iter()
            .filter(|destination| destination.paused.is_none())
            .map(|destination| {
                let edition = kernel.edition_of(destination.id.as_str());
                let is_here = destination.kind == THIS_COMPUTER;
                let manner = if is_here { Manner::of(&settings) } else { Manner::default() };
                let sender = Sender { destination, call_timeout: settings.call_timeout, manner, edition };
                (sender.destination.id.0.clone(), sender)
            })
            .collect();
        let imap = ImapSettings {
            poll: settings.imap_poll,
            dead_line: settings.imap_dead_line,
            old: settings.catch_up_old,
            absence: settings.catch_up_absence,
        };
        let mut wanted = Self {
            senders,
            readers: BTreeMap::new(),
            listeners: listeners(&mailboxes, sources),
            demos: BTreeMap::new(),
            resting: BTreeMap::new(),
            names: BTreeSet::new(),
            paused_until,
        };
        for mailbox in mailboxes {
            wanted.names.insert(mailbox.account_id.0.clone());
            wanted.place(mailbox, imap, kernel);
        }
        wanted.names.extend(wanted.listeners.keys().cloned());
        Ok(wanted)
    }

    fn place(&mut self, mailbox: Mailbox, settings: ImapSettings, kernel: &Kernel) {
        let id = mailbox.account_id.0.clone();
        let resting = |state| Health { state, method: Method::None, ..Health::default() };
        if mailbox.paused || self.paused_until.is_some() {
            self.resting.insert(id, resting(HealthState::Paused));
        } else if mailbox.is_demo() {
            self.demos.insert(id, mailbox);
        } else if mailbox.imap.is_some() {
            let edition = kernel.edition_of(&id);
            self.readers.insert(id, Reader { mailbox, settings, edition });
        } else {
            // Nobody reads it: what others report is taken at any time.
            self.resting.insert(id, Health { method: Method::Push, ..resting(HealthState::Watching) });
        }
    }
}

/// Under what name the listener of a port runs: one for all its webhooks.
#[must_use]
pub fn listener_name(port: u16) -> String {
    format!("port {port}")
}

fn listeners(mailboxes: &[Mailbox], sources: Vec<SourceRow>) -> BTreeMap<String, Listener> {
    let mut listeners: BTreeMap<String, Listener> = BTreeMap::new();
    for row in sources {
        let Some(mailbox) = mailboxes.iter().find(|mailbox| mailbox.account_id == row.account_id) else { continue };
        if mailbox.paused {
            continue;
        }
        let listener = listeners
            .entry(listener_name(row.port))
            .or_insert_with(|| Listener { port: row.port, endpoints: Vec::new() });
        listener.endpoints.push((row, mailbox.clone()));
    }
    listeners
}

impl Supervisor {
    /// Sends to one destination.
    pub(super) async fn send(self, sender: Sender, stop: CancellationToken) {
        let Sender { destination, call_timeout, manner, .. } = sender;
        let seat = Seat { desk: self.kernel.desk.clone(), manner };
        let mut said = None;
        loop {
            let made = tokio::select! {
                made = build(&self.kernel.clock, seat.clone(), &self.secrets, &destination, call_timeout) => made,
                () = stop.cancelled() => return,
            };
            match made {
                Ok(channel) => {
                    note_error(&self.kernel, &destination, None).await;
                    return lane::run(self.kernel, destination, channel, stop).await;
                }
                Err(fault) => {
                    // What lasts is said once.
                    if said.as_ref() != Some(&fault) {
                        tracing::warn!("Nothing is sent to destination {}: {fault}", destination.id);
                        note_error(&self.kernel, &destination, Some(&fault)).await;
                    }
                    said = Some(fault);
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(SECRET_AGAIN_AFTER) => {}
            }
        }
    }

    /// Reads one mailbox.
    pub(super) async fn read(self, reader: Reader, stop: CancellationToken) {
        let account_id = reader.mailbox.account_id.clone();
        let poke = self.live.poke_of(&account_id);
        let make = || {
            let (secrets, reader) = (Arc::clone(&self.secrets), reader.clone());
            async move {
                let password = secrets.get(&SecretName::mailbox(&reader.mailbox.account_id)).await?;
                let password = password.ok_or_else(|| {
                    Fault::new(
                        FaultCode::Secret,
                        "The mailbox is not read",
                        "its password is not in the place where secrets are kept",
                        "give it again with `ringonce mailbox set ID --password-stdin`",
                    )
                })?;
                Ok(Box::new(ImapSource { mailbox: reader.mailbox, password, settings: reader.settings })
                    as Box<dyn Source>)
            }
            .boxed()
        };
        component::run(self.kernel.clone(), self.live.clone(), account_id.0, poke, &make, stop).await;
    }

    /// Plays the demo.
    pub(super) async fn play(self, mailbox: Mailbox, stop: CancellationToken) {
        let make = || {
            let Mailbox { account_id, mailbox_id, .. } = mailbox.clone();
            // The same name each time: what was played before a restart is not played again.
            let run = account_id.0.clone();
            let demo = Demo { account_id, mailbox_id, run, pause: demo::PAUSE };
            futures_util::future::ready(Ok(Box::new(demo) as Box<dyn Source>)).boxed()
        };
        let name = mailbox.account_id.0.clone();
        component::run(self.kernel.clone(), self.live.clone(), name, Arc::default(), &make, stop).await;
    }

    /// Takes the webhooks of one port.
    pub(super) async fn listen(self, listener: Listener, stop: CancellationToken) {
        let name = listener_name(listener.port);
        let make = || {
            let (secrets, listener, live) = (Arc::clone(&self.secrets), listener.clone(), self.live.clone());
            async move {
                let mut endpoints = Vec::new();
                for (row, mailbox) in listener.endpoints {
                    let Some(secret) = secrets.get(&SecretName::source(&row.id)).await? else { continue };
                    endpoints.push(Endpoint::new(row.id, mailbox.account_id, mailbox.mailbox_id, &secret)?);
                }
                let (_, endpoints) = watch::channel(Arc::from(endpoints));
                let wake_reader = Arc::new(move |account_id: &AccountId| live.poke(account_id));
                Ok(Box::new(Webhook { port: listener.port, endpoints, wake_reader }) as Box<dyn Source>)
            }
            .boxed()
        };
        component::run(self.kernel.clone(), self.live.clone(), name, Arc::default(), &make, stop).await;
    }
}

/// Makes the channel of a destination, with its secrets.
///
/// # Errors
/// `secret` where they cannot be read now, `invalid` where the fields do not fit (any more).
pub async fn build(
    clock: &Clock,
    seat: Seat,
    secrets: &KeptSecrets,
    destination: &Destination,
    call_timeout: Duration,
) -> Result<Arc<dyn Channel>, Fault> {
    let kind = channel::kind(&destination.kind).ok_or_else(|| {
        Fault::new(
            FaultCode::Invalid,
            "The destination cannot be used",
            format!("this program knows no channel {:?}", destination.kind),
            "use the program it was added with, or remove it",
        )
    })?;
    let mut given = BTreeMap::new();
    for field in kind.fields.iter().filter(|field| field.secret) {
        let name = SecretName::destination(&destination.id, field.key);
        if let Some(secret) = secrets.get(&name).await? {
            given.insert(field.key.to_owned(), secret);
        }
    }
    (kind.build)(channel::Configured {
        fields: destination.fields.clone(),
        secrets: given,
        call_timeout,
        clock: clock.clone(),
        seat,
    })
}

/// Notes why a channel cannot be made, or that it can again.
async fn note_error(kernel: &Kernel, destination: &Destination, fault: Option<&Fault>) {
    let id = destination.id.clone();
    let error = fault.map(|fault| ChannelError::new(ErrorCode::SecretUnavailable, fault.cause.clone()));
    let known = kernel.store.read(move |read| destination::outcome(read, &id)).await;
    let id = destination.id.clone();
    let written = match (known, error) {
        (Ok((_, known)), Some(error)) if known.as_ref() != Some(&error) => {
            kernel.store.write(move |tx| destination::mark_error(tx, &id, &error)).await
        }
        (Ok((_, Some(known))), None) if known.code == ErrorCode::SecretUnavailable => {
            kernel.store.write(move |tx| destination::clear_error(tx, &id)).await
        }
        (known, _) => known.map(|_| ()),
    };
    match written {
        Ok(()) => kernel.changed(&[Topic::Destinations, Topic::Status]),
        Err(error) => tracing::error!("The state of destination {} was not written: {error}", destination.id),
    }
}
