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

use crate::api::view::WireFault;

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
