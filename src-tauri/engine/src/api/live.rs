//! The threads between a front end and the running engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{Notify, broadcast, watch};

use crate::api::history::WatchRow;
use crate::api::topics::Topic;
use crate::limits::WATCH_EVENTS_MAX;
use crate::source::Health;

/// What a running engine shows and takes. Cheap to clone.
#[derive(Clone)]
pub struct Live {
    /// How each source is doing, by account id or source id.
    pub health: watch::Receiver<BTreeMap<String, Health>>,
    /// What became out of date.
    pub topics: broadcast::Sender<Topic>,
    /// Rings, repeats, silences and alarms as they happen.
    pub happened: broadcast::Sender<WatchRow>,
    /// The owner changed mailboxes, sources, destinations, routes, rules or settings: take it up.
    pub configured: Arc<Notify>,
    /// There may be something to send.
    pub due: Arc<Notify>,
}

impl Live {
    /// Threads nobody holds yet.
    #[must_use]
    pub fn new(health: watch::Receiver<BTreeMap<String, Health>>) -> Self {
        Self {
            health,
            topics: broadcast::Sender::new(WATCH_EVENTS_MAX),
            happened: broadcast::Sender::new(WATCH_EVENTS_MAX),
            configured: Arc::default(),
            due: Arc::default(),
        }
    }

    /// How a source is doing, by account id or source id; still starting where nothing is known of it.
    #[must_use]
    pub fn health_of(&self, id: &str) -> Health {
        self.health.borrow().get(id).cloned().unwrap_or_default()
    }

    /// Says what became out of date, and wakes the engine where it has to take that up.
    pub fn changed(&self, topics: &[Topic]) {
        for topic in topics {
            // Nobody may be listening; then nobody shows anything old.
            let _ = self.topics.send(*topic);
            match topic {
                Topic::Mailboxes
                | Topic::Destinations
                | Topic::Sources
                | Topic::Routes
                | Topic::Rules
                | Topic::Settings => self.configured.notify_one(),
                Topic::History | Topic::Attention => self.due.notify_one(),
                Topic::Status | Topic::Duplicates | Topic::Alarms => {}
            }
        }
    }
}
