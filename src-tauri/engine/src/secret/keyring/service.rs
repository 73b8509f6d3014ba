//! The Secret Service, connected anew for each call: a bus or a keyring that was not there at the start, or was started
//! again, is found the next time. What is read is kept by the caller, so calls are few.

use std::collections::HashMap;

use keyring::{Entry, Error};
use secret_service::EncryptionType;
use secret_service::blocking::SecretService;
use zbus_secret_service_keyring_store::Store;
use zbus_secret_service_keyring_store::errors::decode_error;

use crate::secret::keyring::SERVICE;

/// Whether an item can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peek {
    /// At once; or it does not exist.
    Readable,
    /// Only once the keyring is unlocked.
    Locked,
}

/// The item of a vault. Reading or writing it may raise a dialog.
pub(super) fn entry(vault: &str) -> Result<Entry, Error> {
    keyring_core::set_default_store(Store::new()?);
    Ok(Entry { inner: keyring_core::Entry::new(SERVICE, vault)? })
}

/// Asks whether the item of a vault can be read. Raises no dialog.
pub(super) fn peek(vault: &str) -> Result<Peek, Error> {
    // Nothing secret passes here.
    let service = SecretService::connect(EncryptionType::Plain).map_err(decode_error)?;
    let found =
        service.search_items(HashMap::from([("service", SERVICE), ("username", vault)])).map_err(decode_error)?;
    if !found.unlocked.is_empty() {
        return Ok(Peek::Readable);
    }
    // Some keyrings show none of their items while they are locked.
    let all_locked = || service.get_default_collection().and_then(|collection| collection.is_locked());
    let locked = !found.locked.is_empty() || all_locked().unwrap_or(false);
    Ok(if locked { Peek::Locked } else { Peek::Readable })
}
