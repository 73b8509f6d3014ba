//! The way out of the source: what is reported, until it is stored, and how the mailbox is doing.

use std::time::Duration;

use tokio::time::sleep;

use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DeliveryKey;
use crate::model::mailbox::FolderCursor;
use crate::model::occasion::{Ended, Occasion};
use crate::model::sighting::{Intent, Report, Sighting};
use crate::source::imap::place::Place;
use crate::source::{Context, HealthState, Method, NotStored};

const STORE_AGAIN_AFTER_MIN: Duration = Duration::from_millis(500);
const STORE_AGAIN_AFTER_MAX: Duration = Duration::from_secs(30);

/// Takes reports to the engine and tells how it goes.
pub(super) struct Desk {
    /// What the source was given.
    pub(super) context: Context,
    /// Mail this much older than the last check of its folder is old, ms.
    pub(super) old_ms: i64,
    /// A folder whose last check is longer ago than this, and in one session than this and a poll, is caught up, ms.
    pub(super) absence_ms: i64,
    /// Time between two polls, ms.
    pub(super) poll_ms: i64,
    /// A check that found nothing is recorded no more often than this, ms.
    pub(super) record_check_ms: i64,
}

impl Desk {
    /// Now, ms UTC.
    pub(super) fn now(&self) -> i64 {
        self.context.clock.now()
    }

    /// Reports sightings, the cursor that goes with them, and what is over with them. Returns once they are stored:
    /// until then the session is kept and nothing else is read.
    pub(super) async fn report(
        &self,
        place: &Place,
        sightings: Vec<Sighting>,
        cursor: Option<&FolderCursor>,
        ended: Option<Occasion>,
    ) {
        let arrived = sightings.iter().any(|sighting| !matches!(sighting.intent, Intent::Baseline));
        let cursor = cursor.map(|cursor| place.cursor_move(cursor.clone()));
        let ended = ended.map(|occasion| Ended { account_id: place.account_id.clone(), occasion });
        let report = Report { sightings, cursor, ended };
        let mut wait = STORE_AGAIN_AFTER_MIN;
        while let Err(error) = self.context.sink.report(report.clone()).await {
            self.not_stored(error, &mut wait).await;
        }
        if arrived {
            let now = self.now();
            self.context.health.send_modify(|health| health.last_mail_at = Some(now));
        }
    }

    /// Where a folder stands; `None` at first sight.
    pub(super) async fn cursor(&self, place: &Place) -> Option<FolderCursor> {
        let mut wait = STORE_AGAIN_AFTER_MIN;
        loop {
            match self.context.sink.cursor(&place.account_id, &place.folder).await {
                Ok(cursor) => return cursor,
                Err(error) => self.not_stored(error, &mut wait).await,
            }
        }
    }

    /// Which of these deliveries are stored already, in order.
    pub(super) async fn known(&self, keys: &[DeliveryKey]) -> Vec<bool> {
        let mut wait = STORE_AGAIN_AFTER_MIN;
        loop {
            match self.context.sink.known(keys).await {
                Ok(known) => return known,
                Err(error) => self.not_stored(error, &mut wait).await,
            }
        }
    }

    async fn not_stored(&self, error: NotStored, wait: &mut Duration) {
        tracing::warn!(%error, "What was read could not be stored; it is tried again");
        let fault = Fault::new(
            FaultCode::Storage,
            "New mail is not told yet",
            error.0,
            "make room on the disk; it is tried again until it works",
        );
        self.unwell(HealthState::Failing, fault);
        sleep(*wait).await;
        *wait = (*wait * 2).min(STORE_AGAIN_AFTER_MAX);
    }

    /// Something is wrong.
    pub(super) fn unwell(&self, state: HealthState, fault: Fault) {
        self.context.health.send_modify(|health| {
            health.state = state;
            health.error = Some(fault);
        });
    }

    /// A check was finished. `error`: what is wrong with a part of it.
    pub(super) fn checked(&self, method: Method, error: Option<Fault>) {
        let now = self.now();
        self.context.health.send_modify(|health| {
            health.state = HealthState::Watching;
            health.method = method;
            health.last_check_at = Some(now);
            health.error = error;
        });
    }
}
