//! Settings.

use serde::{Deserialize, Serialize};

/// Parameters of `settings.get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    /// Which.
    pub key: String,
}

/// Parameters of `settings.set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// Which.
    pub key: String,
    /// The new value; lists are comma-separated.
    pub value: String,
}

/// Parameters of `settings.secrets`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretsParams {
    /// `keyring` or `file:` and an absolute path.
    pub choice: String,
}

/// A row of `settings.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingView {
    /// Its key.
    pub key: String,
    /// The value in force.
    pub value: String,
    /// The value without the owner's.
    pub default: String,
}
