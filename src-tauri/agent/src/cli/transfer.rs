//! `ringonce export`, `restore`

use std::path::PathBuf;

use ringonce_engine::api::data::{self, ExportParams, Exported};
use ringonce_engine::clock::Clock;
use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::rpc::lock::prepare;
use ringonce_engine::rpc::reach::own;
use serde_json::json;

use crate::cli::failure::Done;
use crate::cli::session::{call, data_dir, view};
use crate::cli::time::at;
use crate::cli::{Global, out};

/// Write configuration, keys and history into one file.
///
/// Passwords and tokens are not in it: they stay where they are kept. The file is a SQLite database that only you may
/// read. `ringonce restore` takes it.
#[derive(clap::Args)]
pub(crate) struct Export {
    /// The file to write.
    file: PathBuf,
    /// Replace it where it exists.
    #[arg(long)]
    force: bool,
}

/// Take configuration, keys and history from a file that `export` wrote, or from a daily copy.
///
/// Ringonce must not be running. What was in the data folder is moved aside within it. Passwords and tokens are looked
/// for where they were kept; on another computer give them again with `mailbox set` and `destination set`. What was on
/// its way when the file was made is not sent again, and mails that came since do not all ring.
#[derive(clap::Args)]
pub(crate) struct Restore {
    /// The file to take.
    file: PathBuf,
}

pub(crate) async fn export(global: &Global, export: Export) -> Done {
    let file = std::path::absolute(&export.file)?;
    let Some(file) = file.to_str().map(str::to_owned) else {
        return Err(Fault::new(
            FaultCode::Invalid,
            "Nothing was exported",
            format!("the path {} is not UTF-8", file.display()),
            "give another name",
        )
        .into());
    };
    let written = call(global, "data.export", &ExportParams { path: file, force: export.force }).await?;
    if global.json {
        return out::json(&written);
    }
    let Exported { file, bytes } = view("data.export", written)?;
    out::line(&format!("{file}: {bytes} bytes. Passwords and tokens are not in it."))
}

pub(crate) async fn restore(global: &Global, restore: Restore) -> Done {
    let data_dir = prepare(&data_dir(global)?)?;
    let lock = own(&data_dir).await?;
    let done = data::restore(&data_dir, &restore.file, Clock::system().now(), global.secrets.as_ref());
    drop(lock);
    let done = done?;
    if global.json {
        return out::json(&json!(done));
    }
    let from = done.from_at.as_deref().map_or_else(|| "an unknown time".to_owned(), |time| at(Some(time)));
    out::line(&format!("Restored as of {from}. Passwords and tokens were not in the file."))?;
    if let Some(replaced) = done.replaced {
        out::line(&format!("What was there before is in {replaced}."))?;
    }
    if done.uncertain > 0 {
        out::line(&format!(
            "{} notifications were on their way then and may have arrived: see `ringonce attention`.",
            done.uncertain
        ))?;
    }
    Ok(())
}
