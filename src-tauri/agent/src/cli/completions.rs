//! `ringonce completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::failure::Done;
use crate::cli::{CommandLine, Global, out};

#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(global: &Global, completions: &Completions) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut CommandLine::command(), "ringonce", &mut script);
    let script = String::from_utf8_lossy(&script);
    if global.json { out::json(&serde_json::json!({"script": script})) } else { out::line(script.trim_end()) }
}
