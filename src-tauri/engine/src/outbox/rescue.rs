//! Rescue: notifications whose sender is gone are taken back.

use crate::kernel::Kernel;
use crate::model::notification::{ChannelError, ErrorCode};
use crate::outbox::settle::{self, After};
use crate::outbox::status::Event;
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{attempt, lease};

/// Takes back what dead runs held, and what this run held longer than its lease unless a call is still in hand.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn rescue(tx: Tx<'_>, kernel: &Kernel) -> Result<After, StoreError> {
    let mut all = After::default();
    for row in lease::list_to_rescue(*tx, &kernel.run, kernel.now())? {
        if row.lease_token.as_ref().is_some_and(|token| kernel.is_in_hand(token)) {
            continue;
        }
        all.add(take_back(tx, kernel, &row)?);
    }
    Ok(all)
}

fn take_back(tx: Tx<'_>, kernel: &Kernel, row: &OutboxRow) -> Result<After, StoreError> {
    let Some(token) = &row.lease_token else { return Ok(After::default()) };
    let now_at = kernel.now();
    let newest = attempt::list(*tx, &row.dispatch_key)?.pop();
    let marked = newest.as_ref().is_some_and(|attempt| attempt.payload_started_at.is_some());
    let configured = kernel.configured(*tx)?;
    let class = configured
        .rulebook
        .destinations
        .iter()
        .find(|destination| destination.id == row.destination_id)
        .map_or(crate::channel::Class::C, |destination| crate::channel::class(&destination.kind, &destination.fields));
    // Without a mark bytes can have left only where the channel's key protects and no mark is made.
    let may_have_left = marked || matches!(class, crate::channel::Class::A { .. });
    let interrupted = ChannelError::new(ErrorCode::Interrupted, "The program ended in the middle of the attempt");
    let (outcome, error) = if may_have_left { ("unknown", Some(&interrupted)) } else { ("abandoned", None) };
    attempt::settle(tx, &row.dispatch_key, token, outcome, error, now_at)?;
    settle::step(tx, kernel, row, &Event::Rescued { marked }, Some(token))
}
