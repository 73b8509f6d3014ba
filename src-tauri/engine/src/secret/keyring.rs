//! Secrets in the system's keyring (Secret Service on Linux): one item per data folder.
//!
//! A keyring may be absent, locked or slow, at the start or later, and may ask its owner and take minutes. So it is asked
//! on a thread of its own, one call at a time, nobody waits longer than [`KEYRING_WAIT`], and what was read stays in
//! memory. Whether it is locked is asked without a dialog; a dialog is raised once, and again only after a long, growing
//! pause, so that whoever waits for a secret may ask as often as it likes.

mod service;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt};
use keyring::Error;
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{KEYRING_DIALOG_PAUSE_MAX, KEYRING_DIALOG_PAUSE_MIN, KEYRING_WAIT};
use crate::model::error::{Fault, FaultCode};
use crate::secret::keyring::service::Peek;
use crate::secret::vault::Vault;
use crate::secret::{SecretName, SecretStore};

/// The service name under which the item is found in the keyring's own program.
const SERVICE: &str = "Ringonce";

/// Secrets in one item of the keyring.
pub struct KeyringSecrets(Arc<Shared>);

struct Shared {
    /// Names the item.
    vault: String,
    /// One call at a time.
    turn: Arc<Semaphore>,
    /// One dialog at a time; it may be open for as long as the owner likes.
    dialog: Arc<Semaphore>,
    /// When the owner may be asked again.
    patience: Mutex<Patience>,
    /// What the item holds; `None` until it was read once.
    read: Mutex<Option<Vault>>,
}

/// How often the owner is asked.
struct Patience {
    not_before: Option<Instant>,
    pause: Duration,
}

impl KeyringSecrets {
    /// The item by that name. Nothing is asked yet.
    #[must_use]
    pub fn new(vault: String) -> Self {
        Self(Arc::new(Shared {
            vault,
            turn: Arc::new(Semaphore::new(1)),
            dialog: Arc::new(Semaphore::new(1)),
            patience: Mutex::new(Patience { not_before: None, pause: KEYRING_DIALOG_PAUSE_MIN }),
            read: Mutex::default(),
        }))
    }

    /// What the item holds, without a dialog where it can be had without one.
    async fn vault(&self) -> Result<Vault, Fault> {
        if let Some(known) = self.0.known() {
            return Ok(known);
        }
        let looked = self.0.in_turn(&self.0.turn, Shared::look).await?;
        match looked {
            Some(vault) => Ok(vault),
            None => self.0.in_turn(&self.0.dialog, Shared::ask_owner).await,
        }
    }

    async fn put(&self, name: &SecretName, value: Option<SecretString>) -> Result<(), Fault> {
        let name = name.clone();
        // It may raise a dialog; whoever only looks does not wait behind it.
        self.0
            .in_turn(&self.0.dialog, move |shared| {
                let mut vault = shared.load()?;
                if !vault.put(&name, value) {
                    return Ok(());
                }
                service::entry(&shared.vault)
                    .and_then(|entry| entry.set_secret(&vault.to_json()))
                    .map_err(|error| fault(&error))?;
                shared.remember(vault);
                Ok(())
            })
            .await
    }
}

impl Shared {
    /// Runs one call. Where it takes too long it goes on behind our back and keeps its turn: calling again could not
    /// be faster, and the owner would be asked twice.
    async fn in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        turn: &Arc<Semaphore>,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (shared, turn) = (Arc::clone(self), Arc::clone(turn));
        let call = async move {
            let permit: Result<OwnedSemaphorePermit, _> = turn.acquire_owned().await;
            let done = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                work(&shared)
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
                "unlock the keyring; it is tried again until then",
            ))
        })
    }

    /// Reads the item where that needs no dialog; `None`: the owner may be asked.
    fn look(&self) -> Result<Option<Vault>, Fault> {
        if let Some(known) = self.known() {
            return Ok(Some(known));
        }
        match service::peek(&self.vault).map_err(|error| fault(&error))? {
            Peek::Readable => self.load().map(Some),
            Peek::Locked if self.may_ask() => Ok(None),
            Peek::Locked => Err(locked()),
        }
    }

    /// Whether the owner may be asked now; no dialog is open, and the last one was long ago.
    fn may_ask(&self) -> bool {
        let patience = self.patience.lock().unwrap_or_else(PoisonError::into_inner);
        self.dialog.available_permits() > 0 && patience.not_before.is_none_or(|at| Instant::now() >= at)
    }

    /// Reads the item, for which the owner is asked.
    fn ask_owner(&self) -> Result<Vault, Fault> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        {
            let mut patience = self.patience.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever waited for this turn does not ask at once again.
            if patience.not_before.is_some_and(|at| Instant::now() < at) {
                return Err(locked());
            }
            patience.not_before = Some(Instant::now() + patience.pause);
            patience.pause = (patience.pause * 2).min(KEYRING_DIALOG_PAUSE_MAX);
        }
        self.load()
    }

    fn load(&self) -> Result<Vault, Fault> {
        if let Some(vault) = self.known() {
            return Ok(vault);
        }
        match service::entry(&self.vault).and_then(|entry| entry.get_secret().map(Zeroizing::new)) {
            Ok(json) => {
                let vault = Vault::parse(&json).map_err(|error| {
                    unavailable(format!("the item of service \"{SERVICE}\" in the keyring is damaged: {error}"))
                })?;
                self.remember(vault.clone());
                Ok(vault)
            }
            // Not kept in memory: some keyrings show nothing while they are locked.
            Err(Error::NoEntry) => Ok(Vault::default()),
            Err(error) => Err(fault(&error)),
        }
    }

    fn known(&self) -> Option<Vault> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, vault: Vault) {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(vault);
    }
}

impl SecretStore for KeyringSecrets {
    fn get<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<Option<SecretString>, Fault>> {
        async move { Ok(self.vault().await?.get(name)) }.boxed()
    }

    fn set<'a>(&'a self, name: &'a SecretName, value: SecretString) -> BoxFuture<'a, Result<(), Fault>> {
        self.put(name, Some(value)).boxed()
    }

    fn remove<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<(), Fault>> {
        self.put(name, None).boxed()
    }
}

fn unavailable(cause: String) -> Fault {
    Fault::new(
        FaultCode::Secret,
        "Secrets cannot be read or stored",
        cause,
        "start and unlock a keyring (such as gnome-keyring), or keep them in a file with --secrets file:PATH",
    )
}

fn locked() -> Fault {
    Fault::new(
        FaultCode::Secret,
        "Secrets cannot be read or stored now",
        "the keyring is locked",
        "unlock it, then it goes on by itself; where there is no screen to unlock it on, keep secrets in a file with \
         --secrets file:PATH",
    )
}

fn fault(error: &Error) -> Fault {
    match error {
        Error::NoStorageAccess(_) => locked(),
        Error::NoDefaultStore => unavailable("no keyring answers".to_owned()),
        Error::Ambiguous(_) => {
            unavailable(format!("the keyring holds several items of service \"{SERVICE}\" for this data folder"))
        }
        other => unavailable(format!("no keyring answers ({})", one_line(&other.to_string()))),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
