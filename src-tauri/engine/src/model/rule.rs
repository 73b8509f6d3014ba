//! Rules of the owner, and what comes of them.

use serde::{Deserialize, Serialize};

use crate::model::ids::{AccountId, DestinationId, RouteId, RuleId};

/// One rule; the first that holds decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// Only for this mailbox.
    pub mailbox: Option<AccountId>,
    /// All must hold.
    pub conditions: Vec<Condition>,
    /// What to do then.
    pub action: RuleAction,
    /// The owner switched it off: it stands in its place and is not asked.
    pub off: bool,
}

/// `FIELD [not] contains|is|starts|matches "VALUE"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// What is looked at.
    pub field: Field,
    /// The condition holds where the test does not.
    #[serde(default)]
    pub not: bool,
    /// How it is compared; never by case.
    pub test: Test,
    /// With what.
    pub value: String,
}

/// What a condition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// Wire or display name of the folder.
    Folder,
    /// Address or name of the author.
    From,
    /// Any address of To and Cc.
    To,
    /// The subject.
    Subject,
    /// The mailing list's id.
    ListId,
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The text holds the value.
    Contains,
    /// The text is the value.
    Is,
    /// The text begins with the value.
    Starts,
    /// The whole text matches the value, where `*` stands for any characters and `?` for one.
    Matches,
}

/// What a rule does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleAction {
    /// Tell by these routes.
    Routes(Vec<RouteId>),
    /// Tell nobody, for this reason.
    Silent(String),
}

/// What is done about one mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Notify, be silent, or wait.
    pub outcome: Outcome,
    /// Why, for people.
    pub reason: String,
    /// The rule that decided; `None`: a fixed one.
    pub rule_id: Option<RuleId>,
}

/// The three ways to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Tell by these ways, each a list of destinations of which the first that works is enough.
    Notify(Vec<Vec<DestinationId>>),
    /// Tell nobody.
    Silent,
    /// Wait until then, ms UTC.
    Hold(i64),
}

impl Outcome {
    /// As in SQL and JSON.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Notify(_) => "notify",
            Self::Silent => "silent",
            Self::Hold(_) => "hold",
        }
    }
}
