//! Rules.

use serde::{Deserialize, Serialize};

use crate::api::view::{Id, Nothing};
use crate::api::{Api, invalid, named, not_found};
use crate::decide::condition;
use crate::model::error::Fault;
use crate::model::ids::{RouteId, RuleId};
use crate::model::rule::{Condition, Rule, RuleAction};
use crate::model::topic::Topic;
use crate::store::table::rule;
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

/// A whole rule: parameters of `rule.set`, and what `rule.try_draft` tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct DraftRule {
    /// Which.
    pub id: String,
    /// Only for this mailbox, by id or address.
    #[serde(default)]
    pub mailbox: Option<String>,
    /// `FIELD [not] contains|is|starts|matches "VALUE"`; all must hold.
    #[serde(default)]
    pub conditions: Vec<String>,
    /// Tell by these routes, by id or name; where it is only tried also to destinations.
    #[serde(default)]
    pub routes: Vec<String>,
    /// Tell nobody, for this reason.
    #[serde(default)]
    pub silent: Option<String>,
    /// It is not asked; what is not given stays.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional))]
    pub off: Option<bool>,
}

/// Parameters of `rule.switch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "RuleSwitchParams"))]
#[serde(deny_unknown_fields)]
pub struct SwitchParams {
    /// Which.
    pub id: String,
    /// Off, or on again.
    pub off: bool,
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
    /// The owner switched it off: it is not asked.
    pub off: bool,
}

/// Adds a rule; gives its id.
///
/// # Errors
/// `invalid` for a condition that is not understood, or where it is not said what to do; `not_found` for a mailbox,
/// route or rule that is not there.
pub async fn add(api: &Api, params: AddParams) -> Result<Id, Fault> {
    let id = api.new_id();
    let AddParams { mailbox, conditions, routes, silent, before } = params;
    let draft = checked(&DraftRule { id: id.clone(), mailbox, conditions, routes, silent, off: None })?;
    let now_at = api.clock.now();
    api.change(&[Topic::Rules], move |tx| {
        let new = match resolve(*tx, draft)? {
            Ok(new) => new,
            Err(fault) => return Ok(Err(fault)),
        };
        place(tx, new, before.as_deref(), now_at).map(|placed| placed.map(|()| Id { id }))
    })
    .await
}

/// Changes a rule, which stays in its place.
///
/// # Errors
/// As for [`add`].
pub async fn set(api: &Api, params: DraftRule) -> Result<Nothing, Fault> {
    let draft = checked(&params)?;
    let now_at = api.clock.now();
    api.change(&[Topic::Rules], move |tx| {
        let wanted = match resolve(*tx, draft)? {
            Ok(wanted) => wanted,
            Err(fault) => return Ok(Err(fault)),
        };
        let off = params.off;
        change_one(tx, &params.id, now_at, |rule| *rule = Rule { off: off.unwrap_or(rule.off), ..wanted })
    })
    .await
}

/// Switches a rule off without removing it, or on again.
///
/// # Errors
/// `not_found`.
pub async fn switch(api: &Api, params: SwitchParams) -> Result<Nothing, Fault> {
    let now_at = api.clock.now();
    api.change(&[Topic::Rules], move |tx| change_one(tx, &params.id, now_at, |rule| rule.off = params.off)).await
}

fn change_one(tx: Tx<'_>, id: &str, now_at: i64, change: impl FnOnce(&mut Rule)) -> named::Named<Nothing> {
    let mut rules = rule::list(*tx)?;
    let Some(found) = rules.iter_mut().find(|rule| rule.id.as_str() == id) else {
        return Ok(Err(not_found("rule", id, "rule list")));
    };
    change(found);
    rule::put_all(tx, &rules, now_at)?;
    Ok(Ok(Nothing {}))
}

/// A rule as given, of which everything is understood that can be without the database.
pub(super) struct Checked {
    id: RuleId,
    mailbox: Option<String>,
    conditions: Vec<Condition>,
    routes: Vec<String>,
    silent: Option<String>,
    off: bool,
}

/// Reads the conditions, and looks whether it is said what to do.
pub(super) fn checked(draft: &DraftRule) -> Result<Checked, Fault> {
    let conditions = draft.conditions.iter().map(|text| condition::parse(text)).collect::<Result<Vec<_>, _>>()?;
    match (&draft.silent, draft.routes.is_empty()) {
        (None, true) => return Err(invalid("the rule does not say what to do", "give --route or --silent")),
        (Some(_), false) => return Err(invalid("the rule says both to tell and not to", "give --route or --silent")),
        (Some(reason), _) if reason.trim().is_empty() || reason.chars().any(char::is_control) => {
            return Err(invalid("a silent rule needs a reason of one line", "give it with --silent"));
        }
        _ => {}
    }
    let DraftRule { id, mailbox, routes, silent, off, .. } = draft.clone();
    Ok(Checked { id: RuleId(id), mailbox, conditions, routes, silent, off: off.unwrap_or(false) })
}

/// Finds the mailbox and routes it names.
fn resolve(read: Read<'_>, draft: Checked) -> named::Named<Rule> {
    resolve_by(read, draft, |read, name| Ok(named::route(read, name)?.map(|route| route.id)))
}

/// As [`resolve`], where `route` finds a route.
pub(super) fn resolve_by(
    read: Read<'_>,
    draft: Checked,
    mut route: impl FnMut(Read<'_>, &str) -> named::Named<RouteId>,
) -> named::Named<Rule> {
    let Checked { id, mailbox, conditions, routes: names, silent, off } = draft;
    let mailbox = match mailbox.as_deref().map(|name| named::mailbox(read, name)).transpose()?.transpose() {
        Ok(mailbox) => mailbox.map(|mailbox| mailbox.account_id),
        Err(fault) => return Ok(Err(fault)),
    };
    let mut routes = Vec::new();
    for name in &names {
        match route(read, name)? {
            Ok(id) if routes.contains(&id) => {}
            Ok(id) => routes.push(id),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    let action = silent.map_or(RuleAction::Routes(routes), RuleAction::Silent);
    Ok(Ok(Rule { id, mailbox, conditions, action, off }))
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
            off: rule.off,
        }
    }
}
