//! What waits for others of its occasion is told together: a few singly, many as digests.

use crate::decide::digest::{self, Digest, Line};
use crate::intake::work::{Intake, operation_row};
use crate::kernel::Kernel;
use crate::model::ids::AccountId;
use crate::model::notification::OperationStatus;
use crate::model::occasion::{Ended, Occasion};
use crate::model::rule::Outcome;
use crate::model::sighting::Intent;
use crate::self_message::{self, SelfMessage};
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::message::{self, MessageRow};
use crate::store::table::operation::{self, OperationRow};
use crate::store::table::{folder, mailbox};

/// A mail that is to be told, with what was decided about it now.
struct Waiting {
    mail: MessageRow,
    operation: OperationRow,
}

/// Whether the end of an occasion changes anything: it is reported at the start of every session, and seldom does.
pub(super) async fn anything_waits(kernel: &Kernel, ended: &Ended) -> Result<bool, StoreError> {
    if kernel.configuration().await?.restored.is_some() {
        return Ok(true);
    }
    let ended = ended.clone();
    let held = move |read: Read<'_>| operation::list_gathered(read, &ended.account_id, ended.occasion.reason());
    Ok(!kernel.store.read(held).await?.is_empty())
}

impl Intake<'_> {
    /// An occasion is over in a mailbox.
    pub(super) fn end(&mut self, ended: &Ended) -> Result<(), StoreError> {
        self.tell_gathered(&ended.account_id, ended.occasion)?;
        let Some(restored) = &self.configured.restored else { return Ok(()) };
        let restored = restored.clone();
        self.tell_gathered(&ended.account_id, Occasion::Restore)?;
        // What is rebuilt is looked through in the background, and is unknown to the copy as well.
        if !folder::is_rebuilding(*self.tx, &ended.account_id)? {
            restored.mark_told(self.tx, &ended.account_id, &mailbox::list(*self.tx)?, self.now_at)?;
            self.kernel.reconfigure();
        }
        Ok(())
    }

    /// Tells what waits in a mailbox on one occasion, by the rules now in force.
    pub(super) fn tell_gathered(&mut self, account_id: &AccountId, occasion: Occasion) -> Result<(), StoreError> {
        let mut waiting = Vec::new();
        for held in operation::list_gathered(*self.tx, account_id, occasion.reason())? {
            let Some(mail) = message::get(*self.tx, &held.message_key)? else { continue };
            let decision = self.decide(&mail, Intent::Arrival, false);
            let operation = operation_row(&mail, &held.operation_key, &held.action, &decision, held.created_at);
            if operation.status == OperationStatus::Processing {
                waiting.push(Waiting { mail, operation });
            } else if operation::release(self.tx, &operation, self.now_at)? {
                self.day.silent += i64::from(decision.outcome == Outcome::Silent);
            }
        }
        let count = i64::try_from(waiting.len()).unwrap_or(i64::MAX);
        // Of what a copy does not know some rang already: none of it rings alone.
        if occasion != Occasion::Restore && count <= self.configured.settings.catch_up_single_max {
            return self.tell_singly(&waiting);
        }
        for group in digest::by_ways(waiting, |one| &one.operation.routes) {
            self.tell_as_digest(&group, occasion)?;
        }
        Ok(())
    }

    /// The oldest is stored first: rows due at once are claimed from the last one on, and so the newest rings first.
    fn tell_singly(&mut self, waiting: &[Waiting]) -> Result<(), StoreError> {
        let lease_at_birth = std::mem::replace(&mut self.lease_at_birth, false);
        for one in waiting {
            if operation::release(self.tx, &one.operation, self.now_at)? {
                self.act(&one.mail, &one.operation)?;
            }
        }
        self.lease_at_birth = lease_at_birth;
        Ok(())
    }

    fn tell_as_digest(&mut self, group: &[Waiting], occasion: Occasion) -> Result<(), StoreError> {
        let Some(first) = group.first() else { return Ok(()) };
        let lines = Digest::of(group.iter().rev().map(|one| Line::of(&one.mail.facts)));
        let message = SelfMessage {
            local_part: digest::local_part(group.iter().map(|one| one.mail.message_key.as_str())),
            subject: lines.subject(occasion),
            body: lines.to_text(),
            ways: first.operation.routes.clone(),
            reason: occasion.reason().to_owned(),
        };
        let told = self_message::tell(self.tx, self.kernel, &message)?;
        for one in group {
            let mut operation = one.operation.clone();
            operation.status = OperationStatus::Completed;
            operation.reason = digest::member_reason(&told.message_key);
            operation::release(self.tx, &operation, self.now_at)?;
        }
        self.started.wake.extend(told.wake);
        Ok(())
    }
}
