//! The writer: one thread, one connection, group commit.
//!
//! What is queued when it wakes goes into one transaction, each of several jobs in its own savepoint. Callers hear of
//! their job only after the commit, so nobody acts on what a crash could still take back.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::crash;
use crate::limits::{GROUP_COMMIT_JOBS_MAX, WRITER_QUEUE_JOBS_MAX};
use crate::store::Tx;
use crate::store::error::{StoreError, StoreErrorKind};

/// The disk refused what was to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Its words.
    pub error: StoreError,
    /// When it last did.
    pub last: Instant,
    /// Something was written since.
    pub over: bool,
}

/// What the writer and those who watch it share.
type Noted = Arc<Mutex<Option<Trouble>>>;

/// The handle of the writer thread.
pub(in crate::store) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    trouble: Noted,
}

/// One unit of work; `run` happens in the transaction, `settle` after its commit.
trait Job: Send {
    /// Runs it. `false`: undo what it did.
    fn run(&mut self, tx: Tx<'_>) -> bool;
    /// What it failed with.
    fn error(&self) -> Option<&StoreError>;
    /// Tells the caller, with the error of the commit if that failed.
    fn settle(self: Box<Self>, commit: Result<(), StoreError>);
}

struct Work<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Work<T, F>
where
    T: Send,
    F: FnOnce(Tx<'_>) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, tx: Tx<'_>) -> bool {
        let Some(work) = self.work.take() else { return false };
        // A panic of one job must neither end the writer nor leave half a job behind.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(tx)))
            .unwrap_or_else(|_| Err(StoreError::new(StoreErrorKind::Internal, "A database job panicked")));
        let stays = result.is_ok();
        self.result = Some(result);
        stays
    }

    fn error(&self) -> Option<&StoreError> {
        self.result.as_ref().and_then(|result| result.as_ref().err())
    }

    fn settle(self: Box<Self>, commit: Result<(), StoreError>) {
        let result = match (self.result, commit) {
            (Some(Ok(_)), Err(error)) => Err(error),
            (Some(result), _) => result,
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Err(StoreError::closed()),
        };
        // A caller that went away does not hear of it; what is stored stays stored.
        let _ = self.answer.send(result);
    }
}

impl Writer {
    pub(in crate::store) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(WRITER_QUEUE_JOBS_MAX);
        let trouble = Noted::default();
        let noted = Arc::clone(&trouble);
        let thread = std::thread::Builder::new()
            .name("ringonce-writer".to_owned())
            .spawn(move || work_off(&connection, jobs, &noted))
            .map_err(|error| StoreError::new(StoreErrorKind::Io, format!("No thread for the writer ({error})")))?;
        Ok(Self { queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)), trouble })
    }

    /// Whether the disk takes what is written.
    pub(in crate::store) fn trouble(&self) -> Option<Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(in crate::store) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let queue = self.queue.lock().ok().and_then(|queue| queue.clone()).ok_or_else(StoreError::closed)?;
        let (answer, answered) = oneshot::channel();
        let job = Box::new(Work { work: Some(work), result: None, answer });
        queue.send(job).await.map_err(|_| StoreError::closed())?;
        answered.await.map_err(|_| StoreError::closed())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Ok(queue) = self.queue.get_mut() {
            queue.take();
        }
        if let Some(thread) = self.thread.get_mut().ok().and_then(Option::take) {
            let _ = thread.join();
        }
    }
}

fn work_off(connection: &Connection, mut jobs: mpsc::Receiver<Box<dyn Job>>, trouble: &Noted) {
    let mut batch: Vec<Box<dyn Job>> = Vec::new();
    let mut refused = false;
    while let Some(first) = jobs.blocking_recv() {
        batch.push(first);
        while batch.len() < GROUP_COMMIT_JOBS_MAX {
            match jobs.try_recv() {
                Ok(job) => batch.push(job),
                Err(_) => break,
            }
        }
        let outcome = commit_together(connection, &mut batch);
        note(trouble, outcome.as_ref(), &batch);
        match &outcome {
            // A commit that wrote nothing succeeds on a full disk too.
            Ok(true) if refused => tracing::info!("What is written is stored again"),
            Ok(_) => {}
            // As long as it lasts it is said once: a log on a full disk must not grow.
            Err(error) if refused => tracing::debug!("Nothing of {} jobs was stored: {error}", batch.len()),
            Err(error) => {
                tracing::error!(kind = ?error.kind, "Nothing of {} jobs was stored: {error}", batch.len());
            }
        }
        // SQLite may have rolled back by itself (disk full); then there is nothing left to undo.
        if outcome.is_err() && !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        refused = outcome.is_err() || (refused && outcome == Ok(false));
        for job in batch.drain(..) {
            job.settle(outcome.clone().map(|_| ()));
        }
    }
    let _ = connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);");
}

/// Remembers what the disk refused, and that it takes something again.
fn note(trouble: &Noted, outcome: Result<&bool, &StoreError>, batch: &[Box<dyn Job>]) {
    let of_disk = |error: &&StoreError| matches!(error.kind, StoreErrorKind::Full | StoreErrorKind::Io);
    // A job's own error says more than that of the commit it prevented.
    let failed = batch.iter().find_map(|job| job.error().filter(of_disk)).or(outcome.err().filter(of_disk)).cloned();
    let mut noted = trouble.lock().unwrap_or_else(PoisonError::into_inner);
    match (failed, noted.as_mut()) {
        (Some(error), _) => *noted = Some(Trouble { error, last: Instant::now(), over: false }),
        // A commit that wrote nothing succeeds on a full disk too.
        (None, Some(known)) if outcome == Ok(&true) => known.over = true,
        (None, _) => {}
    }
}

/// Commits a batch; `true`: something was written.
fn commit_together(connection: &Connection, batch: &mut [Box<dyn Job>]) -> Result<bool, StoreError> {
    let run = |sql: &str| connection.prepare_cached(sql)?.execute([]);
    // Inside a savepoint SQLite copies each page before its first change; a job alone needs none.
    let lone = batch.len() == 1;
    run("BEGIN IMMEDIATE")?;
    let mut wrote = false;
    for job in batch {
        if !lone {
            run("SAVEPOINT job")?;
        }
        let before = connection.total_changes();
        if job.run(Tx::new(connection)) {
            wrote |= connection.total_changes() > before;
        } else if connection.is_autocommit() {
            return Err(StoreError::new(StoreErrorKind::Full, "The transaction was rolled back by the database"));
        } else if lone {
            run("ROLLBACK")?;
            return Ok(false);
        } else {
            run("ROLLBACK TO job")?;
        }
        if !lone {
            run("RELEASE job")?;
        }
    }
    crash::point("before_commit");
    run("COMMIT")?;
    crash::point("after_commit");
    Ok(wrote)
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::*;

    fn writer() -> Writer {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (x INTEGER NOT NULL UNIQUE) STRICT").unwrap();
        Writer::start(connection).unwrap()
    }

    fn put(tx: Tx<'_>, x: i64) -> Result<(), StoreError> {
        tx.prepare("INSERT INTO t (x) VALUES (?1)")?.execute([x])?;
        Ok(())
    }

    async fn stored(writer: &Writer) -> Vec<i64> {
        let all = writer.write(|tx| {
            let mut statement = tx.prepare("SELECT x FROM t ORDER BY x")?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?)
        });
        all.await.unwrap()
    }

    fn fails_after(x: i64) -> impl FnOnce(Tx<'_>) -> Result<(), StoreError> + Send {
        move |tx| put(tx, x).and_then(|()| Err(StoreError::closed()))
    }

    #[tokio::test]
    async fn a_job_alone_that_fails_leaves_nothing() {
        let writer = writer();
        writer.write(|tx| put(tx, 1)).await.unwrap();
        writer.write(fails_after(2)).await.unwrap_err();
        writer.write(|tx| put(tx, 3).map(|()| panic!("of a job"))).await.unwrap_err();
        writer.write(|tx| put(tx, 4)).await.unwrap();
        assert_eq!(stored(&writer).await, [1, 4], "what failed or panicked is undone, and the writer goes on");
    }

    #[tokio::test]
    async fn a_job_that_fails_among_others_is_undone_alone() {
        let writer = writer();
        let together: Vec<_> = (1..=9).map(|x| (x, x % 3 == 0)).collect();
        // The first holds the writer up until all others wait for it: so those are one batch.
        let (go, wait) = std::sync::mpsc::channel();
        let first = writer.write(move |_| wait.recv().map_err(|_| StoreError::closed()));
        let others =
            join_all(together.iter().map(|&(x, fails)| {
                let writer = &writer;
                async move {
                    if fails { writer.write(fails_after(x)).await } else { writer.write(move |tx| put(tx, x)).await }
                }
            }));
        let (first, answers, _) = futures_util::join!(first, others, async { go.send(()) });
        first.unwrap();
        let answers: Vec<bool> = answers.iter().map(Result::is_err).collect();
        assert_eq!(answers, together.iter().map(|&(_, fails)| fails).collect::<Vec<_>>(), "each hears of its own job");
        assert_eq!(stored(&writer).await, [1, 2, 4, 5, 7, 8]);
    }
}
