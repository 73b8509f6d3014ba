//! Settings.

use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::api::view::Nothing;
use crate::model::error::Fault;
use crate::model::settings::{SETTINGS, Setting, check};
use crate::model::topic::Topic;
use crate::secret::choice::Choice;
use crate::store::table::setting;

/// Parameters of `settings.get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "SettingGetParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    /// Which.
    pub key: String,
}

/// Parameters of `settings.set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "SettingSetParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// Which.
    pub key: String,
    /// The new value; lists are comma-separated.
    pub value: String,
}

/// Parameters of `settings.secrets`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct SecretsParams {
    /// `keyring` or `file:` and an absolute path.
    pub choice: String,
}

/// A row of `settings.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct SettingView {
    /// Its key.
    pub key: String,
    /// The value in force.
    pub value: String,
    /// The value without the owner's.
    pub default: String,
}

/// Every setting, in a fixed order.
///
/// # Errors
/// `storage`.
pub async fn list(api: &Api, _: Nothing) -> Result<Vec<SettingView>, Fault> {
    let stored = api.read(setting::list).await?;
    Ok(SETTINGS.iter().map(|setting| SettingView::new(setting, stored.get(setting.key))).collect())
}

/// One setting.
///
/// # Errors
/// `not_found`.
pub async fn get(api: &Api, params: GetParams) -> Result<SettingView, Fault> {
    let all = list(api, Nothing {}).await?;
    all.into_iter()
        .find(|setting| setting.key == params.key)
        .ok_or_else(|| super::not_found("setting", &params.key, "settings list"))
}

/// Sets one; it is in force at once.
///
/// # Errors
/// `not_found`; `invalid` with the allowed range.
pub async fn set(api: &Api, params: SetParams) -> Result<SettingView, Fault> {
    let SetParams { key, value } = params;
    let now_at = api.clock.now();
    let changed = key.clone();
    api.change(&[Topic::Settings], move |tx| {
        let clean = match check(&key, &value, &setting::list(*tx)?) {
            Ok(clean) => clean,
            Err(fault) => return Ok(Err(fault)),
        };
        setting::set(tx, &key, &clean, now_at)?;
        Ok(Ok(()))
    })
    .await?;
    get(api, GetParams { key: changed }).await
}

/// Checks the owner's `--secrets` against the place this data folder keeps its secrets in. A file becomes that place
/// now, the keyring when the first secret is stored in it.
///
/// # Errors
/// `conflict`, where it is another place; `secret`, where a file cannot be used.
pub async fn secrets(api: &Api, params: SecretsParams) -> Result<Nothing, Fault> {
    let choice = Choice::parse(&params.choice)?;
    api.secrets.check(&choice)?;
    if api.kernel.is_some() && matches!(choice, Choice::File(_)) {
        api.secrets.open()?;
        api.keep_place().await?;
    }
    Ok(Nothing {})
}

impl SettingView {
    fn new(setting: &Setting, stored: Option<&String>) -> Self {
        let default = setting.default.to_owned();
        Self { key: setting.key.to_owned(), value: stored.unwrap_or(&default).clone(), default }
    }
}
