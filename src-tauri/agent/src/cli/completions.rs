//! `ringonce completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::failure::Done;
use crate::cli::{CommandLine, out};

#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(completions: &Completions) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut CommandLine::command(), "ringonce", &mut script);
    out::line(String::from_utf8_lossy(&script).trim_end())
}
