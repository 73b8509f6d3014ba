//! Secrets that last as long as the program: for tests and the demo.

use std::sync::{Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt};
use secrecy::SecretString;

use crate::model::error::Fault;
use crate::secret::vault::Vault;
use crate::secret::{SecretName, SecretStore};

/// Keeps secrets in memory only.
#[derive(Default)]
pub struct MemorySecrets(Mutex<Vault>);

impl SecretStore for MemorySecrets {
    fn get<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<Option<SecretString>, Fault>> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name);
        async move { Ok(found) }.boxed()
    }

    fn set<'a>(&'a self, name: &'a SecretName, value: SecretString) -> BoxFuture<'a, Result<(), Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(name, Some(value));
        async { Ok(()) }.boxed()
    }

    fn remove<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<(), Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(name, None);
        async { Ok(()) }.boxed()
    }
}
