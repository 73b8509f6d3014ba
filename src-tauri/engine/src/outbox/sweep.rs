//! The sweep: what becomes due without anybody calling: rescues, rounds of the ladder, held mails, old age, retention.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::alarm::Copies;
use crate::intake;
use crate::kernel::Kernel;
use crate::model::topic::Topic;
use crate::outbox::lane::wait_until;
use crate::outbox::settle::After;
use crate::outbox::{expire, rescue, route};
use crate::store::error::StoreError;
use crate::store::table::{expiry, ladder, lease, operation, outbox};
use crate::store::{Tx, backup, retention, search};

/// Rows of one kind handled in one transaction.
const BATCH: i64 = 100;
/// The sweep looks at least this often.
const LOOK_AT_LEAST: Duration = Duration::from_secs(30);
/// The sweep looks at most this often, however often it is woken.
const LOOK_AT_MOST: Duration = Duration::from_millis(200);
/// After an error of the database, a full disk for example.
const AFTER_ERROR: Duration = Duration::from_secs(5);
/// A daily copy that failed is tried again after this long: each try writes the whole database.
const COPY_AGAIN_AFTER: Duration = Duration::from_secs(600);
/// Mails brought into the search index in one transaction: what is to be sent goes between.
const INDEX_BATCH: usize = 100;
/// How often the search index is brought up by itself; a search does not wait for that.
const INDEX_EVERY: Duration = Duration::from_secs(30);
/// How often copies and retention are thought of, ms.
const DAILY_MS: i64 = 86_400_000;

/// Sweeps until `stop`.
pub async fn run(kernel: Kernel, stop: CancellationToken) {
    let mut daily_from = Instant::now();
    let mut index_from = Instant::now();
    loop {
        let wait = match once(&kernel).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::error!("The sweep could not be made: {error}");
                AFTER_ERROR
            }
        };
        if Instant::now() >= index_from {
            if let Err(error) = index(&kernel).await {
                tracing::error!("The search index could not be brought up: {error}");
            }
            index_from = Instant::now() + INDEX_EVERY;
        }
        if Instant::now() >= daily_from {
            let copies = match daily(&kernel).await {
                Ok(()) => Copies::Good,
                Err(error) => {
                    tracing::error!("The daily copy or clean-up failed: {error}");
                    daily_from = Instant::now() + COPY_AGAIN_AFTER;
                    Copies::Failed(error.detail)
                }
            };
            kernel.alarms.set_copies(copies);
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = kernel.sweep.notified() => tokio::time::sleep(LOOK_AT_MOST).await,
            () = tokio::time::sleep(wait.clamp(LOOK_AT_MOST, LOOK_AT_LEAST)) => {}
        }
    }
}

/// Does what is due now. Returns how long nothing more is.
///
/// # Errors
/// [`StoreError`] of a statement.
pub async fn once(kernel: &Kernel) -> Result<Duration, StoreError> {
    let (now_at, run) = (kernel.now(), kernel.run.clone());
    let next_at = kernel.store.read(move |read| next_at(read, &run, now_at)).await?;
    if next_at.is_none_or(|at| at > now_at) {
        return Ok(next_at.map_or(LOOK_AT_LEAST, |at| wait_until(at, now_at)));
    }
    let in_job = kernel.clone();
    let after = kernel.store.write(move |tx| sweep(tx, &in_job)).await?;
    after.tell(kernel);
    Ok(LOOK_AT_MOST)
}

fn next_at(read: crate::store::Read<'_>, run: &str, now_at: i64) -> Result<Option<i64>, StoreError> {
    let rescue_at = lease::list_to_rescue(read, run, now_at)?.is_empty().then_some(()).map_or(Some(now_at), |()| None);
    let candidates = [
        rescue_at,
        operation::next_release_at(read)?,
        ladder::next_due_at(read)?.filter(|at| *at != outbox::NEVER_AT),
        lease::next_lease_end_at(read)?,
        expiry::next_at(read)?,
    ];
    Ok(candidates.into_iter().flatten().min())
}

fn sweep(tx: Tx<'_>, kernel: &Kernel) -> Result<After, StoreError> {
    let now_at = kernel.now();
    let mut all = rescue::rescue(tx, kernel)?;
    for waiting in ladder::list_due(*tx, now_at, BATCH)? {
        all.add(route::begin_round(tx, kernel, &waiting)?);
    }
    for held in operation::list_released_by(*tx, now_at, BATCH)? {
        all.add(intake::release(tx, kernel, &held)?);
    }
    all.add(expire::expire(tx, kernel)?);
    Ok(all)
}

/// Brings the search index up to what is stored when it is called, or later.
///
/// # Errors
/// [`StoreError`] of a statement.
pub async fn index(kernel: &Kernel) -> Result<(), StoreError> {
    if !kernel.store.read(search::is_behind).await? {
        return Ok(());
    }
    // A batch that is not full was the last: what comes meanwhile is for the next time.
    while kernel.store.write(|tx| search::catch_up(tx, INDEX_BATCH)).await? >= INDEX_BATCH {}
    Ok(())
}

async fn daily(kernel: &Kernel) -> Result<(), StoreError> {
    let now_at = kernel.now();
    let database = kernel.store.path().to_owned();
    let due = backup::newest_daily_at(&database).is_none_or(|at| !(at..at + DAILY_MS).contains(&now_at));
    if !due {
        return Ok(());
    }
    let copied = kernel.store.read_for_copy(move |read| backup::copy_daily(read, &database, now_at)).await;
    // What is forgotten makes room for the next copy, so it does not wait for this one.
    let settings = kernel.configuration().await?.settings.clone();
    let keep = retention::Keep { history_days: settings.history_days, key_days: settings.key_days };
    let mut after = Some(0);
    while let Some(from) = after {
        after = kernel.store.write(move |tx| retention::prune(tx, keep, from, BATCH, now_at)).await?.next;
    }
    kernel.changed(&[Topic::History]);
    copied.map(|_| ())
}
