//! Rules.

use serde::{Deserialize, Serialize};

use crate::api::view::{Id, Nothing};
use crate::api::{Api, invalid, named, not_found};
use crate::decide::{self, Rulebook, Seen, condition};
use crate::identity::keys;
use crate::limits::PAGE_ROWS_MAX;
use crate::model::error::Fault;
use crate::model::ids::RuleId;
use crate::model::mailbox::DEMO_MAILBOX;
use crate::model::rule::{Rule, RuleAction};
use crate::model::sighting::{Intent, Verdict};
use crate::model::topic::Topic;
use crate::payload::SELF_MAILBOX;
use crate::store::error::StoreError;
use crate::store::table::message::MessageRow;
use crate::store::table::{destination, message, operation, route, rule};
use crate::store::{Read, Tx};

/// Parameters of `rule.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "RuleAddParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// Only for this mailbox, by id or address.
    #[serde(default)]
    pub mailbox: Option<String>,
    /// `FIELD [not] contains|is|starts|matches "VALUE"`; all must hold.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub conditions: Vec<String>,
    /// Tell by these routes, by id or name.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "RuleMoveParams", optional_fields))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "RuleTryParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct TryParams {
    /// On so many of the newest mails.
    pub last: u32,
}

/// A row of `rule.list`, in the order in which they are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct TryRow {
    /// The mail.
    pub message_key: String,
    /// Its author's address.
    pub from: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// `notify`, `silent` or `hold`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::DecisionWord"))]
    pub decision: String,
    /// Why.
    pub reason: String,
    /// The rule that decides; null: a fixed one.
    pub rule_id: Option<String>,
    /// What was decided when it came.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::WasDecision"))]
    pub was: String,
}

/// Adds a rule; gives its id.
///
/// # Errors
/// `invalid` for a condition that is not understood, or where it is not said what to do; `not_found` for a mailbox,
/// route or rule that is not there.
pub async fn add(api: &Api, params: AddParams) -> Result<Id, Fault> {
    let conditions = params.conditions.iter().map(|text| condition::parse(text)).collect::<Result<Vec<_>, _>>()?;
    match (&params.silent, params.routes.is_empty()) {
        (None, true) => return Err(invalid("the rule does not say what to do", "give --route or --silent")),
        (Some(_), false) => return Err(invalid("the rule says both to tell and not to", "give --route or --silent")),
        (Some(reason), _) if reason.trim().is_empty() || reason.chars().any(char::is_control) => {
            return Err(invalid("a silent rule needs a reason of one line", "give it with --silent"));
        }
        _ => {}
    }
    let id = RuleId(api.new_id());
    let now_at = api.clock.now();
    api.change(&[Topic::Rules], move |tx| {
        let mailbox = match params.mailbox.as_deref().map(|name| named::mailbox(*tx, name)).transpose()?.transpose() {
            Ok(mailbox) => mailbox.map(|mailbox| mailbox.account_id),
            Err(fault) => return Ok(Err(fault)),
        };
        let mut routes = Vec::new();
        for name in &params.routes {
            match named::route(*tx, name)? {
                Ok(route) if routes.contains(&route.id) => {}
                Ok(route) => routes.push(route.id),
                Err(fault) => return Ok(Err(fault)),
            }
        }
        let action = params.silent.map_or(RuleAction::Routes(routes), RuleAction::Silent);
        let new = Rule { id: id.clone(), mailbox, conditions, action };
        place(tx, new, params.before.as_deref(), now_at).map(|placed| placed.map(|()| Id { id: id.0 }))
    })
    .await
}

/// Every rule, first asked first. After them comes the fixed one: everything else, to every destination.
///
/// # Errors
/// `storage`.
pub async fn list(api: &Api, _: Nothing) -> Result<Vec<RuleView>, Fault> {
    Ok(api.read(rule::list).await?.into_iter().map(RuleView::from).collect())
}

/// Removes a rule.
///
/// # Errors
/// `not_found`.
pub async fn remove(api: &Api, params: Id) -> Result<Nothing, Fault> {
    let now_at = api.clock.now();
    api.change(&[Topic::Rules], move |tx| {
        let removed = rule::mark_removed(tx, &RuleId(params.id.clone()), now_at)?;
        Ok(if removed { Ok(Nothing {}) } else { Err(not_found("rule", &params.id, "rule list")) })
    })
    .await
}

/// Moves a rule before another, or to the end.
///
/// # Errors
/// `not_found`.
pub async fn r#move(api: &Api, params: MoveParams) -> Result<Nothing, Fault> {
    let now_at = api.clock.now();
    api.change(&[Topic::Rules], move |tx| {
        let Some(found) = rule::list(*tx)?.into_iter().find(|rule| rule.id.as_str() == params.id) else {
            return Ok(Err(not_found("rule", &params.id, "rule list")));
        };
        if params.before.as_deref() == Some(params.id.as_str()) {
            return Ok(Ok(Nothing {}));
        }
        place(tx, found, params.before.as_deref(), now_at).map(|placed| placed.map(|()| Nothing {}))
    })
    .await
}

/// What the present rules would do with the newest mails. Nothing is changed and nobody is told.
///
/// # Errors
/// `invalid` for a number that is too large.
pub async fn r#try(api: &Api, params: TryParams) -> Result<Vec<TryRow>, Fault> {
    if !(1..=PAGE_ROWS_MAX).contains(&params.last) {
        return Err(invalid(
            format!("{} is not a number of mails to try", params.last),
            format!("give 1 to {PAGE_ROWS_MAX}"),
        ));
    }
    let now_at = api.clock.now();
    api.read(move |read| {
        let rulebook =
            Rulebook { rules: rule::list(read)?, routes: route::list(read)?, destinations: destination::list(read)? };
        let mails = message::list(read, None, i64::from(params.last), false)?.into_iter();
        let of_owner = mails.filter(|mail| ![SELF_MAILBOX, DEMO_MAILBOX].contains(&mail.mailbox_id.as_str()));
        of_owner.map(|mail| try_on(read, mail, &rulebook, now_at)).collect()
    })
    .await
}

fn try_on(read: Read<'_>, mail: MessageRow, rulebook: &Rulebook, now_at: i64) -> Result<TryRow, StoreError> {
    let seen = Seen {
        account_id: mail.account_id.as_ref(),
        facts: &mail.facts,
        folder: mail.folder.as_deref(),
        special_use: mail.special_use,
        intent: if mail.first_verdict == Verdict::Old { Intent::Old } else { Intent::Arrival },
        has_reader: false,
        received_at: mail.received_at,
    };
    let decision = decide::decide(&seen, rulebook, now_at);
    let was = operation::get(read, &keys::operation_key(&mail.message_key, keys::NOTIFY_OWNER))?;
    Ok(TryRow {
        message_key: mail.message_key.0,
        from: mail.facts.from_address,
        subject: mail.facts.subject,
        decision: decision.outcome.as_str().to_owned(),
        reason: decision.reason,
        rule_id: decision.rule_id.map(|id| id.0),
        was: was.map(|operation| operation.decision).unwrap_or_default(),
    })
}

/// Puts a rule, new or known, before another, or at the end.
fn place(tx: Tx<'_>, new: Rule, before: Option<&str>, now_at: i64) -> named::Named<()> {
    let mut rules = rule::list(*tx)?;
    rules.retain(|rule| rule.id != new.id);
    let at = match before {
        None => rules.len(),
        Some(id) => match rules.iter().position(|rule| rule.id.as_str() == id) {
            Some(at) => at,
            None => return Ok(Err(not_found("rule", id, "rule list"))),
        },
    };
    rules.insert(at, new);
    rule::put_all(tx, &rules, now_at)?;
    Ok(Ok(()))
}

impl From<Rule> for RuleView {
    fn from(rule: Rule) -> Self {
        let (routes, silent) = match rule.action {
            RuleAction::Routes(routes) => (routes.into_iter().map(|id| id.0).collect(), None),
            RuleAction::Silent(reason) => (Vec::new(), Some(reason)),
        };
        Self {
            id: rule.id.0,
            mailbox: rule.mailbox.map(|id| id.0),
            conditions: rule.conditions.iter().map(condition::text).collect(),
            routes,
            silent,
        }
    }
}
