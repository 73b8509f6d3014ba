//! `routes`.

use rusqlite::Row;

use crate::model::destination::Route;
use crate::model::ids::{DestinationId, RouteId};
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// Every route that was not removed, oldest first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>) -> Result<Vec<Route>, StoreError> {
    let mut statement =
        read.prepare("SELECT id, name, members FROM routes WHERE removed_at IS NULL ORDER BY created_at, rowid")?;
    let rows = statement.query_map([], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Stores a new route, or name and members of a known one.
///
/// # Errors
/// [`StoreError`] of the statement; a second one of one name fails.
pub fn put(tx: Tx<'_>, route: &Route, now_at: i64) -> Result<(), StoreError> {
    tx.prepare(
        "INSERT INTO routes (id, name, members, created_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, members = excluded.members",
    )?
    .execute((route.id.as_str(), &route.name, serde_json::to_string(&route.members)?, now_at))?;
    Ok(())
}

/// Marks a route as removed. `false`: there is none.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_removed(tx: Tx<'_>, id: &RouteId, now_at: i64) -> Result<bool, StoreError> {
    let changed = tx
        .prepare("UPDATE routes SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")?
        .execute((id.as_str(), now_at))?;
    Ok(changed > 0)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Route> {
    let members: Vec<DestinationId> = serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or_default();
    Ok(Route { id: RouteId(row.get(0)?), name: row.get(1)?, members })
}
