//! The data folder as a whole.

use serde::{Deserialize, Serialize};

/// What `data.verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Every invariant holds.
    pub ok: bool,
    /// What is broken.
    pub broken: Vec<Broken>,
}

/// One broken invariant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// Which, by name.
    pub invariant: String,
    /// Where, in words.
    pub detail: String,
}

/// What `data.prune` removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Rows.
    pub removed: u64,
}
