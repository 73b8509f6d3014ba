//! The local socket: the engine's `api` for the window and the command line.
//!
//! JSON lines. Request `{id, method, params}`; answer `{id, result}` or `{id, error: {code, consequence, cause,
//! next_step}}`. After `subscribe` come lines `{event: "changed", topics: […]}`, after `watch` lines `{event: "watch",
//! row: {…}}`. `window` makes the client the window, unless there is one (`{first: false}`): it is told `{event:
//! "open", place}` when it is asked for and `{event: "bye"}` when the program stops on purpose. One program at a time holds a data folder ([`lock`]); [`reach`] finds the way to it.

pub mod client;
pub mod lock;
pub mod reach;
pub mod server;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::error::{Fault, FaultCode};

/// One call.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// Comes back with the answer; several calls may be in hand.
    #[serde(default)]
    pub id: u64,
    /// As in the table of `api`, or `subscribe`, `watch` or `window`.
    pub method: String,
    /// The method's parameters.
    #[serde(default)]
    pub params: Value,
}

/// What comes back for one call.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the request.
    pub id: u64,
    /// What it returned, where it went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<WireFault>,
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

/// What is sent without being asked, after `subscribe`, `watch` or `window`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// What shows these topics is out of date.
    Changed {
        /// Names of topics.
        topics: Vec<String>,
    },
    /// Something happened.
    Watch {
        /// A row of `watch`.
        row: Value,
    },
    /// The window is asked for: raise it, and go to the place.
    Open {
        /// Such as `#/attention`; null: where it is.
        place: Option<String>,
    },
    /// The program stops, on purpose.
    Bye,
    /// The client read too slowly: so many rows of `watch` were left out.
    Missed {
        /// How many.
        count: u64,
    },
}
