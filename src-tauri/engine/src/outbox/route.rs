//! Routes: who takes over when a notification fails, who is not needed any more when one was told, and the slow ladder.

use crate::kernel::{Configured, Kernel};
use crate::model::destination::Destination;
use crate::model::ids::{DestinationId, OperationKey};
use crate::model::notification::Status;
use crate::model::settings::Settings;
use crate::outbox::facts;
use crate::outbox::settle::{self, After};
use crate::outbox::status::{self, Event, USED_UP};
use crate::payload;
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::search;
use crate::store::table::ladder::{self, LadderRow};
use crate::store::table::outbox::{NEVER_AT, NewRow, OutboxRow};
use crate::store::table::{alarm, message, operation, outbox};
use crate::words::Language;

/// How a takeover is meant.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// The round the failed notification was in: who failed in it too is not asked again.
    pub ended_round: i64,
    /// Where nobody is left the route waits for its next round.
    pub begin_ladder: bool,
}

/// Hands a mail on to the next of each route the failed destination is a member of. Returns lanes to wake.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn fail_over(
    tx: Tx<'_>,
    row: &OutboxRow,
    configured: &Configured,
    round: Round,
    now_at: i64,
) -> Result<Vec<DestinationId>, StoreError> {
    let Some(operation) = operation::get(*tx, &row.operation_key)? else { return Ok(Vec::new()) };
    let mut wake = Vec::new();
    for (position, way) in (0_i64..).zip(&operation.routes) {
        let Some(at) = way.iter().position(|id| id == &row.destination_id) else { continue };
        let behind = way.get(at + 1..).unwrap_or_default();
        match take_over(tx, row, configured, behind, round, now_at)? {
            TakeOver::By(id) => wake.push(id),
            TakeOver::Going => {}
            TakeOver::NobodyLeft if round.begin_ladder => {
                begin_waiting(tx, &row.operation_key, position, way, &configured.settings, now_at)?;
            }
            TakeOver::NobodyLeft => {}
        }
    }
    Ok(wake)
}

enum TakeOver {
    /// This one does it now.
    By(DestinationId),
    /// Another one is at it, or has done it.
    Going,
    /// Everybody behind failed or cannot.
    NobodyLeft,
}

fn take_over(
    tx: Tx<'_>,
    row: &OutboxRow,
    configured: &Configured,
    behind: &[DestinationId],
    round: Round,
    now_at: i64,
) -> Result<TakeOver, StoreError> {
    let rows = outbox::list(*tx, &row.operation_key)?;
    for id in behind {
        let Some(destination) = usable(configured, id) else { continue };
        let Some(other) = rows.iter().find(|other| other.recipient == destination.recipient) else {
            let language = configured.settings.language.language();
            if add(tx, &row.operation_key, destination, language, now_at)? {
                return Ok(TakeOver::By(id.clone()));
            }
            continue;
        };
        match other.status {
            Status::Pending | Status::Processing | Status::Completed | Status::Uncertain => return Ok(TakeOver::Going),
            Status::Dead if other.reason.as_deref() == Some(USED_UP) && other.round < round.ended_round => {
                if restart(tx, other, configured, now_at)? {
                    return Ok(TakeOver::By(id.clone()));
                }
            }
            Status::Dead | Status::Cancelled => {}
        }
    }
    Ok(TakeOver::NobodyLeft)
}

fn usable<'a>(configured: &'a Configured, id: &DestinationId) -> Option<&'a Destination> {
    configured.rulebook.destinations.iter().find(|destination| &destination.id == id && destination.paused.is_none())
}

/// The one case in which the sender adds a notification.
fn add(
    tx: Tx<'_>,
    operation_key: &OperationKey,
    destination: &Destination,
    language: Language,
    now_at: i64,
) -> Result<bool, StoreError> {
    let Some(operation) = operation::get(*tx, operation_key)? else { return Ok(false) };
    let Some(mail) = message::get(*tx, &operation.message_key)? else { return Ok(false) };
    let payload = payload::render(&mail, operation_key, destination, language);
    search::touch(tx, mail.id)?;
    outbox::insert(
        tx,
        &NewRow {
            dispatch_key: &payload.dispatch_key,
            operation_key,
            recipient: &destination.recipient,
            destination_id: &destination.id,
            payload: &serde_json::to_string(&payload)?,
            now_at,
            lease: None,
        },
    )
}

fn restart(tx: Tx<'_>, row: &OutboxRow, configured: &Configured, now_at: i64) -> Result<bool, StoreError> {
    let Some(destination) = usable(configured, &row.destination_id) else { return Ok(false) };
    let any_unknown = crate::store::table::attempt::any_unknown(*tx, &row.dispatch_key)?;
    let facts = facts(destination, any_unknown, &configured.settings, now_at);
    let Ok(step) = status::next(row, &Event::Retry { by_owner: false }, &facts) else { return Ok(false) };
    outbox::apply(tx, &row.dispatch_key, None, &step.change, now_at)
}

/// The route waits for its next round, if there is one and somebody of it may be tried again.
fn begin_waiting(
    tx: Tx<'_>,
    operation_key: &OperationKey,
    position: i64,
    way: &[DestinationId],
    settings: &Settings,
    now_at: i64,
) -> Result<(), StoreError> {
    let may_be_tried = outbox::list(*tx, operation_key)?
        .iter()
        .any(|row| way.contains(&row.destination_id) && row.reason.as_deref() == Some(USED_UP));
    let step = ladder::step(*tx, operation_key, position)?;
    let wait = usize::try_from(step).ok().and_then(|step| settings.ladder_seconds.get(step));
    let (true, Some(seconds)) = (may_be_tried, wait) else { return Ok(()) };
    let row = LadderRow { operation_key: operation_key.clone(), position, step: step + 1 };
    ladder::put(tx, &row, now_at.saturating_add(seconds * 1000))
}

/// Begins the next round of a route that waited: at its primary, or at the first that may be tried again.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn begin_round(tx: Tx<'_>, kernel: &Kernel, waiting: &LadderRow) -> Result<After, StoreError> {
    let mut after = After::default();
    // The step is kept, so that the next wait is the next one of the ladder.
    ladder::put(tx, waiting, NEVER_AT)?;
    let Some(operation) = operation::get(*tx, &waiting.operation_key)? else { return Ok(after) };
    let way = usize::try_from(waiting.position).ok().and_then(|position| operation.routes.get(position));
    let Some(way) = way else { return Ok(after) };
    let rows = outbox::list(*tx, &waiting.operation_key)?;
    let of_route = |row: &&OutboxRow| way.contains(&row.destination_id);
    let is_over = |row: &OutboxRow| !matches!(row.status, Status::Dead | Status::Cancelled);
    if rows.iter().filter(of_route).any(is_over) {
        return Ok(after);
    }
    for id in way {
        let tried_again = rows.iter().find(|row| &row.destination_id == id && row.reason.as_deref() == Some(USED_UP));
        let Some(row) = tried_again else { continue };
        if usable(&*kernel.configured(*tx)?, id).is_none() {
            continue;
        }
        after.add(settle::step(tx, kernel, row, &Event::Retry { by_owner: false }, None)?);
        return Ok(after);
    }
    Ok(after)
}

/// One of its routes' members was told: what waits behind it there is not needed.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn cover(tx: Tx<'_>, told: &OutboxRow, now_at: i64) -> Result<(), StoreError> {
    let Some(operation) = operation::get(*tx, &told.operation_key)? else { return Ok(()) };
    if operation.routes.iter().all(|way| way.len() < 2) {
        return Ok(());
    }
    let rows = outbox::list(*tx, &told.operation_key)?;
    let is_told = |id: &DestinationId| {
        id == &told.destination_id
            || rows.iter().any(|row| &row.destination_id == id && row.status == Status::Completed)
    };
    let covered = |way: &Vec<DestinationId>| way.iter().any(is_told);
    for (position, way) in (0_i64..).zip(&operation.routes) {
        if covered(way) {
            ladder::remove(tx, &told.operation_key, position)?;
        }
    }
    for row in &rows {
        let mut ways = operation.routes.iter().filter(|way| way.contains(&row.destination_id)).peekable();
        let waits = matches!(row.status, Status::Pending | Status::Uncertain | Status::Dead);
        if row.dispatch_key != told.dispatch_key && waits && ways.peek().is_some() && ways.all(covered) {
            cancel(tx, row, &format!("covered by {}", told.destination_id), now_at)?;
        }
    }
    Ok(())
}

/// Ends a notification that is not wanted any more. `false`: it cannot be ended as it stands.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn cancel(tx: Tx<'_>, row: &OutboxRow, reason: &str, now_at: i64) -> Result<bool, StoreError> {
    let settings = Settings::default();
    let facts = status::Facts {
        class: crate::channel::Class::C,
        policy: crate::model::destination::Policy::NeverTwice,
        any_unknown: false,
        settings: &settings,
        now_at,
        random: 0.5,
    };
    let Ok(step) = status::next(row, &Event::Cancel(reason.to_owned()), &facts) else { return Ok(false) };
    if !outbox::apply(tx, &row.dispatch_key, None, &step.change, now_at)? {
        return Ok(false);
    }
    alarm::clear(tx, "uncertain", row.dispatch_key.as_str(), now_at)?;
    operation::settle(tx, &row.operation_key, now_at)?;
    Ok(true)
}

/// A destination stopped: what waits for it is told to the next of its routes as well.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn hand_on_all(
    tx: Tx<'_>,
    stopped: &DestinationId,
    configured: &Configured,
    now_at: i64,
) -> Result<Vec<DestinationId>, StoreError> {
    let mut wake = Vec::new();
    for row in outbox::list_unfinished_of(*tx, stopped)?.iter().filter(|row| row.status == Status::Pending) {
        let round = Round { ended_round: row.round, begin_ladder: false };
        wake.extend(fail_over(tx, row, configured, round, now_at)?);
    }
    Ok(wake)
}
