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
mod data_folder;
mod dead_lines;
mod dedupe;
mod desktop;
mod disk_full;
mod doctor;
mod folders;
mod harness;
mod imap;
mod intake;
mod keyring;
mod mailbox_words;
mod outbox;
mod privacy;
mod rules;
mod secrets;
mod servers;
mod set_up;
mod tidy;
mod transfer;
mod tray;
mod window;
