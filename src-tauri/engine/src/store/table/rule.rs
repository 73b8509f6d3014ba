//! `rules`, in the order they are asked.

use rusqlite::Row;

use crate::model::ids::{AccountId, RuleId};
use crate::model::rule::{Rule, RuleAction};
use crate::store::error::StoreError;
use crate::store::{Read, Tx};

/// Every rule that was not removed, first asked first.
///
/// # Errors
/// [`StoreError`] of the query.
pub fn list(read: Read<'_>) -> Result<Vec<Rule>, StoreError> {
    let mut statement = read.prepare(
        "SELECT id, account_id, conditions, action, off FROM rules WHERE removed_at IS NULL ORDER BY position, rowid",
    )?;
    let rows = statement.query_map([], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Puts all rules into this order, storing those that are new.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn put_all(tx: Tx<'_>, rules: &[Rule], now_at: i64) -> Result<(), StoreError> {
    for (position, rule) in (0_i64..).zip(rules) {
        tx.prepare(
            "INSERT INTO rules (id, position, account_id, conditions, action, created_at, off)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET position = excluded.position, account_id = excluded.account_id,
                 conditions = excluded.conditions, action = excluded.action, off = excluded.off",
        )?
        .execute((
            rule.id.as_str(),
            position,
            rule.mailbox.as_ref().map(AccountId::as_str),
            serde_json::to_string(&rule.conditions)?,
            serde_json::to_string(&rule.action)?,
            now_at,
            rule.off,
        ))?;
    }
    Ok(())
}

/// Marks a rule as removed. `false`: there is none.
///
/// # Errors
/// [`StoreError`] of the statement.
pub fn mark_removed(tx: Tx<'_>, id: &RuleId, now_at: i64) -> Result<bool, StoreError> {
    let changed = tx
        .prepare("UPDATE rules SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL")?
        .execute((id.as_str(), now_at))?;
    Ok(changed > 0)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Rule> {
    let broken = |error: serde_json::Error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    };
    let action: RuleAction = serde_json::from_str(&row.get::<_, String>(3)?).map_err(broken)?;
    Ok(Rule {
        id: RuleId(row.get(0)?),
        mailbox: row.get::<_, Option<String>>(1)?.map(AccountId),
        conditions: serde_json::from_str(&row.get::<_, String>(2)?).map_err(broken)?,
        action,
        off: row.get(4)?,
    })
}
