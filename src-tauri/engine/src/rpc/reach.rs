//! The way to a data folder: through the program that runs on it, or by its lock, or only to look.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::limits::{LOCK_POLL, LOCK_WAIT};
use crate::model::error::Fault;
use crate::rpc::client::Client;
use crate::rpc::lock::{DataLock, Holder, Taken};

/// How a command gets at the data.
pub enum Reach {
    /// A program runs: it does the work.
    Running(Client),
    /// Nobody runs, and now nobody can start: the command does the work.
    Ours(DataLock),
}

/// The program running on the folder, if one does.
pub async fn running(data_dir: &Path) -> Option<Client> {
    let socket = Holder::read(data_dir).socket?;
    // A path left over from a program that was killed: nobody listens there.
    Client::connect(&socket).await.ok()
}

/// Finds the program that runs on the folder or takes the lock; waits for whoever holds it without listening (a command,
/// or a program that is just starting or stopping).
///
/// # Errors
/// `busy` with the holder's process id, where neither comes about in time; `storage`.
pub async fn reach(data_dir: &Path) -> Result<Reach, Fault> {
    let end = Instant::now() + LOCK_WAIT;
    loop {
        match DataLock::try_take(data_dir)? {
            Taken::Ours(lock) => return Ok(Reach::Ours(lock)),
            Taken::Held(holder) => {
                if let Some(client) = running(data_dir).await {
                    return Ok(Reach::Running(client));
                }
                pause(end, &holder, data_dir).await?;
            }
        }
    }
}

/// Takes the lock for good, for a program that will run. A command may be at work: it is waited for; a running program
/// is not.
///
/// # Errors
/// `busy` with the holder's process id; `storage`.
pub async fn own(data_dir: &Path) -> Result<DataLock, Fault> {
    let end = Instant::now() + LOCK_WAIT;
    loop {
        match DataLock::try_take(data_dir)? {
            Taken::Ours(lock) => return Ok(lock),
            Taken::Held(holder) if running(data_dir).await.is_some() => return Err(holder.refusal(data_dir)),
            Taken::Held(holder) => pause(end, &holder, data_dir).await?,
        }
    }
}

async fn pause(end: Instant, holder: &Holder, data_dir: &Path) -> Result<(), Fault> {
    let left = end.saturating_duration_since(Instant::now());
    if left == Duration::ZERO {
        return Err(holder.refusal(data_dir));
    }
    tokio::time::sleep(LOCK_POLL.min(left)).await;
    Ok(())
}
