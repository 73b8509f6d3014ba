//! The words of the product as types: plain values without I/O.

pub mod destination;
pub mod error;
pub mod happening;
pub mod ids;
pub mod link;
pub mod mailbox;
pub mod message;
pub mod notification;
pub mod occasion;
pub mod outcome;
pub mod repeat;
pub mod rule;
pub mod settings;
pub mod sighting;
pub mod topic;
