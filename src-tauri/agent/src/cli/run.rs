//! `ringonce run`: the resident program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ringonce_engine::api::Api;
use ringonce_engine::api::mailbox::MailboxView;
use ringonce_engine::api::settings::SecretsParams;
use ringonce_engine::api::view::Nothing;
use ringonce_engine::clock::Clock;
use ringonce_engine::engine::Engine;
use ringonce_engine::model::error::Fault;
use ringonce_engine::rpc::lock::prepare;
use ringonce_engine::rpc::reach::own;
use ringonce_engine::rpc::server::Server;
use ringonce_engine::secret::choice::Choice;
use ringonce_engine::secret::kept::KeptSecrets;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::failure::{Done, Failure};
use crate::cli::session::{data_dir, view};
use crate::cli::{Global, demo, log, out, words};

/// A mailbox that says nothing for so long is named as not watched.
const READY_WAIT: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
pub(crate) struct Run {
    /// Without tray and window: the log goes to standard error instead of files in the data folder.
    #[arg(long, required_unless_present = "demo")]
    headless: bool,
    /// Play a few scripted mails, on a data folder of its own.
    #[arg(long, conflicts_with = "headless")]
    demo: bool,
    /// Also write what `ready` says into this file.
    #[arg(long, value_name = "F")]
    ready_file: Option<PathBuf>,
}

pub(crate) async fn run(global: &Global, run: Run) -> Done {
    if run.demo {
        return demo::run(global, run.ready_file).await;
    }
    let data_dir = prepare(&data_dir(global)?)?;
    log::to_stderr();
    let resident = Resident::start(&data_dir, Secrets::Chosen(global.secrets.clone())).await?;
    let ready = async {
        let not_watched = resident.not_watched().await?;
        let ready = sentence(&not_watched);
        if let Some(path) = &run.ready_file {
            std::fs::write(path, format!("{ready}\n"))?;
        }
        if global.json { out::json(&json!({"ready": true, "not_watched": not_watched})) } else { out::line(&ready) }
    };
    let done = resident.serve(ready).await;
    resident.end().await;
    done
}

/// Where secrets are.
pub(crate) enum Secrets {
    /// Where the owner says, or said before.
    Chosen(Option<Choice>),
    /// Nowhere: they go with the program.
    InMemory,
}

/// Everything that runs on one data folder, in the order in which it ends.
pub(crate) struct Resident {
    pub(crate) engine: Engine,
    pub(crate) api: Api,
    server: Server,
    stop: CancellationToken,
    _lock: ringonce_engine::rpc::lock::DataLock,
}

impl Resident {
    /// Takes the folder and starts on it.
    pub(crate) async fn start(data_dir: &Path, secrets: Secrets) -> Result<Self, Failure> {
        let mut lock = own(data_dir).await?;
        let choice = match &secrets {
            Secrets::Chosen(choice) => choice.clone(),
            Secrets::InMemory => None,
        };
        let kept = |stored: Option<&str>| match &secrets {
            Secrets::Chosen(choice) => KeptSecrets::new(stored, choice.as_ref()),
            Secrets::InMemory => Ok(KeptSecrets::in_memory()),
        };
        let engine = Engine::start(data_dir, kept, Clock::system()).await?;
        let api = Api::new(engine.kernel().clone(), engine.secrets().clone(), Some(engine.live().clone()));
        let listening = async {
            if let Some(choice) = choice {
                let params = SecretsParams { choice: choice.to_string() };
                api.call("settings.secrets", serde_json::to_value(params).unwrap_or_default()).await?;
            }
            let runtime_dir = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
            Server::bind(&mut lock, data_dir, runtime_dir.as_deref())
        };
        match listening.await {
            Ok(server) => Ok(Self { engine, api, server, stop: CancellationToken::new(), _lock: lock }),
            Err(fault) => {
                engine.stop().await;
                Err(fault.into())
            }
        }
    }

    /// Works until a signal comes, it is told to stop, or `meanwhile` fails.
    pub(crate) async fn serve(&self, meanwhile: impl Future<Output = Done>) -> Done {
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let stop = &self.stop;
        let until_signal = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                () = stop.cancelled() => {}
            }
            tracing::info!("Stopping");
        };
        let work = async {
            // Whoever reads what is printed may go; the watching does not end with that.
            let failed = match meanwhile.await {
                Ok(()) | Err(Failure::Unread) => None,
                Err(failure) => Some(failure),
            };
            if failed.is_none() {
                std::future::pending::<()>().await;
            }
            failed
        };
        let ended = async {
            let failed = tokio::select! {
                () = until_signal => None,
                failed = work => failed,
            };
            stop.cancel();
            failed
        };
        let ((), failed) = tokio::join!(self.server.serve(&self.api, stop), ended);
        failed.map_or(Ok(()), Err)
    }

    /// Stops the work when it is cancelled.
    pub(crate) fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Stops in order; the folder is free when this returns.
    pub(crate) async fn end(self) {
        let Self { engine, api, server, _lock: lock, .. } = self;
        engine.stop().await;
        // The database is closed with its last user, and only then may another program have the folder.
        drop((api, server, lock));
    }

    /// Waits until every mailbox is watched or says why not; gives those that are not, with the reason.
    pub(crate) async fn not_watched(&self) -> Result<Vec<Value>, Fault> {
        self.engine.ready(READY_WAIT).await?;
        let rows = self.api.call("mailbox.list", serde_json::to_value(Nothing {}).unwrap_or_default()).await?;
        let rows: Vec<MailboxView> = view("mailbox.list", rows)?;
        let not_watched = rows.into_iter().map(|row| row.status).filter(|status| status.state != "watching");
        Ok(not_watched
            .map(|status| {
                let error = status.error.map_or_else(|| words::state(&status.state).to_owned(), |error| error.detail);
                json!({"mailbox": status.email, "state": status.state, "reason": error})
            })
            .collect())
    }
}

/// `ready`, and on the same line which mailboxes are not watched.
fn sentence(not_watched: &[Value]) -> String {
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let rows = not_watched.iter().map(|row| format!("{}: {}", text(row, "mailbox"), text(row, "reason")));
    let rows: Vec<String> = rows.collect();
    if rows.is_empty() {
        "ready".to_owned()
    } else {
        words::one_line(&format!("ready, but not watched: {}", rows.join(" · ")))
    }
}
