//! Reports of which the owner was not told again.

use serde::{Deserialize, Serialize};

/// A row of `duplicates.list`: a mail that was reported more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuplicatesRow {
    /// The mail.
    pub message_key: String,
    /// Its subject.
    pub subject: Option<String>,
    /// The report that counted.
    pub kept: Kept,
    /// The others.
    pub suppressed: Vec<Suppressed>,
}

/// The report that counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// By which path.
    pub source: String,
    /// At which place.
    pub locator: String,
    /// When.
    pub at: String,
}

/// A report that was suppressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppressed {
    /// By which path.
    pub source: String,
    /// At which place.
    pub locator: String,
    /// `repeat` (the same event again) or `duplicate` (the same mail by another path or place).
    pub verdict: String,
    /// In words.
    pub reason: String,
    /// When, last.
    pub at: String,
    /// How often.
    pub times_seen: i64,
}
