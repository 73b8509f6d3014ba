//! The threads between a front end and the running engine, beside the kernel: health, and pokes for readers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, watch};

use crate::kernel::lock;
use crate::model::ids::AccountId;
use crate::source::Health;
use crate::supervise::windows::Windows;

/// What a running engine shows and takes. Cheap to clone.
#[derive(Clone)]
pub struct Live {
    health: watch::Sender<BTreeMap<String, Health>>,
    readers: Arc<Mutex<HashMap<AccountId, Arc<Notify>>>>,
    woken: watch::Sender<u64>,
    windows: Windows,
    offline_since: watch::Sender<Option<i64>>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            health: watch::Sender::new(BTreeMap::new()),
            readers: Arc::default(),
            woken: watch::Sender::new(0),
            windows: Windows::default(),
            offline_since: watch::Sender::new(None),
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

    /// The window that is attached, and the way to one.
    #[must_use]
    pub fn windows(&self) -> &Windows {
        &self.windows
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

    /// Since when this computer has no network; `None`: it has one.
    #[must_use]
    pub fn offline_since(&self) -> Option<i64> {
        *self.offline_since.borrow()
    }

    /// Notes whether this computer has a network; `true`: that is news.
    pub fn set_offline(&self, offline: bool, now_at: i64) -> bool {
        self.offline_since.send_if_modified(|since| {
            let news = since.is_some() != offline;
            if news {
                *since = offline.then_some(now_at);
            }
            news
        })
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

    /// Every reader looks now, and those that wait for a broken line try again.
    pub fn poke_all(&self) {
        for reader in lock(&self.readers).values() {
            reader.notify_one();
        }
    }
}
