//! What is done to a mail itself.

use serde::{Deserialize, Serialize};

use crate::api::view::Nothing;
use crate::api::{Api, named};
use crate::model::error::Fault;
use crate::supervise;

/// Parameters of `mail.mark_read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MarkReadParams"))]
#[serde(deny_unknown_fields)]
pub struct MarkReadParams {
    /// Which mail.
    pub message_key: String,
}

/// Marks a mail as read at its server.
///
/// # Errors
/// `not_found`, where there is no such mail or it is not where it was seen; what stands between us and its server.
pub async fn mark_read(api: &Api, params: MarkReadParams) -> Result<Nothing, Fault> {
    let key = api.find(move |read| named::message(read, &params.message_key)).await?;
    supervise::mark_read::mark_read(api.kernel()?, &api.secrets, &key).await.map(|()| Nothing {})
}
