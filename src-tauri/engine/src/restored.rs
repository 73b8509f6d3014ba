//! After a restore the owner is told once, by one message, which mails are not told singly.

use crate::decide;
use crate::kernel::Kernel;
use crate::payload::rfc3339;
use crate::self_message::{self, SelfMessage};
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::meta;

/// Names the last restoring that was told.
const TOLD: &str = "restored_told_at";

/// Tells of the last restoring, if that was not done yet.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn tell(tx: Tx<'_>, kernel: &Kernel) -> Result<(), StoreError> {
    let configured = kernel.configured(*tx)?;
    let Some(restored) = configured.restored else { return Ok(()) };
    let name = restored.at.to_string();
    if meta::get(*tx, TOLD)?.as_ref() == Some(&name) {
        return Ok(());
    }
    let message = SelfMessage {
        local_part: format!("alarm.restored..{name}"),
        subject: "The data was restored from a copy".to_owned(),
        body: format!(
            "The database was broken. Mail that came between {} and {} may have been told before; it is not told again. \
             Look through it in your mailbox.",
            rfc3339(restored.from_at),
            rfc3339(restored.at)
        ),
        ways: decide::all_ways(&configured.rulebook),
        reason: "alarm".to_owned(),
    };
    // Its lanes are not open yet: they look at the table when they open.
    self_message::tell(tx, kernel, &message)?;
    meta::set(tx, TOLD, &name)
}
