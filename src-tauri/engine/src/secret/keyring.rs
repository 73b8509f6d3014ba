//! Secrets in the system's keyring (Secret Service on Linux): one item per data folder.
//!
//! A keyring may ask its owner and take minutes. So it is asked on a thread of its own, one call at a time, nobody waits
//! longer than [`KEYRING_WAIT`], and what was read stays in memory.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt};
use keyring::{Entry, Error};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use tokio::sync::Semaphore;

use crate::limits::KEYRING_WAIT;
use crate::model::error::{Fault, FaultCode};
use crate::secret::vault::Vault;
use crate::secret::{SecretName, SecretStore};

/// The service name under which the item is found in the keyring's own program.
const SERVICE: &str = "Ringonce";

/// The item of one data folder.
pub struct KeyringSecrets {
    vault: String,
    turn: Arc<Semaphore>,
    /// What the item holds; `None` until it was read once.
    read: Arc<Mutex<Option<Vault>>>,
}

impl KeyringSecrets {
    /// The item by that name. Nothing is asked yet.
    #[must_use]
    pub fn new(vault: String) -> Self {
        Self { vault, turn: Arc::new(Semaphore::new(1)), read: Arc::default() }
    }

    /// Runs one call. Where it takes too long it goes on behind our back and keeps its turn: calling again could not
    /// be faster, and the owner would be asked twice.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Entry, &Mutex<Option<Vault>>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (vault, read, turn) = (self.vault.clone(), Arc::clone(&self.read), Arc::clone(&self.turn));
        let call = async move {
            let permit = turn.acquire_owned().await;
            let done = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                work(&Entry::new(SERVICE, &vault).map_err(|error| fault(&error))?, &read)
            });
            done.await.unwrap_or_else(|error| Err(unavailable(format!("the call to the keyring broke off ({error})"))))
        };
        tokio::time::timeout(KEYRING_WAIT, call).await.unwrap_or_else(|_| {
            Err(Fault::new(
                FaultCode::Secret,
                "Secrets cannot be read or stored now",
                format!(
                    "the keyring has not answered for {} s; it may be asking for its password",
                    KEYRING_WAIT.as_secs()
                ),
                "unlock the keyring and try again",
            ))
        })
    }

    async fn put(&self, name: &SecretName, value: Option<SecretString>) -> Result<(), Fault> {
        let name = name.clone();
        self.in_turn(move |entry, read| {
            let mut vault = load(entry, read)?;
            if !vault.put(&name, value) {
                return Ok(());
            }
            entry.set_secret(&vault.to_json()).map_err(|error| fault(&error))?;
            *read.lock().unwrap_or_else(PoisonError::into_inner) = Some(vault);
            Ok(())
        })
        .await
    }
}

impl SecretStore for KeyringSecrets {
    fn get<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<Option<SecretString>, Fault>> {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|vault| vault.get(name));
        let wanted = name.clone();
        async move {
            match known {
                Some(found) => Ok(found),
                None => self.in_turn(move |entry, read| Ok(load(entry, read)?.get(&wanted))).await,
            }
        }
        .boxed()
    }

    fn set<'a>(&'a self, name: &'a SecretName, value: SecretString) -> BoxFuture<'a, Result<(), Fault>> {
        self.put(name, Some(value)).boxed()
    }

    fn remove<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<(), Fault>> {
        self.put(name, None).boxed()
    }
}

fn load(entry: &Entry, read: &Mutex<Option<Vault>>) -> Result<Vault, Fault> {
    if let Some(vault) = read.lock().unwrap_or_else(PoisonError::into_inner).clone() {
        return Ok(vault);
    }
    let vault = match entry.get_secret().map(Zeroizing::new) {
        Ok(json) => Vault::parse(&json).map_err(|error| {
            unavailable(format!("the item of service \"{SERVICE}\" in the keyring is damaged: {error}"))
        })?,
        Err(Error::NoEntry) => Vault::default(),
        Err(error) => return Err(fault(&error)),
    };
    *read.lock().unwrap_or_else(PoisonError::into_inner) = Some(vault.clone());
    Ok(vault)
}

fn unavailable(cause: String) -> Fault {
    Fault::new(
        FaultCode::Secret,
        "Secrets cannot be read or stored",
        cause,
        "start and unlock a keyring (such as gnome-keyring), or keep them in a file with --secrets file:PATH",
    )
}

fn fault(error: &Error) -> Fault {
    match error {
        Error::NoStorageAccess(_) => Fault::new(
            FaultCode::Secret,
            "Secrets cannot be read or stored now",
            "the keyring is locked and was not unlocked",
            "unlock it and try again; where there is no screen to unlock it on, keep secrets in a file with --secrets file:PATH",
        ),
        Error::NoDefaultStore => {
            let why = Entry::store_status().as_ref().err().map(ToString::to_string).unwrap_or_default();
            unavailable(format!("no keyring answers ({})", one_line(&why)))
        }
        Error::Ambiguous(_) => {
            unavailable(format!("the keyring holds several items of service \"{SERVICE}\" for this data folder"))
        }
        other => unavailable(format!("the keyring refused ({})", one_line(&other.to_string()))),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
