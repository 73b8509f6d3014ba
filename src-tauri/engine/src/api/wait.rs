//! Waits until nothing is to be done.

use serde::{Deserialize, Serialize};

/// Parameters of `wait.idle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleParams {
    /// Also wait for what falls due within `within_seconds`.
    pub settled: bool,
    /// What is held for this long or less is waited for.
    pub within_seconds: u64,
}

/// Whether there is anything left to do. No call waits longer than `limits::SETTLE_WAIT`: ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idle {
    /// Nothing is.
    pub idle: bool,
}
