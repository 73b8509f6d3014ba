//! One IMAP session: from the connection to mails read. `conn` is the only one that knows async-imap's client, `reply` the
//! only one beside it that knows its parser.

pub(crate) mod conn;
pub(crate) mod failure;
pub(crate) mod fetch;
pub(crate) mod folder;
pub(crate) mod idle;
pub(crate) mod login;
pub(crate) mod quirks;
pub(crate) mod reply;
pub mod utf7;
