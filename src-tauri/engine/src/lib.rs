//! Ringonce engine: everything that is neither tray nor window.

pub mod api;
pub mod channel;
pub mod clock;
pub mod crash;
pub mod decide;
pub mod engine;
pub mod identity;
pub mod intake;
pub mod kernel;
pub mod limits;
pub mod mail;
pub mod model;
pub mod net;
pub mod notify;
pub mod outbox;
pub mod payload;
pub mod rpc;
pub mod secret;
pub mod self_message;
pub mod source;
pub mod store;
pub mod supervise;
