//! Which program this is, and on which data.

use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::api::view::Nothing;
use crate::model::error::Fault;
use crate::store::open;

/// What `app.about` gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct About {
    /// Of the resident program.
    pub version: String,
    /// Where its data is.
    pub data_dir: String,
    /// The version of the data's form.
    pub schema: u32,
    /// Where passwords are kept: `keyring`, `file:PATH` or `memory`.
    pub secrets: String,
}

/// Which program this is, and on which data.
///
/// # Errors
/// `storage`.
pub async fn about(api: &Api, _: Nothing) -> Result<About, Fault> {
    Ok(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_dir: api.readers.data_dir().display().to_string(),
        schema: api.read(open::schema).await?,
        secrets: api.secrets.place(),
    })
}
