//! Support of the integration tests (`it/`) and of the bench (`bench/`): real servers, scripted peers and the
//! program itself. Nothing here knows the engine: what is tested is tested from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a step of a test that fails is a failed test"
)]

#[path = "it/support/mod.rs"]
pub mod support;
