//! One file per table: its row and its statements.

pub mod alarm;
pub mod attempt;
pub mod day;
pub mod delivery;
pub mod destination;
pub mod expiry;
pub mod folder;
pub mod identity;
pub mod ladder;
pub mod lease;
pub mod mail_action;
pub mod mailbox;
pub mod message;
pub mod meta;
pub mod operation;
pub mod outbox;
pub mod pause;
pub mod route;
pub mod rule;
pub mod setting;
pub mod source;
