//! The window, as others ask for it.

use serde::{Deserialize, Serialize};

use crate::api::view::Nothing;
use crate::api::{Api, invalid};
use crate::limits::WINDOW_PLACE_BYTES_MAX;
use crate::model::error::{Fault, FaultCode};

/// Parameters of `window.open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct OpenParams {
    /// Where in the window to go, such as `#/attention`; where it was, without one.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional))]
    pub place: Option<String>,
}

/// Opens the window, or raises it.
///
/// # Errors
/// `invalid`, where the program runs without a screen; `not_running`, where it does not run.
pub async fn open(api: &Api, params: OpenParams) -> Result<Nothing, Fault> {
    let OpenParams { place } = params;
    if place.as_ref().is_some_and(|place| !place.starts_with('#') || place.len() > WINDOW_PLACE_BYTES_MAX) {
        return Err(invalid("that is no place in the window", "give one such as #/attention"));
    }
    let live = api.live().ok_or_else(|| {
        let cause = "Ringonce is not running";
        Fault::new(FaultCode::NotRunning, "No window was opened", cause, "start it with `ringonce`")
    })?;
    live.windows().open(place).await.map(|()| Nothing {})
}
