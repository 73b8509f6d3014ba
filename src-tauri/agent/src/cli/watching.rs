//! `ringonce check-now`, `pause` and `resume`: all watching at once.

use clap::Subcommand;
use ringonce_engine::api::view::Nothing;
use ringonce_engine::api::watch::{PauseParams, Paused};

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::time::at;
use crate::cli::{Global, out};

#[derive(Subcommand)]
pub(crate) enum Watching {
    /// Look into every mailbox now.
    CheckNow,
    /// Pause all watching; what comes meanwhile is told afterwards.
    Pause {
        /// For so many minutes [default: until tomorrow at 07:00].
        #[arg(long, value_name = "N")]
        minutes: Option<u32>,
    },
    /// Watch again.
    Resume,
}

pub(crate) async fn run(global: &Global, watching: Watching) -> Done {
    let (method, done) = match watching {
        Watching::CheckNow => ("watch.check_now", call(global, "watch.check_now", &Nothing {}).await?),
        Watching::Resume => ("watch.resume", call(global, "watch.resume", &Nothing {}).await?),
        Watching::Pause { minutes } => ("watch.pause", call(global, "watch.pause", &PauseParams { minutes }).await?),
    };
    if global.json {
        return out::json(&done);
    }
    if method == "watch.pause" {
        let paused: Paused = view(method, done)?;
        out::line(&format!("Paused until {}.", at(Some(&paused.until))))?;
    }
    Ok(())
}
