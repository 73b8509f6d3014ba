//! Lanes in memory: how many calls to a destination are in hand, and what was born leased to it.
//!
//! A lane is only a limit; the queue is the table. A dead destination fills its own lane and delays nobody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::kernel::lock;
use crate::limits::LANE_CALLS_MAX;
use crate::model::ids::DestinationId;
use crate::store::table::outbox::OutboxRow;

/// Every lane that runs.
#[derive(Default)]
pub struct Lanes(Mutex<HashMap<DestinationId, Arc<Lane>>>);

/// One destination's lane.
pub struct Lane {
    /// Something may be due.
    pub wake: Notify,
    /// Something may be uncertain.
    pub ask: Notify,
    calls: Arc<Semaphore>,
    born: Mutex<Vec<Born>>,
}

/// The right to have one call in hand.
pub struct Slot(#[allow(dead_code)] OwnedSemaphorePermit);

/// A notification that was stored already leased to this lane.
pub struct Born {
    /// The row as stored.
    pub row: OutboxRow,
    /// The right to send it.
    pub slot: Slot,
}

impl Lanes {
    /// Opens the lane of a destination; from now on rows may be born leased to it.
    pub fn open(&self, id: &DestinationId) -> Arc<Lane> {
        let lane = Arc::new(Lane {
            wake: Notify::new(),
            ask: Notify::new(),
            calls: Arc::new(Semaphore::new(LANE_CALLS_MAX)),
            born: Mutex::new(Vec::new()),
        });
        lock(&self.0).insert(id.clone(), Arc::clone(&lane));
        lane
    }

    /// Closes a lane: nothing is born leased to it any more.
    pub fn close(&self, id: &DestinationId) {
        if let Some(lane) = lock(&self.0).remove(id) {
            lane.calls.close();
        }
    }

    /// The lane of a destination, if it runs.
    #[must_use]
    pub fn get(&self, id: &DestinationId) -> Option<Arc<Lane>> {
        lock(&self.0).get(id).cloned()
    }

    /// Says that something may be due.
    pub fn wake(&self, id: &DestinationId) {
        if let Some(lane) = self.get(id) {
            lane.wake.notify_one();
        }
    }

    /// Says to every lane that something may be due.
    pub fn wake_all(&self) {
        for lane in lock(&self.0).values() {
            lane.wake.notify_one();
        }
    }
}

impl Lane {
    /// The right to one more call, if the lane is not full.
    #[must_use]
    pub fn try_slot(&self) -> Option<Slot> {
        Arc::clone(&self.calls).try_acquire_owned().ok().map(Slot)
    }

    /// Hands over what was born leased to this lane, after its commit.
    pub fn hand_over(&self, born: Born) {
        lock(&self.born).push(born);
        self.wake.notify_one();
    }

    /// Takes what was handed over.
    #[must_use]
    pub fn take_born(&self) -> Vec<Born> {
        std::mem::take(&mut *lock(&self.born))
    }
}
