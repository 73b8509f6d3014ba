//! Routes.

use serde::{Deserialize, Serialize};

use crate::api::view::{Id, Nothing};
use crate::api::{Api, invalid, named};
use crate::model::destination::Route;
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::{DestinationId, RouteId};
use crate::model::rule::RuleAction;
use crate::model::topic::Topic;
use crate::store::table::{route, rule};

/// Parameters of `route.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "RouteAddParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The owner's name for it.
    pub name: String,
    /// The primary destination, by id or name.
    pub to: String,
    /// Its fallbacks in order, by id or name.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub fallbacks: Vec<String>,
}

/// A row of `route.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct RouteView {
    /// Its id.
    pub id: String,
    /// The owner's name for it.
    pub name: String,
    /// Id of the primary destination.
    pub to: String,
    /// Ids of its fallbacks, in order.
    pub fallbacks: Vec<String>,
}

/// Adds a route; gives its id.
///
/// # Errors
/// `not_found` for a destination that is not there, `conflict` for a name in use, `invalid` for one named twice.
pub async fn add(api: &Api, params: AddParams) -> Result<Id, Fault> {
    let AddParams { name, to, fallbacks } = params;
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(invalid("a route needs a name of one line", "give it a name"));
    }
    let now_at = api.clock.now();
    let id = RouteId(api.new_id());
    api.change(&[Topic::Routes], move |tx| {
        if route::list(*tx)?.iter().any(|route| route.name == name) {
            return Ok(Err(Fault::new(
                FaultCode::Conflict,
                "Nothing was changed",
                format!("there is a route {name:?} already"),
                "give it another name",
            )));
        }
        let mut members: Vec<DestinationId> = Vec::new();
        for member in std::iter::once(&to).chain(&fallbacks) {
            match named::destination(*tx, member)? {
                Ok(destination) if members.contains(&destination.id) => {
                    return Ok(Err(invalid(format!("{member:?} is in the route twice"), "name each destination once")));
                }
                Ok(destination) => members.push(destination.id),
                Err(fault) => return Ok(Err(fault)),
            }
        }
        route::put(tx, &Route { id: id.clone(), name, members }, now_at)?;
        Ok(Ok(Id { id: id.0 }))
    })
    .await
}

/// Every route, oldest first.
///
/// # Errors
/// `storage`.
pub async fn list(api: &Api, _: Nothing) -> Result<Vec<RouteView>, Fault> {
    let routes = api.read(route::list).await?;
    Ok(routes.into_iter().map(RouteView::from).collect())
}

/// Removes a route that no rule uses. Its destinations stay.
///
/// # Errors
/// `not_found`; `conflict` where a rule uses it.
pub async fn remove(api: &Api, params: Id) -> Result<Nothing, Fault> {
    let now_at = api.clock.now();
    api.change(&[Topic::Routes], move |tx| {
        let found = match named::route(*tx, &params.id)? {
            Ok(found) => found,
            Err(fault) => return Ok(Err(fault)),
        };
        let uses = |action: &RuleAction| matches!(action, RuleAction::Routes(routes) if routes.contains(&found.id));
        if let Some(rule) = rule::list(*tx)?.iter().find(|rule| uses(&rule.action)) {
            return Ok(Err(Fault::new(
                FaultCode::Conflict,
                "Nothing was changed",
                format!("rule {} tells by this route", rule.id),
                format!("remove that first: ringonce rule remove {}", rule.id),
            )));
        }
        route::mark_removed(tx, &found.id, now_at)?;
        Ok(Ok(Nothing {}))
    })
    .await
}

impl From<Route> for RouteView {
    fn from(route: Route) -> Self {
        let mut members = route.members.into_iter().map(|id| id.0);
        Self { id: route.id.0, name: route.name, to: members.next().unwrap_or_default(), fallbacks: members.collect() }
    }
}
