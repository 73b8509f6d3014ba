//! The threads between a front end and the running engine, beside the kernel: health, and pokes for readers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, broadcast, watch};

use crate::kernel::lock;
use crate::model::ids::AccountId;
use crate::source::Health;

/// Places that may wait for whoever opens windows; of more only the last count.
const PLACES_MAX: usize = 8;

/// What a running engine shows and takes. Cheap to clone.
#[derive(Clone)]
pub struct Live {
    health: watch::Sender<BTreeMap<String, Health>>,
    readers: Arc<Mutex<HashMap<AccountId, Arc<Notify>>>>,
    woken: watch::Sender<u64>,
    places: broadcast::Sender<String>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            health: watch::Sender::new(BTreeMap::new()),
            readers: Arc::default(),
            woken: watch::Sender::new(0),
            places: broadcast::Sender::new(PLACES_MAX),
        }
    }
}

impl Live {
    /// How each source is doing, by account id or source id.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<BTreeMap<String, Health>> {
        self.health.subscribe()
    }

    /// How a source is doing; still starting where nothing is known of it.
    #[must_use]
    pub fn health_of(&self, id: &str) -> Health {
        self.health.borrow().get(id).cloned().unwrap_or_default()
    }

    /// Notes how a source is doing; `None`: it is gone.
    pub fn set_health(&self, id: &str, health: Option<Health>) {
        self.health.send_if_modified(|all| match health {
            Some(health) if all.get(id) == Some(&health) => false,
            Some(health) => {
                all.insert(id.to_owned(), health);
                true
            }
            None => all.remove(id).is_some(),
        });
    }

    /// The owner wants to see a place of the window, such as `#/history/KEY`.
    pub fn open_place(&self, place: &str) {
        if self.places.send(place.to_owned()).is_err() {
            tracing::info!("Nobody here opens a window");
        }
    }

    /// Places the owner wants to see, for whoever opens windows.
    #[must_use]
    pub fn places(&self) -> broadcast::Receiver<String> {
        self.places.subscribe()
    }

    /// The wake-up of an account's reader, the same one over its restarts.
    #[must_use]
    pub fn poke_of(&self, account_id: &AccountId) -> Arc<Notify> {
        Arc::clone(lock(&self.readers).entry(account_id.clone()).or_default())
    }

    /// Somebody says there may be mail: the reader looks now.
    pub fn poke(&self, account_id: &AccountId) {
        if let Some(reader) = lock(&self.readers).get(account_id) {
            reader.notify_one();
        }
    }

    /// Changes when every open line has become doubtful.
    #[must_use]
    pub fn woken(&self) -> watch::Receiver<u64> {
        self.woken.subscribe()
    }

    /// Every open line is doubtful: every reader connects anew and looks, at once.
    pub fn wake(&self) {
        self.woken.send_modify(|count| *count += 1);
        self.poke_all();
    }

    fn poke_all(&self) {
        for reader in lock(&self.readers).values() {
            reader.notify_one();
        }
    }
}
