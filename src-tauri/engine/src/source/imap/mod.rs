//! The IMAP source: watches the folders of one mailbox and reports what comes in. It only reads: EXAMINE and PEEK.
//! What the owner asks for, and nothing else, changes anything there (`mark_read`).
//!
//! `session` speaks the protocol and knows nothing of reports. Above it, `catch_up` brings a folder's cursor to where the
//! server is, `backfill` looks through what was there before, and `watch` does both, waits, and does it again.

mod backfill;
mod catch_up;
pub mod check;
mod desk;
mod first_sight;
pub mod folders;
mod idle_trust;
pub mod mark_read;
mod pace;
pub mod place;
pub mod probe;
pub mod providers;
mod rounds;
pub mod session;
#[cfg(test)]
mod transcripts;
pub mod watch;
mod watched;
