//! What the tests stand on. Every peer binds to loopback, starts from an empty folder and is gone when dropped.

pub mod clock;
pub mod cyrus;
pub mod db;
pub mod desktop;
pub mod dovecot;
pub mod http;
pub mod http_peer;
pub mod imap_session;
pub mod keyring;
pub mod laptop;
pub mod lmtp;
pub mod mail;
pub mod ntfy_peer;
pub mod owner;
pub mod panel;
pub mod phone;
mod printed;
pub mod program;
pub mod receiver;
pub mod relay;
pub mod screen;
pub mod tls;
pub mod tmpfs;
pub mod wait;
pub mod webhook_caller;
pub mod window;
