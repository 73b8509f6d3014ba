//! The secrets of one data folder: where they are, opened when first needed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;

use crate::model::error::Fault;
use crate::secret::choice::{Choice, Place, effective};
use crate::secret::memory::MemorySecrets;
use crate::secret::{SecretName, SecretStore};

/// Key under which the settings of a data folder keep the place of its secrets.
pub const SETTING: &str = "secrets";

/// The secrets of one data folder.
pub struct KeptSecrets {
    place: Option<Place>,
    unkept: AtomicBool,
    opened: Mutex<Option<Arc<dyn SecretStore>>>,
    trouble: Mutex<Option<String>>,
}

impl KeptSecrets {
    /// From what the folder's settings keep and what the owner asked for. Nothing is opened yet.
    ///
    /// # Errors
    /// `conflict` where another place was chosen before; `secret` where what is kept cannot be read.
    pub fn new(stored: Option<&str>, wanted: Option<&Choice>) -> Result<Self, Fault> {
        let (place, new) = effective(stored, wanted)?;
        Ok(Self {
            place: Some(place),
            unkept: AtomicBool::new(new),
            opened: Mutex::default(),
            trouble: Mutex::default(),
        })
    }

    /// Secrets that last as long as the program.
    #[must_use]
    pub fn in_memory() -> Self {
        let store: Arc<dyn SecretStore> = Arc::new(MemorySecrets::default());
        let opened = Mutex::new(Some(store));
        Self { place: None, unkept: AtomicBool::new(false), opened, trouble: Mutex::default() }
    }

    /// Where they are, in words for people.
    #[must_use]
    pub fn place(&self) -> String {
        self.place.as_ref().map_or_else(|| "memory".to_owned(), |place| place.choice().to_string())
    }

    /// Opens them, the first time.
    ///
    /// # Errors
    /// `secret`, where a file cannot be used.
    pub fn open(&self) -> Result<Arc<dyn SecretStore>, Fault> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = opened.as_ref() {
            return Ok(Arc::clone(store));
        }
        let store = match &self.place {
            Some(place) => place.open()?,
            None => Arc::new(MemorySecrets::default()),
        };
        *opened = Some(Arc::clone(&store));
        Ok(store)
    }

    /// A secret; `None` where there is none by that name. While nothing was ever kept nobody is asked: a machine without a
    /// keyring can do everything that needs no secret.
    ///
    /// # Errors
    /// `secret`, where they cannot be read now.
    pub async fn get(&self, name: &SecretName) -> Result<Option<SecretString>, Fault> {
        if self.to_keep().is_some() {
            return Ok(None);
        }
        let got = match self.open() {
            Ok(store) => store.get(name).await,
            Err(fault) => Err(fault),
        };
        let trouble = got.as_ref().err().map(|fault| fault.cause.clone());
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        got
    }

    /// Why they could not be read when somebody last tried; `None`: they could.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes a secret; removing what is not there is fine.
    ///
    /// # Errors
    /// `secret`, where they cannot be written now.
    pub async fn remove(&self, name: &SecretName) -> Result<(), Fault> {
        if self.to_keep().is_some() {
            return Ok(());
        }
        self.open()?.remove(name).await
    }

    /// What the settings are to keep under [`SETTING`], while they do not.
    #[must_use]
    pub fn to_keep(&self) -> Option<String> {
        let place = self.place.as_ref().filter(|_| self.unkept.load(Ordering::SeqCst))?;
        Some(place.to_string())
    }

    /// The settings keep it now.
    pub fn mark_kept(&self) {
        self.unkept.store(false, Ordering::SeqCst);
    }

    /// Whether the owner's choice is this place.
    ///
    /// # Errors
    /// `conflict`, where it is another.
    pub fn check(&self, wanted: &Choice) -> Result<(), Fault> {
        let place = self.place.as_ref().map(ToString::to_string);
        effective(place.as_deref(), Some(wanted)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_is_asked_for_what_was_never_kept() {
        let name = SecretName("destination/a/token".to_owned());
        let nowhere = Choice::File("/no/such/folder/secrets".into());
        let secrets = KeptSecrets::new(None, Some(&nowhere)).unwrap();
        assert!(secrets.get(&name).await.unwrap().is_none() && secrets.remove(&name).await.is_ok());
        secrets.mark_kept();
        assert!(secrets.get(&name).await.is_err() && secrets.remove(&name).await.is_err(), "now there may be one");
    }
}
