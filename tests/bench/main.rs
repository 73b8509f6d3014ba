//! `cargo xtask bench [TABLE…]`: prints figures and asserts nothing.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it is for")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a step of a measurement that fails is no measurement"
)]

mod app;
mod baseline;
mod figures;
mod filled;
mod intake;
mod latency;
mod memory;
mod process;
mod scale;

use std::process::ExitCode;

/// A table by its name.
type Table = (&'static str, fn());

const TABLES: [Table; 5] = [
    ("latency", latency::print),
    ("memory", memory::print),
    ("intake", intake::print),
    ("scale", scale::print),
    ("app", app::print),
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = asked.iter().find(|name| !TABLES.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        eprintln!("There is no table {unknown:?}; there are: {}", known.join(", "));
        return ExitCode::from(2);
    }
    for (name, print) in TABLES {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            print();
        }
    }
    ExitCode::SUCCESS
}
