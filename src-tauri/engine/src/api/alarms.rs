//! Alarms.

use serde::{Deserialize, Serialize};

/// A row of `alarms.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlarmRow {
    /// What kind.
    pub code: String,
    /// What it is about.
    pub about: String,
    /// Since when.
    pub opened_at: String,
    /// Until when; null while it lasts.
    pub cleared_at: Option<String>,
    /// In words.
    pub text: String,
}
