//! What several pages show in the same way, and what several methods take.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{PAGE_ROWS, PAGE_ROWS_MAX};
use crate::model::error::{Fault, FaultCode};
use crate::model::notification::ChannelError;

/// A time as a front end sees it: RFC 3339, UTC, milliseconds.
#[must_use]
pub fn time(at: i64) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(at).unwrap_or(if at < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    });
    format!("{timestamp:.3}")
}

/// The time in ms UTC that a front end means.
///
/// # Errors
/// `invalid`, where it is not RFC 3339.
pub fn parse_time(text: &str) -> Result<i64, Fault> {
    text.trim().parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond).map_err(|_| {
        Fault::new(
            FaultCode::Invalid,
            "Nothing was done",
            format!("{text:?} is not a time"),
            "give it as RFC 3339, such as 2026-01-31T12:00:00Z",
        )
    })
}

/// What went wrong, as code and sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ErrorView {
    /// Stable word.
    pub code: String,
    /// For people; no secrets, no mail content.
    pub detail: String,
}

impl From<&Fault> for ErrorView {
    fn from(fault: &Fault) -> Self {
        Self { code: fault.code.as_str().to_owned(), detail: fault.to_string() }
    }
}

impl From<&ChannelError> for ErrorView {
    fn from(error: &ChannelError) -> Self {
        Self { code: error.code.as_str().to_owned(), detail: error.detail.clone() }
    }
}

/// A [`Fault`] on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct WireFault {
    /// Stable word.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::FaultCode"))]
    pub code: String,
    /// What this means for the owner.
    pub consequence: String,
    /// Why it happened.
    pub cause: String,
    /// What to do next.
    pub next_step: String,
}

impl From<Fault> for WireFault {
    fn from(fault: Fault) -> Self {
        let Fault { code, consequence, cause, next_step } = fault;
        Self { code: code.as_str().to_owned(), consequence, cause, next_step }
    }
}

impl From<WireFault> for Fault {
    fn from(wire: WireFault) -> Self {
        let WireFault { code, consequence, cause, next_step } = wire;
        Self { code: FaultCode::parse(&code).unwrap_or(FaultCode::Internal), consequence, cause, next_step }
    }
}

/// Names one thing: an id, or where it is unique the owner's name for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Id {
    /// The id.
    pub id: String,
}

/// Nothing to give, or nothing to say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(type = "Record<string, never>"))]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A page of a list, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct Page {
    /// Rows at most; never more than `limits::PAGE_ROWS_MAX`.
    pub limit: Option<u32>,
    /// The key of the last row of the page before.
    pub before: Option<String>,
}

impl Page {
    /// Rows of this page.
    pub(super) fn rows(&self) -> i64 {
        i64::from(self.limit.unwrap_or(PAGE_ROWS).clamp(1, PAGE_ROWS_MAX))
    }
}

/// A secret on its way from a front end: it goes through serde, and does not print.
#[derive(Clone)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(type = "string"))]
pub struct SecretText(pub SecretString);

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose_secret())
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(SecretString::from(text)))
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_utc_with_milliseconds() {
        let check = |at: i64, text: &str| {
            assert_eq!(time(at), text);
            assert_eq!(parse_time(text).unwrap(), at, "{text}");
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_767_225_600_120, "2026-01-01T00:00:00.120Z");
        check(-1, "1969-12-31T23:59:59.999Z");
        assert_eq!(parse_time("2026-01-01T02:00:00.12+02:00").unwrap(), 1_767_225_600_120, "other zones");
        assert!(time(i64::MAX).starts_with("9999-"), "no panic at the ends");
        assert_eq!(parse_time("yesterday").unwrap_err().code, FaultCode::Invalid);
    }

    #[test]
    fn a_secret_does_not_print() {
        let secret: SecretText = serde_json::from_str("\"hunter2\"").unwrap();
        assert_eq!(format!("{secret:?}"), "(secret)");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hunter2\"");
    }
}
