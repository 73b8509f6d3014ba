//! Integration tests: one binary, against real servers, scripted peers and the program as an owner runs it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a step of a test that fails is a failed test"
)]

use ringonce_tests::support;

mod alarms;
mod api;
mod bad_input;
mod catch_up;
mod chaos;
mod command_line;
mod crash;
mod dead_lines;
mod dedupe;
mod disk_full;
mod folders;
mod harness;
mod imap;
mod intake;
mod keyring;
mod outbox;
mod rules;
mod secrets;
mod servers;
mod tidy;
