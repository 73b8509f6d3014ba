//! Ringonce engine: everything that is neither tray nor window.

pub mod api;
pub mod channel;
pub mod clock;
pub mod crash;
pub mod decide;
pub mod identity;
pub mod limits;
pub mod mail;
pub mod model;
pub mod net;
pub mod rpc;
pub mod secret;
pub mod source;
pub mod store;
