//! Tools: for the data folder as a whole, and for the system around the program.

use clap::Subcommand;

use crate::cli::failure::Done;
use crate::cli::{Global, completions, data, doctor, systemd_unit, transfer};

#[derive(Subcommand)]
pub(crate) enum Tools {
    /// Check every invariant of the data.
    Verify,
    /// Look at everything Ringonce needs and say what is wrong, and what to do.
    Doctor,
    Export(transfer::Export),
    Restore(transfer::Restore),
    /// Forget what the settings say need not be kept any longer.
    Prune,
    /// Print a unit by which systemd runs Ringonce for you, without a screen.
    SystemdUnit,
    /// Completions for a shell.
    Completions(completions::Completions),
}

pub(crate) async fn run(global: &Global, tools: Tools) -> Done {
    match tools {
        Tools::Verify => data::verify(global).await,
        Tools::Doctor => doctor::run(global).await,
        Tools::Export(export) => transfer::export(global, export).await,
        Tools::Restore(restore) => transfer::restore(global, restore).await,
        Tools::Prune => data::prune(global).await,
        Tools::SystemdUnit => systemd_unit::run(global),
        Tools::Completions(completions) => completions::run(global, &completions),
    }
}
