//! All secrets of one data folder as one JSON object, so that the keyring asks its owner once and not per secret.

use std::collections::BTreeMap;

use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

use crate::secret::SecretName;

/// Secrets by name.
#[derive(Clone, Default)]
pub(super) struct Vault(BTreeMap<String, SecretString>);

impl Vault {
    /// From JSON. The error tells where, never what stands there.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let plain: BTreeMap<String, String> = serde_json::from_slice(json)
            .map_err(|error| format!("line {}, column {} is not as expected", error.line(), error.column()))?;
        Ok(Self(plain.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect()))
    }

    /// As JSON.
    pub(super) fn to_json(&self) -> Zeroizing<Vec<u8>> {
        let plain: BTreeMap<&str, &str> =
            self.0.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
        // A map of texts always has a JSON form.
        Zeroizing::new(serde_json::to_vec(&plain).unwrap_or_default())
    }

    /// The secret of a name.
    pub(super) fn get(&self, name: &SecretName) -> Option<SecretString> {
        self.0.get(&name.0).cloned()
    }

    /// Stores it; `None` removes it. `false`: nothing changed.
    pub(super) fn put(&mut self, name: &SecretName, value: Option<SecretString>) -> bool {
        let Some(value) = value else { return self.0.remove(&name.0).is_some() };
        let same = self.0.get(&name.0).is_some_and(|known| known.expose_secret() == value.expose_secret());
        self.0.insert(name.0.clone(), value);
        !same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_comes_out_of_its_json() {
        let name = SecretName("mailbox/ab/password".to_owned());
        let mut vault = Vault::default();
        assert!(vault.put(&name, Some("pass \"w\u{f6}rd\"\n".to_owned().into())), "new");
        assert!(!vault.put(&name, Some("pass \"w\u{f6}rd\"\n".to_owned().into())), "the same again changes nothing");
        let again = Vault::parse(&vault.to_json()).unwrap_or_default();
        assert_eq!(again.get(&name).map(|s| s.expose_secret().to_owned()).as_deref(), Some("pass \"w\u{f6}rd\"\n"));
        assert!(vault.put(&name, None), "removed");
        assert!(!vault.put(&name, None), "there is nothing left to remove");
        assert!(vault.get(&name).is_none(), "removed is gone");
    }

    #[test]
    fn an_error_does_not_show_the_text() {
        let error = Vault::parse(br#"{"a": hunter2}"#).err().unwrap_or_default();
        assert!(error.contains("line 1") && !error.contains("hunter2"), "{error}");
    }
}
