//! The program `ringonce`: resident program and command line.

mod autostart;
mod cli;
mod tray;
mod window;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

/// A call to the keyring may still hang when the work is done; nobody waits for it.
const SHUTDOWN_WAIT: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let command_line = cli::CommandLine::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cli::failure::Failure::from(error).report(),
    };
    let done = runtime.block_on(cli::run(command_line));
    runtime.shutdown_timeout(SHUTDOWN_WAIT);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
