//! Reconcile: ask the channel what became of an attempt whose answer was lost.

use std::time::Duration;

use tokio::sync::Notify;

use crate::channel::{Channel, Class, Lookup};
use crate::kernel::Kernel;
use crate::model::destination::Destination;
use crate::model::ids::DispatchKey;
use crate::model::notification::{ChannelError, ErrorCode};
use crate::outbox::lane::wait_until;
use crate::outbox::settle;
use crate::outbox::status::Event;
use crate::store::error::StoreError;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{attempt, destination, outbox};

/// Questions of one round; the rest comes with the next.
const QUESTIONS_MAX: i64 = 8;
/// Nothing to ask.
const LONG: Duration = Duration::from_secs(60);
/// After an error of the database.
const AFTER_ERROR: Duration = Duration::from_secs(5);

/// Asks about every uncertain notification of a destination when its time comes; without end.
pub async fn ask(kernel: &Kernel, destination: &Destination, channel: &dyn Channel, wake: &Notify) {
    loop {
        let wait = match ask_all(kernel, destination, channel).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::error!("Nothing is asked of destination {}: {error}", destination.id);
                AFTER_ERROR
            }
        };
        tokio::select! {
            () = wake.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Asks about what is due now. Returns when to come again.
async fn ask_all(kernel: &Kernel, destination: &Destination, channel: &dyn Channel) -> Result<Duration, StoreError> {
    let Class::B { look_back } = channel.class() else { return Ok(LONG) };
    let look_back_ms = i64::try_from(look_back.as_millis()).unwrap_or(i64::MAX);
    let (id, now_at) = (destination.id.clone(), kernel.now());
    let (due, control) = kernel
        .store
        .read(move |read| {
            let due = outbox::list_to_reconcile(read, &id, now_at, QUESTIONS_MAX)?;
            let with_mark = due
                .into_iter()
                .map(|row| Ok((attempt::last_sent_at(read, &row.dispatch_key)?.unwrap_or(row.created_at), row)))
                .collect::<Result<Vec<_>, StoreError>>()?;
            let control = destination::last_accepted(read, &id)?.filter(|(_, at)| now_at - at < look_back_ms);
            Ok((with_mark, control))
        })
        .await?;
    for (sent_at, row) in &due {
        let too_old = now_at.saturating_sub(*sent_at) >= look_back_ms;
        let answer = if too_old {
            Lookup::CannotTell(ChannelError::new(ErrorCode::NoAnswer, "The channel does not look back that far"))
        } else {
            question(channel, &row.dispatch_key, *sent_at, control.as_ref()).await
        };
        write(kernel, row.clone(), event(answer)).await?;
    }
    // Only now: what was asked in vain is to be asked again.
    let id = destination.id.clone();
    let next_at = kernel.store.read(move |read| outbox::next_reconcile_at(read, &id)).await?;
    Ok(next_at.map_or(LONG, |at| wait_until(at, kernel.now())).min(LONG))
}

/// Asks for a key. "Absent" counts only where the channel still shows what it surely accepted: a cache that was
/// emptied or switched off shows nothing at all.
async fn question(
    channel: &dyn Channel,
    key: &DispatchKey,
    sent_at: i64,
    control: Option<&(DispatchKey, i64)>,
) -> Lookup {
    let answer = channel.lookup(key, sent_at).await;
    let (Lookup::Absent, Some((control, accepted_at))) = (&answer, control) else { return answer };
    match channel.lookup(control, *accepted_at).await {
        Lookup::Found { .. } => answer,
        Lookup::Absent | Lookup::CannotTell(_) => Lookup::CannotTell(ChannelError::new(
            ErrorCode::NoAnswer,
            "The channel no longer shows what it accepted before",
        )),
        Lookup::Failed(error) => Lookup::Failed(error),
    }
}

fn event(answer: Lookup) -> Event {
    match answer {
        Lookup::Found { external_id } => Event::Found { external_id },
        Lookup::Absent => Event::Absent,
        Lookup::CannotTell(error) => Event::CannotTell(error),
        Lookup::Failed(error) => Event::LookupFailed(error),
    }
}

async fn write(kernel: &Kernel, asked: OutboxRow, event: Event) -> Result<(), StoreError> {
    let in_job = kernel.clone();
    let after = kernel
        .store
        .write(move |tx| {
            // The owner may have settled it while the channel was asked.
            match outbox::get(*tx, &asked.dispatch_key)? {
                Some(row) if row.uncertain_at == asked.uncertain_at && row.uncertain_at.is_some() => {
                    settle::step(tx, &in_job, &row, &event, None)
                }
                _ => Ok(settle::After::default()),
            }
        })
        .await?;
    after.tell(kernel);
    Ok(())
}
