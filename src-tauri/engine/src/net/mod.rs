//! Sockets: TCP, TLS, HTTP and the loopback server. Nothing else in the engine opens one.

pub mod error;
pub mod guard;
pub mod stream;
pub mod tcp;
pub mod tls;
