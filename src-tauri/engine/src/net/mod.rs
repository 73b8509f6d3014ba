//! net.

pub mod local;
