//! The one command of the window: passes on the methods a window may call.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringonce_engine::api::methods::{Reach, find};
use ringonce_engine::api::view::WireFault;
use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::rpc::client::Client;
use ringonce_engine::rpc::reach::running;
use serde_json::{Value, json};
use tauri::{AppHandle, State};
use tokio::sync::{Notify, watch};

use crate::{asking, links};

/// Connections that are kept for the next call.
const IDLE_MAX: usize = 4;
/// A window that opens asks before the resident program listens.
const FIND_WAIT: Duration = Duration::from_secs(25);
/// A window that goes is not held up by a program that hangs.
const LEAVE_WAIT: Duration = Duration::from_secs(1);

/// The way to the resident program. A call takes a connection of its own, so that a slow one holds up no other.
pub(crate) struct Bridge {
    data_dir: PathBuf,
    idle: Mutex<Vec<Client>>,
    state: watch::Sender<Known>,
    /// The window is about to go.
    pub(crate) closing: Notify,
    /// The resident program knows that it goes.
    pub(crate) closed: Notify,
}

/// What is known of the resident program.
#[derive(Debug, Clone)]
enum Known {
    Nothing,
    Running,
    Lost(Fault),
}

impl Bridge {
    /// Nothing is known yet of the program on that folder.
    pub(crate) fn new(data_dir: PathBuf) -> Self {
        Self {
            data_dir,
            idle: Mutex::default(),
            state: watch::Sender::new(Known::Nothing),
            closing: Notify::new(),
            closed: Notify::new(),
        }
    }

    /// It listens.
    pub(crate) fn found(&self) {
        self.state.send_replace(Known::Running);
    }

    /// It is gone, with every connection to it.
    pub(crate) fn lost(&self, fault: Fault) {
        self.idle().clear();
        self.state.send_replace(Known::Lost(fault));
    }

    /// Tells the resident program that the window goes; does not wait for one that does not answer.
    pub(crate) async fn leave(&self) {
        self.closing.notify_one();
        let _ = tokio::time::timeout(LEAVE_WAIT, self.closed.notified()).await;
    }

    /// Calls a method of the engine.
    pub(crate) async fn engine(&self, method: &str, params: Value) -> Result<Value, Fault> {
        let mut client = self.client().await?;
        let answer = client.call(method, params).await;
        let broken = answer.as_ref().is_err_and(|fault| fault.code == FaultCode::NotRunning);
        let mut idle = self.idle();
        if !broken && idle.len() < IDLE_MAX {
            idle.push(client);
        }
        answer
    }

    async fn client(&self) -> Result<Client, Fault> {
        let mut state = self.state.subscribe();
        let known =
            async { state.wait_for(|known| !matches!(known, Known::Nothing)).await.ok().map(|known| known.clone()) };
        if let Ok(Some(Known::Lost(fault))) = tokio::time::timeout(FIND_WAIT, known).await {
            return Err(fault);
        }
        let kept = self.idle().pop();
        match kept {
            Some(client) => Ok(client),
            None => running(&self.data_dir).await.ok_or_else(not_running),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the pages call: a method of the engine, or one of the few that this program does itself.
///
/// # Errors
/// `not_found` for a method that a window may not call, else what the method says.
#[tauri::command]
pub(crate) async fn call(
    app: AppHandle,
    bridge: State<'_, Bridge>,
    method: String,
    params: Value,
) -> Result<Value, WireFault> {
    let bridge = bridge.inner();
    let done = match method.as_str() {
        "link.open" => open(&params),
        "data.export" => asking::export(&app, bridge).await,
        "data.report" => asking::report(&app, bridge).await,
        _ => pass(&app, bridge, &method, params).await,
    };
    done.map_err(WireFault::from)
}

async fn pass(app: &AppHandle, bridge: &Bridge, method: &str, params: Value) -> Result<Value, Fault> {
    if find(method).is_none_or(|method| method.reach != Reach::Window) {
        return Err(Fault::new(
            FaultCode::NotFound,
            "Nothing was done",
            format!("a window may not call {method:?}"),
            "please report this",
        ));
    }
    // A page that went wrong must not be able to run programs: the owner is asked outside of it.
    if let Some(command) = asking::command_of(&params)
        && !asking::may_run(app, bridge, command).await
    {
        return Err(Fault::new(
            FaultCode::Invalid,
            "Nothing was changed",
            "the program was not allowed to run",
            "allow it, or use another kind of destination",
        ));
    }
    bridge.engine(method, params).await
}

fn open(params: &Value) -> Result<Value, Fault> {
    links::open(params.get("url").and_then(Value::as_str).unwrap_or_default())?;
    Ok(json!({}))
}

fn not_running() -> Fault {
    Fault::new(
        FaultCode::NotRunning,
        "Nothing was done",
        "the program that watches does not answer",
        "wait a moment and try again",
    )
}
