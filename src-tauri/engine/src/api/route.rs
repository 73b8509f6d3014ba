//! Routes.

use serde::{Deserialize, Serialize};

/// Parameters of `route.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The owner's name for it.
    pub name: String,
    /// The primary destination, by id or name.
    pub to: String,
    /// Its fallbacks in order, by id or name.
    #[serde(default)]
    pub fallbacks: Vec<String>,
}

/// A row of `route.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
