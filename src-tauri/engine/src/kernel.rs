//! What intake, outbox and the pages share while a data folder is open: the store, the clock, and what is kept in
//! memory of the configuration.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, broadcast};

use crate::alarm::Board;
use crate::channel::desktop::desk::Desk;
use crate::clock::Clock;
use crate::decide::Rulebook;
use crate::model::happening::Happening;
use crate::model::ids::{AccountId, LeaseToken};
use crate::model::settings::Settings;
use crate::model::topic::Topic;
use crate::outbox::lanes::Lanes;
use crate::store::error::StoreError;
use crate::store::restored::Restored;
use crate::store::table::{destination, mailbox, pause, route, rule, setting};
use crate::store::{Read, Store};

/// What may wait for a slow listener; who falls behind refetches everything.
const UNHEARD_MAX: usize = 256;

/// Shared by everything above the store. Cheap to clone.
#[derive(Clone)]
pub struct Kernel(Arc<Parts>);

/// The parts of a [`Kernel`].
pub struct Parts {
    /// The database.
    pub store: Store,
    /// Now.
    pub clock: Clock,
    /// Who we are among all runs; lease tokens begin with it.
    pub run: String,
    /// Who sends, in memory.
    pub lanes: Lanes,
    /// What changed, for those who show it.
    pub topics: broadcast::Sender<Topic>,
    /// What happens, as it happens.
    pub happened: broadcast::Sender<Happening>,
    /// The configuration changed: components look again.
    pub reconfigured: Notify,
    /// Something became due that only the sweep handles.
    pub sweep: Notify,
    /// The line to the owner's session on this computer.
    pub desk: Desk,
    /// What alarms need in memory.
    pub alarms: Board,
    /// Settles that could not be written yet; no lane claims meanwhile.
    pub unsettled: AtomicUsize,
    editions: Mutex<HashMap<String, u64>>,
    in_hand: Mutex<HashSet<LeaseToken>>,
    generation: AtomicU64,
    configured: Mutex<Option<(u64, Arc<Configured>)>>,
}

/// What is kept in memory of the configuration.
#[derive(Debug, Clone, Default)]
pub struct Configured {
    /// Rules, routes, destinations.
    pub rulebook: Rulebook,
    /// Settings in force.
    pub settings: Settings,
    /// Until when all watching is paused; it may be over.
    pub paused_until: Option<i64>,
    /// Mailboxes that somebody reads, or will when a pause is over.
    pub readers: HashSet<AccountId>,
    /// The demo, while there is one.
    pub demo: Option<AccountId>,
    /// The history is from a copy, and not every mailbox was looked through since.
    pub restored: Option<Restored>,
}

impl Configured {
    /// Until when all watching is paused, where it is now.
    #[must_use]
    pub fn paused_at(&self, now_at: i64) -> Option<i64> {
        self.paused_until.filter(|until_at| *until_at > now_at)
    }
}

impl std::ops::Deref for Kernel {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Kernel {
    /// Over an open database.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        let run = random_hex(8);
        Self(Arc::new(Parts {
            store,
            clock,
            run,
            lanes: Lanes::default(),
            topics: broadcast::Sender::new(UNHEARD_MAX),
            happened: broadcast::Sender::new(UNHEARD_MAX),
            reconfigured: Notify::new(),
            sweep: Notify::new(),
            desk: Desk::default(),
            alarms: Board::default(),
            unsettled: AtomicUsize::new(0),
            editions: Mutex::default(),
            in_hand: Mutex::default(),
            generation: AtomicU64::new(1),
            configured: Mutex::new(None),
        }))
    }

    /// Now, ms UTC.
    #[must_use]
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// A token nobody else has, which names this run.
    #[must_use]
    pub fn new_token(&self) -> LeaseToken {
        LeaseToken(format!("{}.{}", self.run, random_hex(12)))
    }

    /// Says that something changed.
    pub fn changed(&self, topics: &[Topic]) {
        for topic in topics {
            // Nobody listening is fine.
            let _ = self.topics.send(*topic);
        }
    }

    /// Says what happened.
    pub fn happened(&self, happening: Happening) {
        let _ = self.happened.send(happening);
    }

    /// The configuration as this transaction or query sees it.
    ///
    /// Changes are made by jobs of the one writer, which call [`Kernel::reconfigure`] inside their job; so a job that
    /// comes after one of those sees what it changed, and no job reads the tables twice for nothing.
    ///
    /// # Errors
    /// [`StoreError`] of the queries.
    pub fn configured(&self, read: Read<'_>) -> Result<Arc<Configured>, StoreError> {
        let generation = self.generation.load(Ordering::SeqCst);
        if let Some((known, configured)) = &*lock(&self.configured)
            && *known == generation
        {
            return Ok(Arc::clone(configured));
        }
        let mailboxes = mailbox::list(read)?;
        let restored = Restored::get(read, &mailboxes, self.now())?;
        let demo = mailboxes.iter().find(|mailbox| mailbox.is_demo()).map(|mailbox| mailbox.account_id.clone());
        let readers = mailboxes
            .into_iter()
            .filter(|mailbox| mailbox.imap.is_some() && !mailbox.paused)
            .map(|mailbox| mailbox.account_id)
            .collect();
        let configured = Arc::new(Configured {
            rulebook: Rulebook {
                rules: rule::list(read)?,
                routes: route::list(read)?,
                destinations: destination::list(read)?,
            },
            settings: Settings::from_stored(&setting::list(read)?),
            paused_until: pause::get(read)?,
            readers,
            demo,
            restored,
        });
        *lock(&self.configured) = Some((generation, Arc::clone(&configured)));
        Ok(configured)
    }

    /// The configuration as last committed.
    ///
    /// # Errors
    /// [`StoreError`] of the queries.
    pub async fn configuration(&self) -> Result<Arc<Configured>, StoreError> {
        let generation = self.generation.load(Ordering::SeqCst);
        if let Some((known, configured)) = &*lock(&self.configured)
            && *known == generation
        {
            return Ok(Arc::clone(configured));
        }
        let kernel = self.clone();
        self.store.write(move |tx| kernel.configured(*tx)).await
    }

    /// What is in memory of the configuration is out of date. Called inside the job that changes it, and again where
    /// its commit failed.
    pub fn reconfigure(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// How often a secret of a mailbox, destination or source was replaced in this run.
    #[must_use]
    pub fn edition_of(&self, id: &str) -> u64 {
        lock(&self.editions).get(id).copied().unwrap_or(0)
    }

    /// A secret of it was replaced: what uses it is made anew.
    pub fn secret_replaced(&self, id: &str) {
        *lock(&self.editions).entry(id.to_owned()).or_insert(0) += 1;
        self.reconfigured.notify_one();
    }

    /// Remembers that a call by this token is in hand; until the guard is dropped nobody rescues it.
    #[must_use]
    pub fn take_in_hand(&self, token: &LeaseToken) -> InHand {
        lock(&self.in_hand).insert(token.clone());
        InHand { kernel: self.clone(), token: token.clone() }
    }

    /// Whether a call by this token is in hand.
    #[must_use]
    pub fn is_in_hand(&self, token: &LeaseToken) -> bool {
        lock(&self.in_hand).contains(token)
    }

    /// Today by the owner's own calendar, `YYYY-MM-DD`.
    #[must_use]
    pub fn today(&self) -> String {
        day_of(self.now())
    }
}

/// The owner's own day of an instant, `YYYY-MM-DD`.
#[must_use]
pub fn day_of(at: i64) -> String {
    let zone = jiff::tz::TimeZone::system();
    jiff::Timestamp::from_millisecond(at)
        .map_or_else(|_| String::new(), |at| at.to_zoned_datetime(zone).date().to_string())
}

/// A call in hand.
pub struct InHand {
    kernel: Kernel,
    token: LeaseToken,
}

impl Drop for InHand {
    fn drop(&mut self) {
        lock(&self.kernel.in_hand).remove(&self.token);
    }
}

/// Locks for a short section; a panic elsewhere does not make the value unusable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Random bytes as lower-case hex.
#[must_use]
pub fn random_hex(bytes: usize) -> String {
    let mut buffer = vec![0_u8; bytes];
    if getrandom::fill(&mut buffer).is_err() {
        // The system has no random source yet (very early boot): unique, if not unguessable.
        buffer.iter_mut().for_each(|byte| *byte = fastrand::u8(..));
    }
    buffer.iter().fold(String::with_capacity(bytes * 2), |mut text, byte| {
        use std::fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
        text
    })
}
