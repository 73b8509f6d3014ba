//! What the owner does about a notification.

use serde::{Deserialize, Serialize};

use crate::api::view::{Id, parse_time};
use crate::api::{Api, named};
use crate::decide::{self, Rulebook, reason};
use crate::identity::keys;
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DestinationId;
use crate::model::notification::{OperationStatus, Status};
use crate::model::topic::Topic;
use crate::notify::{self, Started};
use crate::outbox::settle::{self, After};
use crate::outbox::status::Event;
use crate::store::Read;
use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::table::operation::OperationRow;
use crate::store::table::{message, operation, outbox};

/// What these make out of date.
const TOPICS: &[Topic] = &[Topic::History, Topic::Attention, Topic::Status];

/// Parameters of `notification.redrive`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct RedriveParams {
    /// Dead letters since then, RFC 3339.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub since: String,
}

/// Parameters of `notification.notify_again`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AgainParams {
    /// The mail.
    pub message_key: String,
}

/// Parameters of `notification.notify_to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "NotifyToParams"))]
#[serde(deny_unknown_fields)]
pub struct ToParams {
    /// The mail.
    pub message_key: String,
    /// Destinations, by id or name.
    pub destinations: Vec<String>,
}

/// What became of one notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Settled {
    /// Its key.
    pub dispatch_key: String,
    /// Where it stands now.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::NotificationStatus"))]
    pub status: String,
}

/// What `notification.redrive` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Redriven {
    /// Notifications put back.
    pub redriven: u64,
}

/// What `notification.notify_again` did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Again {
    /// The new action.
    pub operation_key: String,
}

/// Sends one that is dead, uncertain or waiting once more, now.
///
/// # Errors
/// `not_found`; `invalid`, where it cannot be sent again as it stands.
pub async fn retry(api: &Api, params: Id) -> Result<Settled, Fault> {
    step(api, params.id, Event::Retry { by_owner: true }).await
}

/// Takes the owner's word that one arrived.
///
/// # Errors
/// `not_found`; `invalid`, where it is neither dead nor uncertain.
pub async fn mark_delivered(api: &Api, params: Id) -> Result<Settled, Fault> {
    step(api, params.id, Event::MarkDelivered).await
}

/// Gives one up.
///
/// # Errors
/// `not_found`; `invalid`, where it is over already or in hand.
pub async fn dismiss(api: &Api, params: Id) -> Result<Settled, Fault> {
    step(api, params.id, Event::Cancel("dismissed by the owner".to_owned())).await
}

/// Sends the dead letters since a time once more.
///
/// # Errors
/// `invalid`, where that is no time.
pub async fn redrive(api: &Api, params: RedriveParams) -> Result<Redriven, Fault> {
    let since_at = parse_time(&params.since)?;
    let kernel = api.kernel()?.clone();
    let in_job = kernel.clone();
    let (redriven, after) = api
        .write(move |tx| {
            let mut after = After::default();
            let mut redriven = 0;
            let dead = outbox::list_attention(*tx, None, 0)?.into_iter().filter(|row| row.status == Status::Dead);
            for row in dead.filter(|row| row.completed_at.is_some_and(|at| at >= since_at)) {
                after.add(settle::step(tx, &in_job, &row, &Event::Retry { by_owner: true }, None)?);
                redriven += 1;
            }
            Ok((redriven, after))
        })
        .await?;
    after.tell(&kernel);
    api.changed(TOPICS);
    Ok(Redriven { redriven })
}

/// Rings again for a mail, as a new action: by the ways of the first time, or where that was silent by those of any
/// other mail.
///
/// # Errors
/// `not_found`; `conflict`, where there is nobody to tell.
pub async fn notify_again(api: &Api, params: AgainParams) -> Result<Again, Fault> {
    ring(api, params.message_key, |_, first, rulebook| {
        let ways = first.map(|first| decide::living_ways(&first.routes, rulebook)).filter(|ways| !ways.is_empty());
        Ok(Ok(ways.unwrap_or_else(|| decide::all_ways(rulebook))))
    })
    .await
}

/// Rings again for a mail, as a new action, at these destinations and no other, whatever the rules say.
///
/// # Errors
/// `not_found`; `conflict`, where none is named.
pub async fn notify_to(api: &Api, params: ToParams) -> Result<Again, Fault> {
    let names = params.destinations;
    ring(api, params.message_key, move |read, _, _| {
        let mut ways: Vec<Vec<DestinationId>> = Vec::new();
        for name in &names {
            match named::destination(read, name)? {
                Ok(found) if ways.iter().flatten().any(|id| *id == found.id) => {}
                Ok(found) => ways.push(vec![found.id]),
                Err(fault) => return Ok(Err(fault)),
            }
        }
        Ok(Ok(ways))
    })
    .await
}

/// One more action on a mail, at the owner's wish, by the ways that `ways` gives; it gets the first action on it.
async fn ring<F>(api: &Api, message_key: String, ways: F) -> Result<Again, Fault>
where
    F: FnOnce(Read<'_>, Option<&OperationRow>, &Rulebook) -> named::Named<Vec<Vec<DestinationId>>> + Send + 'static,
{
    let kernel = api.kernel()?.clone();
    let in_job = kernel.clone();
    let (again, started) = api
        .change(TOPICS, move |tx| {
            let key = match named::message(*tx, &message_key)? {
                Ok(key) => key,
                Err(fault) => return Ok(Err(fault)),
            };
            let mail = message::get(*tx, &key)?.ok_or_else(StoreError::closed)?;
            let known = operation::list(*tx, &key)?;
            let configured = in_job.configured(*tx)?;
            let routes = match ways(*tx, known.first(), &configured.rulebook)? {
                Ok(ways) if ways.is_empty() => return Ok(Err(nobody())),
                Ok(ways) => ways,
                Err(fault) => return Ok(Err(fault)),
            };
            // Whatever ways an earlier wish went, this one has a number of its own, and so keys of its own.
            let times = known.iter().filter(|operation| operation.action != keys::NOTIFY_OWNER).count();
            let action = keys::notify_owner_again(u32::try_from(times + 1).unwrap_or(u32::MAX));
            let operation = OperationRow {
                operation_key: keys::operation_key(&key, &action),
                message_key: key,
                action,
                status: OperationStatus::Processing,
                decision: "notify".to_owned(),
                reason: reason::OWNER_AGAIN.to_owned(),
                rule_id: None,
                routes,
                held_until: None,
                created_at: in_job.now(),
                rang_at: None,
            };
            let mut started = Started::default();
            if operation::insert(tx, &operation)? {
                notify::start(tx, &in_job, &mail, &operation, false, &mut started)?;
            }
            Ok(Ok((Again { operation_key: operation.operation_key.0 }, started)))
        })
        .await?;
    started.hand_over(&kernel);
    Ok(again)
}

async fn step(api: &Api, id: String, event: Event) -> Result<Settled, Fault> {
    let kernel = api.kernel()?.clone();
    let in_job = kernel.clone();
    let (settled, after) = api
        .change(TOPICS, move |tx| {
            let row = match named::notification(*tx, &id)? {
                Ok(row) => row,
                Err(fault) => return Ok(Err(fault)),
            };
            let after = match settle::step(tx, &in_job, &row, &event, None) {
                Err(error) if error.kind == StoreErrorKind::Refused => return Ok(Err(refused(&error))),
                other => other?,
            };
            let status = outbox::get(*tx, &row.dispatch_key)?.map_or(row.status, |row| row.status);
            let settled = Settled { dispatch_key: row.dispatch_key.0, status: status.as_str().to_owned() };
            Ok(Ok((settled, after)))
        })
        .await?;
    after.tell(&kernel);
    Ok(settled)
}

fn refused(error: &StoreError) -> Fault {
    Fault::new(
        FaultCode::Invalid,
        "Nothing was changed",
        error.detail.clone(),
        "see `ringonce explain` for where it stands",
    )
}

pub(super) fn nobody() -> Fault {
    Fault::new(
        FaultCode::Conflict,
        "Nobody was told",
        "there is no destination",
        "add one with `ringonce destination add`",
    )
}
