//! `ringonce run --demo`: scripted mails and this terminal as the destination, on a data folder of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ringonce_engine::api::destination::{AddParams as AddDestination, DestinationView};
use ringonce_engine::api::history::WatchRow;
use ringonce_engine::api::mailbox::{AddParams as AddMailbox, MailboxView};
use ringonce_engine::api::mailbox_server::ServerParams;
use ringonce_engine::api::view::{Id, Nothing};
use ringonce_engine::clock::Clock;
use ringonce_engine::kernel::random_hex;
use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::model::happening::Happening;
use ringonce_engine::rpc::lock::prepare;
use ringonce_engine::source::demo::Demo;
use ringonce_engine::source::{Context, Health, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, watch as health_watch};
use tokio_util::sync::CancellationToken;

use crate::cli::failure::{Done, Failure};
use crate::cli::run::{Resident, Secrets};
use crate::cli::session::view;
use crate::cli::{Global, log, out, watch};

const EMAIL: &str = "demo@example.com";
const DESTINATION: &str = "this terminal";
/// What the destination runs: it takes everything, and what rings is printed by us.
const TAKES_ALL: &str = "true";
/// Between two reports: long enough to read a line.
const PAUSE: Duration = Duration::from_millis(600);

/// Plays the demo until a signal comes.
pub(crate) async fn run(global: &Global, ready_file: Option<PathBuf>) -> Done {
    let folder = Folder::new(global)?;
    log::to_files(&folder.path)?;
    let resident = Resident::start(&folder.path, Secrets::InMemory).await?;
    let done = match stage(&resident).await {
        Ok(mailbox) => resident.serve(play(global, &resident, mailbox, ready_file)).await,
        Err(fault) => Err(fault.into()),
    };
    resident.end().await;
    done
}

async fn play(global: &Global, resident: &Resident, mailbox: Id, ready_file: Option<PathBuf>) -> Done {
    let kernel = resident.engine.kernel();
    let happened = kernel.happened.subscribe();
    if !global.json {
        out::line(
            "Mails arrive, some of them are reported twice or by two paths. Each rings once. Ctrl-C ends the demo.",
        )?;
        out::line("ready")?;
    }
    if let Some(path) = ready_file {
        std::fs::write(path, "ready\n")?;
    }
    let (health, mut played) = health_watch::channel(Health::default());
    let (_never, woken) = health_watch::channel(0);
    let context = Context {
        sink: Arc::new(kernel.clone()),
        health,
        poke: Arc::new(Notify::new()),
        woken,
        clock: Clock::system(),
    };
    let demo = Demo { account_id: mailbox.id.into(), mailbox_id: EMAIL.into(), run: random_hex(4), pause: PAUSE };
    let source = Box::new(demo).run(context, CancellationToken::new());
    let ending = async {
        let ended = played.wait_for(|health| health.last_check_at.is_some()).await.is_ok();
        if ended && !global.json {
            out::line("That was the demo. Watch a mailbox of yours: ringonce mailbox add --email YOU --host SERVER")?;
        }
        std::future::pending::<Done>().await
    };
    tokio::select! {
        _ = source => Ok(()),
        done = print(global, happened) => done,
        done = ending => done,
    }
}

async fn print(global: &Global, mut happened: Receiver<Happening>) -> Done {
    loop {
        match happened.recv().await {
            Ok(happening) => watch::print(global, WatchRow::from(happening))?,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return Ok(()),
        }
    }
}

/// The mailbox and the destination of the demo. A data folder that holds anything else is the owner's: the demo would
/// ring there.
async fn stage(resident: &Resident) -> Result<Id, Fault> {
    let mailboxes: Vec<MailboxView> = call(resident, "mailbox.list", &Nothing {}).await?;
    let destinations: Vec<DestinationView> = call(resident, "destination.list", &Nothing {}).await?;
    let strange = mailboxes.iter().any(|row| row.status.email != EMAIL)
        || destinations.iter().any(|row| row.status.name != DESTINATION);
    if strange {
        return Err(Fault::new(
            FaultCode::Conflict,
            "The demo was not started",
            "this data folder has mailboxes or destinations of yours",
            "leave --data-dir out: the demo makes a folder of its own",
        ));
    }
    if destinations.is_empty() {
        let destination = AddDestination {
            kind: "command".to_owned(),
            name: DESTINATION.to_owned(),
            fields: BTreeMap::from([("command".to_owned(), TAKES_ALL.to_owned())]),
            secrets: BTreeMap::new(),
            policy: None,
            privacy: None,
            max_age_seconds: None,
            fallback_only: false,
            test: false,
        };
        call::<Id>(resident, "destination.add", &destination).await?;
    }
    if let Some(row) = mailboxes.into_iter().next() {
        return Ok(Id { id: row.status.id });
    }
    let mailbox = AddMailbox {
        email: EMAIL.to_owned(),
        mailbox_id: None,
        server: ServerParams { no_imap: true, ..ServerParams::default() },
        folders: Vec::new(),
        link_template: None,
        password: None,
        test: false,
    };
    call(resident, "mailbox.add", &mailbox).await
}

async fn call<T: DeserializeOwned>(resident: &Resident, method: &str, params: &impl Serialize) -> Result<T, Fault> {
    let params = serde_json::to_value(params).unwrap_or_default();
    view(method, resident.api.call(method, params).await?)
}

/// The data folder: a given one, or one that goes with the demo.
struct Folder {
    path: PathBuf,
    ours: bool,
}

impl Folder {
    fn new(global: &Global) -> Result<Self, Failure> {
        let (path, ours) = match &global.data_dir {
            Some(given) => (given.clone(), false),
            None => (std::env::temp_dir().join(format!("ringonce-demo-{}", random_hex(6))), true),
        };
        Ok(Self { path: prepare(Path::new(&path))?, ours })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.ours {
            // What cannot be removed stays in the folder for temporary files, where the system clears up.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
