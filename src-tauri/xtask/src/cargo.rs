//! Calls Cargo.

use std::env;
use std::process::Command;

use crate::Failure;

/// What lints, documentation and tests are built from: always the same packages and features, so that Cargo builds
/// each thing once. `crash-points` are the named places at which a test stops the program.
pub(crate) const EVERYTHING: [&str; 4] = ["--workspace", "--all-targets", "--features", "ringonce/crash-points"];

/// The Cargo that runs us.
pub(crate) fn command() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs it to its end.
pub(crate) fn run(args: &[&str]) -> Result<(), Failure> {
    check(command().args(args), &format!("cargo {}", args.join(" ")))
}

/// Runs a command that has to succeed.
pub(crate) fn check(command: &mut Command, shown: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed ({status})")),
        Err(error) => Err(format!("`{shown}` does not start: {error}")),
    }
}
