//! `ringonce` without a command: the resident program with its tray icon, and the window.

use std::env;
use std::path::Path;

use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::rpc::client::Client;
use ringonce_engine::rpc::lock::prepare;
use ringonce_engine::rpc::reach::running;
use serde_json::json;

use crate::autostart::Autostart;
use crate::cli::failure::{Done, Failure};
use crate::cli::run::{Resident, Secrets};
use crate::cli::session::data_dir;
use crate::cli::{Global, log};
use crate::tray;
use crate::window::Keeper;

/// Opens the window of what runs on the data folder, or runs on it.
pub(crate) async fn run(global: &Global, background: bool) -> Done {
    let data_dir = prepare(&data_dir(global)?)?;
    if let Some(client) = running(&data_dir).await {
        return raise(client, background).await;
    }
    if !has_display() {
        return Err(no_display().into());
    }
    log::to_files(&data_dir)?;
    let autostart = Autostart::of(global.data_dir.is_some().then_some(&data_dir))?;
    let resident = match Resident::start(&data_dir, Secrets::Chosen(global.secrets.clone())).await {
        Ok(resident) => resident,
        Err(failure) => {
            // Another start may have been a moment earlier.
            return match running(&data_dir).await {
                Some(client) => raise(client, background).await,
                None => Err(logged(failure)),
            };
        }
    };
    let done = resident.serve(desk(&resident, &data_dir, background, autostart)).await;
    resident.end().await;
    done.map_err(logged)
}

/// What is done while the engine works.
async fn desk(resident: &Resident, data_dir: &Path, background: bool, autostart: Autostart) -> Done {
    let windows = resident.engine.live().windows();
    let first = async {
        if !background && let Err(fault) = windows.open(None).await {
            tracing::error!("{fault}");
        }
    };
    let (api, kernel) = (&resident.api, resident.engine.kernel());
    tokio::join!(
        Keeper::new(windows.clone(), data_dir).run(),
        tray::run(api, kernel, windows, resident.stop_token()),
        autostart.keep(kernel),
        first,
    );
    Ok(())
}

async fn raise(mut client: Client, background: bool) -> Done {
    if !background {
        client.call("window.open", json!({})).await?;
    }
    Ok(())
}

/// Started at login, nobody sees what goes to standard error.
fn logged(failure: Failure) -> Failure {
    if let Failure::Fault(fault) = &failure {
        tracing::error!("{fault}");
    }
    failure
}

fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn no_display() -> Fault {
    Fault::new(
        FaultCode::Invalid,
        "Nothing was started",
        "Ringonce has no screen here",
        "use `ringonce run --headless`, or see `ringonce --help`",
    )
}
