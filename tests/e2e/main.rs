//! End to end: the real window on a screen nobody looks at, with the real program, mail server and receivers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a step of a test that fails is a failed test"
)]

mod access;
mod desk;
mod driver;
mod every_day;
mod first_run;
mod resident;
