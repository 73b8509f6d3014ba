//! The app: a window on the resident program `ringonce`, which does the watching. This process ends with its window.
//!
//! It holds no data and decides nothing: [`bridge`] passes on the calls a window may make, [`sidecar`] finds or starts
//! the resident program and hears from it, [`asking`] shows the native dialogs, [`links`] opens addresses in the
//! browser.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod asking;
mod bridge;
mod links;
mod sidecar;
mod window;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ringonce_engine::rpc::lock::{default_data_dir, prepare};
use ringonce_engine::rpc::reach::running;
use tauri::async_runtime::block_on;

/// The window of Ringonce.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// The data folder; by default the platform's.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The page to open, such as `#/attention`.
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => {
            window::say(&*error);
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<i32, Box<dyn std::error::Error>> {
    let data_dir = prepare(&args.data_dir.map_or_else(default_data_dir, Ok)?)?;
    // One window: where there is one already, it comes to the front.
    let attached = block_on(async {
        let mut client = running(&data_dir).await?;
        Some(sidecar::attach(&mut client, args.place.as_deref()).await.map(|attached| (client, attached)))
    });
    let client = match attached.transpose()? {
        Some((_, sidecar::Attached::Elsewhere)) => return Ok(0),
        Some((client, sidecar::Attached::Here)) => Some(client),
        None => None,
    };
    let place = window::Place::parse(args.place.as_deref());
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .manage(bridge::Bridge::new(data_dir.clone()))
        .on_window_event(window::on_event)
        .invoke_handler(tauri::generate_handler![bridge::call])
        .setup(move |app| {
            window::open(app.handle(), &place, &data_dir)?;
            tauri::async_runtime::spawn(sidecar::run(app.handle().clone(), data_dir, client));
            Ok(())
        })
        .build(tauri::generate_context!())?;
    Ok(app.run_return(|_, _| {}))
}
