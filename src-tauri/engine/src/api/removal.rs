//! What a removal would take along, for the question before it.

use serde::{Deserialize, Serialize};

use crate::api::view::Id;
use crate::api::{Api, named};
use crate::model::error::Fault;
use crate::store::figures::{Cancelled, cancelled_with};
use crate::store::table::{outbox, route, rule, source};

/// What goes with a mailbox or a destination. Its history stays, but for that of the demo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Removal {
    /// Notifications that are not delivered and will be cancelled.
    pub waiting: i64,
    /// Mails that are held back and will not ring.
    pub held: i64,
    /// Webhooks that report its mail.
    pub sources: i64,
    /// Rules that name it.
    pub rules: i64,
    /// Routes that tell by it, by name: they have to be removed first.
    pub routes: Vec<String>,
}

/// What the removal of a mailbox would take along.
///
/// # Errors
/// `not_found`.
pub async fn mailbox(api: &Api, params: Id) -> Result<Removal, Fault> {
    api.find(move |read| {
        let found = match named::mailbox(read, &params.id)? {
            Ok(found) => found,
            Err(fault) => return Ok(Err(fault)),
        };
        let Cancelled { waiting, held } = cancelled_with(read, &found.account_id)?;
        let sources = count(source::list(read)?.iter().filter(|row| row.account_id == found.account_id));
        let rules = count(rule::list(read)?.iter().filter(|rule| rule.mailbox.as_ref() == Some(&found.account_id)));
        Ok(Ok(Removal { waiting, held, sources, rules, routes: Vec::new() }))
    })
    .await
}

/// What the removal of a destination would take along.
///
/// # Errors
/// `not_found`.
pub async fn destination(api: &Api, params: Id) -> Result<Removal, Fault> {
    api.find(move |read| {
        let found = match named::destination(read, &params.id)? {
            Ok(found) => found,
            Err(fault) => return Ok(Err(fault)),
        };
        let waiting = count(outbox::list_unfinished_of(read, &found.id)?.iter());
        let routes = route::list(read)?.into_iter().filter(|route| route.members.contains(&found.id));
        Ok(Ok(Removal { waiting, routes: routes.map(|route| route.name).collect(), ..Removal::default() }))
    })
    .await
}

fn count(rows: impl Iterator) -> i64 {
    i64::try_from(rows.count()).unwrap_or(i64::MAX)
}
