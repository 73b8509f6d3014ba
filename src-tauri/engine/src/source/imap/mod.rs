//! The IMAP source: watches the folders of one mailbox and reports what comes in. It only reads: EXAMINE and PEEK.
//!
//! `login` makes a session, `catch_up` brings a folder's cursor to where the server is, `backfill` looks through what was
//! there before, `idle` waits, and `watch` does these in turn. `conn` is the only one that knows async-imap's client,
//! `reply` the only one that knows its parser.

mod backfill;
mod catch_up;
pub mod check;
mod conn;
mod desk;
mod failure;
mod fetch;
mod first_sight;
mod folder;
mod idle;
mod login;
mod pace;
mod place;
mod quirks;
mod reply;
mod text;
pub mod utf7;
pub mod watch;
