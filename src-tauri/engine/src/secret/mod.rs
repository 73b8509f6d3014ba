//! Secrets: kept by the system's keyring, or in a file of mode 0600 where the owner says so. Never in the database.

pub mod choice;
pub mod file;
pub mod kept;
pub mod keyring;
pub mod memory;
mod vault;

use futures_util::future::BoxFuture;
use secrecy::SecretString;

use crate::model::error::Fault;

/// Names one secret, e.g. `mailbox/ab12/password`, `destination/cd34/token`, `source/ef56/secret`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretName(pub String);

impl SecretName {
    /// The password of a mailbox.
    #[must_use]
    pub fn mailbox(account_id: &crate::model::ids::AccountId) -> Self {
        Self(format!("mailbox/{account_id}/password"))
    }

    /// A secret field of a destination.
    #[must_use]
    pub fn destination(id: &crate::model::ids::DestinationId, field: &str) -> Self {
        Self(format!("destination/{id}/{field}"))
    }

    /// The signing secret of a source.
    #[must_use]
    pub fn source(id: &crate::model::ids::SourceId) -> Self {
        Self(format!("source/{id}/secret"))
    }
}

/// Keeps secrets. Calls are slow and may ask the owner: never on the path of a mail; what is read stays in memory.
pub trait SecretStore: Send + Sync {
    /// The secret, `None` where there is none by that name.
    fn get<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<Option<SecretString>, Fault>>;
    /// Stores or replaces it; durable when this returns.
    fn set<'a>(&'a self, name: &'a SecretName, value: SecretString) -> BoxFuture<'a, Result<(), Fault>>;
    /// Removes it; removing what is not there is fine.
    fn remove<'a>(&'a self, name: &'a SecretName) -> BoxFuture<'a, Result<(), Fault>>;
}
