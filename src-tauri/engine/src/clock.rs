//! Time and randomness, passed in so that tests can set them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where "now" comes from. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The computer's wall clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Kind::System)
    }

    /// A clock that stands still until it is set.
    #[must_use]
    pub fn manual(now_at: i64) -> Self {
        Self(Kind::Manual(Arc::new(AtomicI64::new(now_at))))
    }

    /// Milliseconds since 1970, UTC.
    #[must_use]
    pub fn now(&self) -> i64 {
        match &self.0 {
            Kind::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            Kind::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Moves a manual clock; the system's clock is left alone.
    pub fn advance(&self, ms: i64) {
        if let Kind::Manual(now) = &self.0 {
            now.fetch_add(ms, Ordering::SeqCst);
        }
    }
}
