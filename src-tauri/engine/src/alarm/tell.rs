//! Telling alarms: by whom, and again where a telling reached nobody.

use crate::alarm::Code;
use crate::decide::reason;
use crate::kernel::Kernel;
use crate::model::ids::{DestinationId, DispatchKey, MessageKey};
use crate::outbox::settle::After;
use crate::self_message::{self, SelfMessage};
use crate::store::error::StoreError;
use crate::store::figures;
use crate::store::table::alarm::{self, OpenRow};
use crate::store::table::{destination, message, outbox};
use crate::store::{Read, Tx};

/// An alarm whose telling reached nobody is told anew at most so often.
const TELLINGS_MAX: usize = 3;

/// Tells every open alarm that was not told yet and can be, and those whose telling reached nobody. `answering` are
/// destinations that failed last and were just found to answer.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn tell_all(tx: Tx<'_>, kernel: &Kernel, answering: &[DestinationId], after: &mut After) -> Result<(), StoreError> {
    for row in alarm::list_open(*tx)? {
        let Some(telling) = next_telling(*tx, &row, answering)? else { continue };
        let Some(code) = Code::parse(&row.code) else { continue };
        let new = SelfMessage {
            local_part: telling.local_part,
            subject: row.text,
            body: code.advice().to_owned(),
            ways: telling.ways.into_iter().map(|id| vec![id]).collect(),
            reason: reason::ALARM.to_owned(),
        };
        let told = self_message::tell(tx, kernel, &new)?;
        alarm::mark_told(tx, &row.code, &row.about, &told.message_key)?;
        after.alarms = true;
        after.wake.extend(told.wake);
    }
    Ok(())
}

/// Open alarms that nobody was told of.
///
/// # Errors
/// [`StoreError`] of a query.
pub fn list_untold(read: Read<'_>) -> Result<Vec<OpenRow>, StoreError> {
    Ok(alarm::list_open(read)?.into_iter().filter(|row| row.message_key.is_none()).collect())
}

/// Whether [`tell_all`] has something to do.
///
/// # Errors
/// [`StoreError`] of a query.
pub fn any_tellable(read: Read<'_>) -> Result<bool, StoreError> {
    for row in alarm::list_open(read)? {
        if next_telling(read, &row, &[])?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Telling {
    local_part: String,
    ways: Vec<DestinationId>,
}

/// A destination that could be told by.
struct Candidate {
    id: DestinationId,
    /// When it last accepted something.
    delivered_at: Option<i64>,
    /// Nothing failed since.
    healthy: bool,
}

fn next_telling(read: Read<'_>, row: &OpenRow, answering: &[DestinationId]) -> Result<Option<Telling>, StoreError> {
    let base = format!("alarm.{}.{}.{}", row.code, row.about, row.opened_at);
    let Some(told_by) = &row.message_key else {
        let ways = ways(read, row, |one| one.healthy || answering.contains(&one.id))?;
        return Ok((!ways.is_empty()).then_some(Telling { local_part: base, ways }));
    };
    let Some(failed_at) = figures::reached_nobody_at(read, told_by)? else { return Ok(None) };
    let Some(number) = number_of(read, told_by, &base)?.filter(|number| *number < TELLINGS_MAX) else {
        return Ok(None);
    };
    // Only what was accepted since proves that another telling would not go the same way.
    let ways = ways(read, row, |one| one.healthy && one.delivered_at > Some(failed_at))?;
    Ok((!ways.is_empty()).then(|| Telling { local_part: format!("{base}.{}", number + 1), ways }))
}

/// Which telling a message was; `None`: it is forgotten already.
fn number_of(read: Read<'_>, told_by: &MessageKey, base: &str) -> Result<Option<usize>, StoreError> {
    let Some(message_id) = message::get(read, told_by)?.and_then(|mail| mail.facts.message_id) else {
        return Ok(None);
    };
    let local_part = message_id.split('@').next().unwrap_or_default();
    let number = local_part.strip_prefix(base).and_then(|rest| rest.strip_prefix('.'));
    Ok(Some(number.and_then(|number| number.parse().ok()).unwrap_or(1)))
}

/// Destinations to tell an alarm by: all that `may`, but the one it is about only where there is no other.
fn ways(read: Read<'_>, row: &OpenRow, may: impl Fn(&Candidate) -> bool) -> Result<Vec<DestinationId>, StoreError> {
    let concerned = match Code::parse(&row.code) {
        Some(Code::Uncertain) => {
            outbox::get(read, &DispatchKey::from(row.about.as_str()))?.map(|notification| notification.destination_id)
        }
        _ => None,
    };
    let mut ways = Vec::new();
    for destination in destination::list(read)?.into_iter().filter(|destination| destination.paused.is_none()) {
        let (delivered_at, error) = destination::outcome(read, &destination.id)?;
        let candidate = Candidate { id: destination.id, delivered_at, healthy: error.is_none() };
        if may(&candidate) {
            ways.push(candidate.id);
        }
    }
    if ways.iter().any(|id| Some(id) != concerned.as_ref()) {
        ways.retain(|id| Some(id) != concerned.as_ref());
    }
    Ok(ways)
}
