//! Waits until nothing is to be done.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::limits::SETTLE_WAIT;
use crate::model::error::Fault;
use crate::store::figures::is_busy;

/// Pause between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Parameters of `wait.idle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct IdleParams {
    /// Also wait for what falls due within `within_seconds`.
    pub settled: bool,
    /// What is held for this long or less is waited for.
    pub within_seconds: u64,
    /// Longest wait of this call.
    pub wait_ms: u64,
}

/// Whether there is anything left to do. No call waits longer than `limits::SETTLE_WAIT`: ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Idle {
    /// Nothing is.
    pub idle: bool,
}

/// Waits, for `wait_ms` and `limits::SETTLE_WAIT` at most, until nothing is due, in hand or held for `within_seconds` or less.
///
/// # Errors
/// `storage`.
pub async fn idle(api: &Api, params: IdleParams) -> Result<Idle, Fault> {
    let within_ms = i64::try_from(params.within_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    let end = tokio::time::Instant::now() + SETTLE_WAIT.min(Duration::from_millis(params.wait_ms));
    loop {
        let now_at = api.clock.now();
        let soon_at = now_at.saturating_add(within_ms);
        let due_by_at = if params.settled { soon_at } else { now_at };
        if !api.read(move |read| is_busy(read, due_by_at, soon_at)).await? {
            return Ok(Idle { idle: true });
        }
        if tokio::time::Instant::now() >= end {
            return Ok(Idle { idle: false });
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
