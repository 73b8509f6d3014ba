//! What rules would do, tried on mails that came.

use serde::{Deserialize, Serialize};

use crate::api::rule::{self as rule_page, DraftRule};
use crate::api::view::time;
use crate::api::{Api, invalid, named};
use crate::decide::{self, Rulebook, Seen};
use crate::identity::keys;
use crate::limits::PAGE_ROWS_MAX;
use crate::model::destination::Route;
use crate::model::error::Fault;
use crate::model::ids::RouteId;
use crate::model::sighting::{Intent, Verdict};
use crate::payload::SELF_MAILBOX;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::message::MessageRow;
use crate::store::table::{destination, message, operation, route, rule};

/// Parameters of `rule.try`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "RuleTryParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct TryParams {
    /// On so many of the newest mails.
    pub last: u32,
}

/// Parameters of `rule.try_draft`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "RuleTryDraftParams"))]
#[serde(deny_unknown_fields)]
pub struct TryDraftParams {
    /// On so many of the newest mails.
    pub last: u32,
    /// The whole list, first asked first.
    pub rules: Vec<DraftRule>,
}

/// A row of `rule.try`: what rules would do with a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct TryRow {
    /// The mail.
    pub message_key: String,
    /// Its author's address.
    pub from: Option<String>,
    /// Its author's name, as its From header has it.
    pub from_name: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// When it was first reported.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub at: String,
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

/// What the present rules would do with the newest mails. Nothing is changed and nobody is told.
///
/// # Errors
/// `invalid` for a number that is too large.
pub async fn r#try(api: &Api, params: TryParams) -> Result<Vec<TryRow>, Fault> {
    let last = checked_last(params.last)?;
    let now_at = api.clock.now();
    api.read(move |read| {
        let rulebook =
            Rulebook { rules: rule::list(read)?, routes: route::list(read)?, destinations: destination::list(read)? };
        try_all(read, &rulebook, last, now_at)
    })
    .await
}

/// What a list of rules that is not stored would do with the newest mails. Nothing is changed and nobody is told.
///
/// # Errors
/// As for `rule.add`, and `invalid` for a number that is too large.
pub async fn try_draft(api: &Api, params: TryDraftParams) -> Result<Vec<TryRow>, Fault> {
    let last = checked_last(params.last)?;
    let drafts = params.rules.iter().map(rule_page::checked).collect::<Result<Vec<_>, _>>()?;
    let now_at = api.clock.now();
    api.find(move |read| {
        let mut rulebook =
            Rulebook { rules: Vec::new(), routes: route::list(read)?, destinations: destination::list(read)? };
        for draft in drafts {
            match rule_page::resolve_by(read, draft, |read, name| {
                route_or_destination(read, name, &mut rulebook.routes)
            })? {
                Ok(rule) => rulebook.rules.push(rule),
                Err(fault) => return Ok(Err(fault)),
            }
        }
        Ok(Ok(try_all(read, &rulebook, last, now_at)?))
    })
    .await
}

/// A route that the owner has not made yet is named by its destination.
fn route_or_destination(read: Read<'_>, name: &str, routes: &mut Vec<Route>) -> named::Named<RouteId> {
    let missing = match named::route(read, name)? {
        Ok(found) => return Ok(Ok(found.id)),
        Err(missing) => missing,
    };
    Ok(match named::destination(read, name)? {
        Ok(found) => {
            let id = RouteId(found.id.0.clone());
            routes.push(Route { id: id.clone(), name: found.name, members: vec![found.id] });
            Ok(id)
        }
        Err(_) => Err(missing),
    })
}

fn checked_last(last: u32) -> Result<i64, Fault> {
    if (1..=PAGE_ROWS_MAX).contains(&last) {
        return Ok(i64::from(last));
    }
    Err(invalid(format!("{last} is not a number of mails to try"), format!("give 1 to {PAGE_ROWS_MAX}")))
}

fn try_all(read: Read<'_>, rulebook: &Rulebook, last: i64, now_at: i64) -> Result<Vec<TryRow>, StoreError> {
    let mails = message::list(read, None, last, false)?.into_iter();
    let of_owner = mails.filter(|mail| mail.mailbox_id.as_str() != SELF_MAILBOX && !mail.mailbox_id.is_demo());
    of_owner.map(|mail| try_on(read, mail, rulebook, now_at)).collect()
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
        from_name: mail.facts.from_name,
        subject: mail.facts.subject,
        at: time(mail.processed_at),
        decision: decision.outcome.as_str().to_owned(),
        reason: decision.reason,
        rule_id: decision.rule_id.map(|id| id.0),
        was: was.map(|operation| operation.decision).unwrap_or_default(),
    })
}
