//! Secrets in a JSON file of mode 0600, for machines without a keyring. Only where the owner says so.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use tokio::sync::Semaphore;

use crate::limits::SECRETS_FILE_BYTES_MAX;
use crate::model::error::{Fault, FaultCode};
use crate::secret::vault::Vault;
use crate::secret::{SecretName, SecretStore};

/// A file of secrets. It is read anew for each call, so that the owner may edit it.
pub struct FileSecrets {
    path: PathBuf,
    turn: Arc<Semaphore>,
}

impl FileSecrets {
    /// Opens the file, and creates an empty one where there is none.
    ///
    /// # Errors
    /// `secret`, where others may read it, or it cannot be read, written or understood.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        if !path.try_exists().map_err(|error| unusable(path, &error))? {
            save(path, &Vault::default())?;
        }
        // The file may stand behind a link; what is replaced later must be the file.
        let path = fs::canonicalize(path).map_err(|error| unusable(path, &error))?;
        load(&path)?;
        Ok(Self { path, turn: Arc::new(Semaphore::new(1)) })
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let path = self.path.clone();
        let permit = Arc::clone(&self.turn).acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&path)
        });
        done.await.unwrap_or_else(|error| Err(unusable(&self.path, &error)))
    }

    async fn put(&self, name: &SecretName, value: Option<SecretString>) -> Result<(), Fault> {
        let name = name.clone();
        self.in_turn(move |path| {
            let mut vault = load(path)?;
            if vault.put(&name, value) { save(path, &vault) } else { Ok(()) }
        })
        .await
    }
}

impl SecretStore for FileSecrets {
    fn get<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<Option<SecretString>, Fault>> {
        let wanted = name.clone();
        self.in_turn(move |path| Ok(load(path)?.get(&wanted))).boxed()
    }

    fn set<'a>(&'a self, name: &'a SecretName, value: SecretString) -> BoxFuture<'a, Result<(), Fault>> {
        self.put(name, Some(value)).boxed()
    }

    fn remove<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<(), Fault>> {
        self.put(name, None).boxed()
    }
}

fn fault(cause: String, next_step: String) -> Fault {
    Fault::new(FaultCode::Secret, "Secrets cannot be read or stored", cause, next_step)
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> Fault {
    fault(format!("the file {} cannot be used ({error})", path.display()), "check its path and its folder".to_owned())
}

fn load(path: &Path) -> Result<Vault, Fault> {
    let broken = |error: &dyn std::fmt::Display| unusable(path, error);
    let file = File::open(path).map_err(|error| broken(&error))?;
    let metadata = file.metadata().map_err(|error| broken(&error))?;
    let shown = shell_words::quote(&path.to_string_lossy()).into_owned();
    if !metadata.is_file() {
        return Err(broken(&"not a file"));
    }
    if metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o7777;
        return Err(fault(
            format!("others may read {} (mode {mode:04o})", path.display()),
            format!("run: chmod 600 {shown}"),
        ));
    }
    if metadata.len() > SECRETS_FILE_BYTES_MAX {
        return Err(broken(&format_args!("it is larger than {SECRETS_FILE_BYTES_MAX} bytes")));
    }
    let mut json = Zeroizing::new(Vec::new());
    file.take(SECRETS_FILE_BYTES_MAX).read_to_end(&mut json).map_err(|error| broken(&error))?;
    Vault::parse(&json).map_err(|error| broken(&format_args!("it is not a JSON object of texts: {error}")))
}

/// Writes a file beside it, makes that durable and puts it in place: a crash leaves the old one or the new one.
fn save(path: &Path, vault: &Vault) -> Result<(), Fault> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}", uuid::Uuid::new_v4().simple()));
    let written = write_new(&beside, &vault.to_json())
        .and_then(|()| fs::rename(&beside, path))
        .and_then(|()| File::open(folder)?.sync_all());
    written.map_err(|error| {
        // It is gone already where only the last step failed.
        let _ = fs::remove_file(&beside);
        unusable(path, &error)
    })
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use secrecy::ExposeSecret;

    use super::*;

    fn name(text: &str) -> SecretName {
        SecretName(text.to_owned())
    }

    #[tokio::test]
    async fn secrets_survive_and_nobody_else_may_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.json");
        let store = FileSecrets::open(&path).unwrap();
        let (a, b) = (name("a"), name("b"));
        // At the same time: neither may lose the other.
        let (first, second) = tokio::join!(store.set(&a, "one".into()), store.set(&b, "two".into()));
        first.and(second).unwrap();
        store.remove(&name("never there")).await.unwrap();
        let again = FileSecrets::open(&path).unwrap();
        for (name, value) in [(&a, "one"), (&b, "two")] {
            let found = again.get(name).await.unwrap().map(|secret| secret.expose_secret().to_owned());
            assert_eq!(found.as_deref(), Some(value), "{name:?}");
        }
        again.remove(&a).await.unwrap();
        assert!(store.get(&a).await.unwrap().is_none(), "removed is gone for everybody");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "mode of what was written");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[tokio::test]
    async fn a_file_others_may_read_is_refused_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my secrets");
        let store = FileSecrets::open(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let fault = store.get(&name("a")).await.unwrap_err();
        assert!(fault.cause.contains("0640"), "{fault}");
        assert!(fault.next_step.contains("chmod 600 '"), "a path with a blank is quoted: {fault}");
        assert!(FileSecrets::open(&path).is_err(), "opening is refused as well");
    }

    #[test]
    fn what_cannot_be_understood_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        fs::write(&path, "{\"a\": 1}").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(FileSecrets::open(&path).is_err(), "a number is no secret");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\": 1}", "it was not overwritten");
        assert!(FileSecrets::open(folder.path()).is_err(), "a folder is no file");
        assert!(FileSecrets::open(&folder.path().join("no/such/folder")).is_err(), "the folder is missing");
    }
}
