//! Rules.

use serde::{Deserialize, Serialize};

/// Parameters of `rule.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// Only for this mailbox, by id or address.
    #[serde(default)]
    pub mailbox: Option<String>,
    /// `FIELD [not] contains|is|starts|matches "VALUE"`; all must hold.
    #[serde(default)]
    pub conditions: Vec<String>,
    /// Tell by these routes, by id or name.
    #[serde(default)]
    pub routes: Vec<String>,
    /// Tell nobody, for this reason.
    #[serde(default)]
    pub silent: Option<String>,
    /// Put it before this rule; else it is the last.
    #[serde(default)]
    pub before: Option<String>,
}

/// Parameters of `rule.move`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveParams {
    /// Which.
    pub id: String,
    /// Put it before this rule; else it is the last.
    #[serde(default)]
    pub before: Option<String>,
}

/// Parameters of `rule.try`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TryParams {
    /// On so many of the newest mails.
    pub last: u32,
}

/// A row of `rule.list`, in the order in which they are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleView {
    /// Its id.
    pub id: String,
    /// Account id of the one mailbox it is for.
    pub mailbox: Option<String>,
    /// Conditions in words; all must hold.
    pub conditions: Vec<String>,
    /// Ids of the routes to tell by.
    pub routes: Vec<String>,
    /// Why nobody is told; null where somebody is.
    pub silent: Option<String>,
}

/// A row of `rule.try`: what the present rules would do with a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TryRow {
    /// The mail.
    pub message_key: String,
    /// Its author's address.
    pub from: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// `notify`, `silent` or `hold`.
    pub decision: String,
    /// Why.
    pub reason: String,
    /// The rule that decides; null: a fixed one.
    pub rule_id: Option<String>,
    /// What was decided when it came.
    pub was: String,
}
