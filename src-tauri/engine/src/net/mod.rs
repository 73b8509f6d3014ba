//! Sockets: TCP, TLS, HTTP and the loopback server. Nothing else in the engine opens one.

pub mod certificate;
pub mod error;
pub mod guard;
pub mod http;
pub mod local;
mod named_certificate;
#[cfg(test)]
pub(crate) mod scripted;
pub mod server;
pub mod signature;
pub mod stream;
pub mod tcp;
pub mod tls;
mod watched;
