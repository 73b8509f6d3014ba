//! Who owns a data folder: the program that holds the lock on `<data folder>/lock`.
//!
//! The file says by whom it is held (process id) and where that program listens. The lock itself is the system's, so
//! it ends with its holder, however that ends.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use serde::{Deserialize, Serialize};

use crate::model::error::{Fault, FaultCode};

/// Who holds a data folder, as its lock file says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id; 0 where the file does not say (it is just being written).
    pub pid: u32,
    /// Where it listens; `None` for a command that does its work and goes.
    pub socket: Option<PathBuf>,
}

impl Holder {
    /// What the lock file says now, whether or not the lock is still held.
    #[must_use]
    pub fn read(data_dir: &Path) -> Self {
        let mut text = String::new();
        // A holder writes a hundred bytes; whatever else stands there is none of ours.
        let read = File::open(path(data_dir)).and_then(|file| file.take(64 * 1024).read_to_string(&mut text));
        read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// The refusal of whoever wanted the folder too.
    #[must_use]
    pub fn refusal(&self, data_dir: &Path) -> Fault {
        let who = if self.pid == 0 { "another program".to_owned() } else { format!("process {}", self.pid) };
        Fault::new(
            FaultCode::Busy,
            "Nothing was done",
            format!("{who} already uses the data folder {}", data_dir.display()),
            "stop it first, or use another folder with --data-dir",
        )
    }
}

/// The data folder where the owner names none.
///
/// # Errors
/// `storage` for a user without a home.
pub fn default_data_dir() -> Result<PathBuf, Fault> {
    ProjectDirs::from("", "", "ringonce").map(|dirs| dirs.data_dir().to_owned()).ok_or_else(|| {
        Fault::new(
            FaultCode::Storage,
            "Nothing was done",
            "this user has no home folder",
            "name a data folder with --data-dir",
        )
    })
}

/// The right to write to a data folder; given back when dropped.
#[derive(Debug)]
pub struct DataLock {
    file: File,
}

/// What came of asking for the lock.
#[derive(Debug)]
pub enum Taken {
    /// We have it.
    Ours(DataLock),
    /// Another program has it.
    Held(Holder),
}

impl DataLock {
    /// Asks for the lock once, without waiting.
    ///
    /// # Errors
    /// `storage`, where the lock file cannot be made or locked.
    pub fn try_take(data_dir: &Path) -> Result<Taken, Fault> {
        let broken = |error: &std::io::Error| storage(data_dir, error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path(data_dir))
            .map_err(|error| broken(&error))?;
        match file.try_lock() {
            Ok(()) => {
                let mut lock = Self { file };
                lock.write(None).map_err(|error| broken(&error))?;
                Ok(Taken::Ours(lock))
            }
            Err(TryLockError::WouldBlock) => Ok(Taken::Held(Holder::read(data_dir))),
            Err(TryLockError::Error(error)) => Err(broken(&error)),
        }
    }

    /// Says where this program listens.
    ///
    /// # Errors
    /// As of the file system.
    pub fn publish(&mut self, socket: &Path) -> std::io::Result<()> {
        self.write(Some(socket.to_owned()))
    }

    fn write(&mut self, socket: Option<PathBuf>) -> std::io::Result<()> {
        let text = serde_json::to_vec(&Holder { pid: std::process::id(), socket })?;
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(&text)
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        // A file that names nobody; the lock goes when it is closed.
        if let Err(error) = self.file.set_len(0) {
            tracing::debug!(%error, "The lock file could not be emptied");
        }
    }
}

/// Makes the data folder, for its owner only, where there is none; gives its canonical path.
///
/// # Errors
/// `storage`, where it cannot be made.
pub fn prepare(data_dir: &Path) -> Result<PathBuf, Fault> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data_dir);
    made.and_then(|()| data_dir.canonicalize()).map_err(|error| storage(data_dir, &error))
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("lock")
}

fn storage(data_dir: &Path, error: &std::io::Error) -> Fault {
    let next_step = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some room on the disk",
        _ => "check its path and its owner, or use another with --data-dir",
    };
    let cause = format!("the data folder {} cannot be used ({error})", data_dir.display());
    Fault::new(FaultCode::Storage, "Nothing was done", cause, next_step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_was_first() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = prepare(&folder.path().join("a/b")).unwrap();
        let Taken::Ours(mut first) = DataLock::try_take(&data_dir).unwrap() else { panic!("nobody holds it") };
        let held = |socket: Option<&Path>| {
            let Taken::Held(holder) = DataLock::try_take(&data_dir).unwrap() else { panic!("it is held") };
            assert_eq!(holder, Holder { pid: std::process::id(), socket: socket.map(Path::to_owned) });
            holder
        };
        held(None);
        first.publish(Path::new("/run/x.sock")).unwrap();
        let refusal = held(Some(Path::new("/run/x.sock"))).refusal(&data_dir).to_string();
        assert!(refusal.contains(&format!("process {}", std::process::id())), "{refusal}");
        drop(first);
        assert_eq!(Holder::read(&data_dir), Holder::default(), "whoever is gone is not named");
        assert!(matches!(DataLock::try_take(&data_dir), Ok(Taken::Ours(_))), "given back");
    }
}
