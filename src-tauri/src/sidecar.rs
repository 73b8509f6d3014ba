//! The resident program: found or started, and heard from for as long as the window is open.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::model::topic::Topic;
use ringonce_engine::rpc::Event;
use ringonce_engine::rpc::client::Client;
use ringonce_engine::rpc::reach::running;
use serde_json::json;
use tauri::{AppHandle, Emitter, Manager};
use tokio::time::sleep;

use crate::bridge::Bridge;
use crate::window::{self, Place};

/// A program that was started listens after a fraction of a second; on a busy computer it may take longer.
const START_WAIT: Duration = Duration::from_secs(20);
/// How often we look whether it listens.
const START_POLL: Duration = Duration::from_millis(20);
/// Between two starts of a program that ends at once.
const RESTART_PAUSE: Duration = Duration::from_secs(2);
/// Events come when something happens; this only bounds one wait.
const EVENT_WAIT: Duration = Duration::from_secs(600);

/// Whose window it is.
pub(crate) enum Attached {
    /// Ours.
    Here,
    /// There was one already; it was brought to the front.
    Elsewhere,
}

/// Says that this is the window; where there is one already, asks that one to come to the front.
pub(crate) async fn attach(client: &mut Client, place: Option<&str>) -> Result<Attached, Fault> {
    let answer = client.call("window", json!({})).await?;
    if answer.get("first").and_then(serde_json::Value::as_bool) == Some(true) {
        client.call("subscribe", json!({})).await?;
        return Ok(Attached::Here);
    }
    client.call("window.open", json!({ "place": place })).await?;
    Ok(Attached::Elsewhere)
}

/// Hears from the resident program until it ends on purpose; one that dies is started again.
pub(crate) async fn run(app: AppHandle, data_dir: PathBuf, attached: Option<Client>) {
    let mut client = attached;
    loop {
        let ended = match client.take() {
            Some(client) => hear(&app, client).await,
            None => match connect(&data_dir).await {
                Ok(Some(client)) => hear(&app, client).await,
                // Another window was quicker; it came to the front.
                Ok(None) => Ended::OnPurpose,
                Err(fault) => Ended::Lost(fault),
            },
        };
        match ended {
            Ended::OnPurpose => return app.exit(0),
            Ended::Closing => return,
            Ended::Lost(fault) => {
                app.state::<Bridge>().lost(fault);
                // What is shown is out of date now, and asking says why.
                changed(&app, &all_topics());
                sleep(RESTART_PAUSE).await;
            }
        }
    }
}

enum Ended {
    OnPurpose,
    Closing,
    Lost(Fault),
}

async fn hear(app: &AppHandle, mut client: Client) -> Ended {
    let bridge = app.state::<Bridge>();
    bridge.found();
    changed(app, &all_topics());
    loop {
        let event = tokio::select! {
            event = client.event(EVENT_WAIT) => event,
            () = bridge.closing.notified() => {
                // Whoever asks for a window from now on gets another one.
                client.leave().await;
                bridge.closed.notify_one();
                return Ended::Closing;
            }
        };
        match event {
            Ok(Some(Event::Changed { topics })) => changed(app, &topics),
            Ok(Some(Event::Open { place })) => window::raise(app, &Place::parse(place.as_deref())),
            Ok(Some(Event::Bye)) => return Ended::OnPurpose,
            Ok(Some(Event::Watch { .. } | Event::Missed { .. }) | None) => {}
            Err(fault) => return Ended::Lost(fault),
        }
    }
}

fn all_topics() -> Vec<String> {
    Topic::ALL.iter().map(|topic| topic.as_str().to_owned()).collect()
}

fn changed(app: &AppHandle, topics: &[String]) {
    if let Err(error) = app.emit("changed", json!({ "topics": topics })) {
        window::say(&error);
    }
}

/// Finds the program that runs on the data folder, or starts it; `None`: another window is attached to it.
async fn connect(data_dir: &Path) -> Result<Option<Client>, Fault> {
    if let Some((client, attached)) = listening(data_dir).await? {
        return Ok(ours(client, attached));
    }
    let mut started = start(data_dir)?;
    let until = tokio::time::Instant::now() + START_WAIT;
    while tokio::time::Instant::now() < until {
        if let Some((client, attached)) = listening(data_dir).await? {
            return Ok(ours(client, attached));
        }
        if let Ok(Some(status)) = started.try_wait()
            && !status.success()
        {
            return Err(not_started(&format!("it ended at once ({status})")));
        }
        sleep(START_POLL).await;
    }
    Err(not_started("it does not answer"))
}

fn ours(client: Client, attached: Attached) -> Option<Client> {
    matches!(attached, Attached::Here).then_some(client)
}

async fn listening(data_dir: &Path) -> Result<Option<(Client, Attached)>, Fault> {
    let Some(mut client) = running(data_dir).await else { return Ok(None) };
    match attach(&mut client, None).await {
        Ok(attached) => Ok(Some((client, attached))),
        // It is just starting or stopping.
        Err(fault) if fault.code == FaultCode::NotRunning => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Starts the resident program in the background, in a process group of its own: it stays when the window goes.
fn start(data_dir: &Path) -> Result<std::process::Child, Fault> {
    let program = program()?;
    let mut command = Command::new(&program);
    command.arg("--background").arg("--data-dir").arg(data_dir);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map_err(|error| not_started(&format!("{} does not start: {error}", program.display())))
}

/// `ringonce` lies beside this program.
fn program() -> Result<PathBuf, Fault> {
    let us = env::current_exe().map_err(|error| not_started(&error.to_string()))?;
    Ok(us.with_file_name(format!("ringonce{}", env::consts::EXE_SUFFIX)))
}

fn not_started(cause: &str) -> Fault {
    Fault::new(
        FaultCode::NotRunning,
        "No mail is watched",
        format!("the program `ringonce` does not run: {cause}"),
        "start `ringonce run --headless` in a terminal to see why",
    )
}
