//! Expire: what waited longer than its destination wants is given up for one digest to that destination.

use crate::decide::digest::{self, Digest, Line};
use crate::kernel::Kernel;
use crate::model::destination::Destination;
use crate::model::occasion::Occasion;
use crate::outbox::route;
use crate::outbox::settle::After;
use crate::self_message::{self, SelfMessage};
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::message::MessageRow;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{attempt, expiry, message, operation};

/// Notifications given up in one transaction.
const BATCH: i64 = 500;

/// Gives up what is too old, for one digest a destination.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn expire(tx: Tx<'_>, kernel: &Kernel) -> Result<After, StoreError> {
    let mut all = After::default();
    let configured = kernel.configured(*tx)?;
    for destination in &configured.rulebook.destinations {
        let Some(oldest_at) = destination.oldest_wanted_at(kernel.now()) else { continue };
        let expired = expiry::list(*tx, &destination.id, oldest_at, BATCH)?;
        if !expired.is_empty() {
            all.add(tell_late(tx, kernel, destination, &expired)?);
        }
    }
    Ok(all)
}

/// `expired`: newest first.
fn tell_late(
    tx: Tx<'_>,
    kernel: &Kernel,
    destination: &Destination,
    expired: &[OutboxRow],
) -> Result<After, StoreError> {
    let mut replaced: Vec<&OutboxRow> = expired.iter().collect();
    let mut lines = Vec::with_capacity(expired.len());
    for row in expired {
        lines.extend(mail_of(tx, row)?.map(|mail| Line::of(&mail.facts)));
    }
    let mut digest = Digest::of(lines);
    // An older one that waits as well says the same of others: one tells of all.
    let waiting = expiry::list_pending_because(*tx, &destination.id, Occasion::Expired.reason())?;
    for older in &waiting {
        if attempt::any_unknown(*tx, &older.dispatch_key)? {
            continue;
        }
        let text = mail_of(tx, older)?.and_then(|mail| mail.facts.body).map(|body| body.preview);
        digest = digest.and(Digest::from_text(&text.unwrap_or_default()));
        replaced.push(older);
    }
    let message = SelfMessage {
        local_part: digest::local_part(replaced.iter().map(|row| row.dispatch_key.as_str())),
        subject: digest.subject(Occasion::Expired),
        body: digest.to_text(),
        ways: vec![vec![destination.id.clone()]],
        reason: Occasion::Expired.reason().to_owned(),
    };
    let told = self_message::tell(tx, kernel, &message)?;
    let reason = digest::member_reason(&told.message_key);
    for row in replaced {
        route::cancel(tx, row, &reason, kernel.now())?;
    }
    Ok(After { wake: told.wake, ..After::default() })
}

fn mail_of(tx: Tx<'_>, row: &OutboxRow) -> Result<Option<MessageRow>, StoreError> {
    let Some(operation) = operation::get(*tx, &row.operation_key)? else { return Ok(None) };
    message::get(*tx, &operation.message_key)
}
