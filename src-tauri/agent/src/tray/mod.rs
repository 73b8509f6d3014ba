//! The tray icon: shows how everything is doing, and takes what its owner clicks.
//!
//! What it shows is in [`mod@face`]; how this system shows it, in [`linux`]: an [`linux::Item`] that is given faces and
//! sends [`Action`]s. It is refreshed when the engine says that something changed.

mod face;
mod icon;
mod linux;
mod panel;
mod words;

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ringonce_engine::api::view::Nothing;
use ringonce_engine::api::watch::{self, PauseParams};
use ringonce_engine::api::{Api, status};
use ringonce_engine::kernel::Kernel;
use ringonce_engine::model::error::Fault;
use ringonce_engine::model::topic::Topic;
use ringonce_engine::supervise::windows::{TrayState, Windows};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::tray::face::Face;
use crate::tray::icon::Ink;
use crate::tray::linux::Item;
use crate::tray::panel::Panel;
use crate::tray::words::Words;

/// After a change others follow; and the tray is refreshed at most this often.
const REFRESH_PAUSE: Duration = Duration::from_millis(200);
/// Without a session bus one is looked for this often.
const BUS_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// The click on Quit is answered before the program is gone: the panel would wait for that.
const REPLY_WAIT: Duration = Duration::from_millis(100);
/// Where the window shows what needs attention.
const ATTENTION: &str = "#/attention";

/// What the owner clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Open,
    Attention,
    CheckNow,
    /// For so many minutes; `None`: until tomorrow.
    Pause(Option<u32>),
    Resume,
    Quit,
}

/// Shows the tray icon until this is dropped; `stop` is cancelled when the owner quits.
pub(crate) async fn run(api: &Api, kernel: &Kernel, windows: &Windows, stop: &CancellationToken) {
    let (actions, mut clicked) = unbounded_channel();
    let mut topics = kernel.topics.subscribe();
    let mut seen = windows.tray();
    let mut panel = Panel::default();
    let mut item: Option<Item> = None;
    loop {
        match face(api, kernel).await {
            Ok(face) => show(&mut item, face, panel.ink(), &actions, windows).await,
            Err(fault) => tracing::warn!("The tray is not refreshed: {fault}"),
        }
        let clicked = tokio::select! {
            action = clicked.recv() => Some(action.unwrap_or(Action::Quit)),
            () = concerning(&mut topics) => {
                sleep(REFRESH_PAUSE).await;
                None
            }
            () = panel.changed() => None,
            changed = seen.changed() => {
                if changed.is_ok() {
                    kernel.changed(&[Topic::Status]);
                }
                None
            }
            () = sleep(BUS_AGAIN_AFTER), if item.is_none() => None,
        };
        match clicked {
            Some(Action::Quit) => break,
            Some(action) => act(api, windows, action).await,
            None => {}
        }
    }
    sleep(REPLY_WAIT).await;
    if let Some(item) = item {
        item.end().await;
    }
    stop.cancel();
}

async fn show(item: &mut Option<Item>, face: Face, ink: Ink, actions: &UnboundedSender<Action>, windows: &Windows) {
    match item {
        Some(item) => item.show(face, ink).await,
        None => match Item::new(face, ink, actions.clone(), windows.clone()).await {
            Ok(new) => *item = Some(new),
            Err(error) => {
                tracing::warn!("There is no tray icon: {error}");
                windows.set_tray(TrayState::NoHost);
            }
        },
    }
}

async fn face(api: &Api, kernel: &Kernel) -> Result<Face, Fault> {
    let status = status::get(api, Nothing {}).await?;
    let words = Words::of(kernel.configuration().await?.settings.language.language());
    Ok(Face::of(&status, words, Timestamp::now(), &TimeZone::system()))
}

async fn act(api: &Api, windows: &Windows, action: Action) {
    let done = match action {
        Action::Open => windows.open(None).await,
        Action::Attention => windows.open(Some(ATTENTION.to_owned())).await,
        Action::CheckNow => watch::check_now(api, Nothing {}).await.map(|_| ()),
        Action::Pause(minutes) => watch::pause(api, PauseParams { minutes }).await.map(|_| ()),
        Action::Resume => watch::resume(api, Nothing {}).await.map(|_| ()),
        Action::Quit => Ok(()),
    };
    if let Err(fault) = done {
        tracing::error!("{fault}");
    }
}

/// Something changed that the tray shows.
async fn concerning(topics: &mut Receiver<Topic>) {
    loop {
        match topics.recv().await {
            Ok(Topic::Status | Topic::Mailboxes | Topic::Destinations | Topic::Attention | Topic::Settings) => break,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => break,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
