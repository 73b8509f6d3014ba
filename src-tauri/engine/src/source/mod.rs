//! Sources: where sightings come from. A source only reports; it never decides and never sends, and it
//! knows neither the database nor the outbox.

pub mod demo;
pub mod imap;
pub mod webhook;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::error::Fault;
use crate::model::ids::{AccountId, DeliveryKey, MessageKey};
use crate::model::mailbox::FolderCursor;
use crate::model::sighting::{Report, Verdict};

/// Something that watches one place and reports what it sees.
pub trait Source: Send {
    /// Runs until `stop`, finishing the call in hand. A restart is the supervisor's business.
    fn run(self: Box<Self>, context: Context, stop: CancellationToken) -> BoxFuture<'static, Exit>;
}

/// What a source is given.
#[derive(Clone)]
pub struct Context {
    /// Takes reports.
    pub sink: Arc<dyn Sink>,
    /// Tells how it goes.
    pub health: watch::Sender<Health>,
    /// Somebody says there may be mail: look now. Capacity 1, like every wake-up.
    pub poke: Arc<Notify>,
    /// Changes when every open line has become doubtful: the computer slept, or its network is another one.
    pub woken: watch::Receiver<u64>,
    /// Now.
    pub clock: Clock,
}

/// The way into the engine. Both calls return after the commit, or not at all.
pub trait Sink: Send + Sync {
    /// Stores a report whole and says what each sighting was found to be, in order.
    fn report(&self, report: Report) -> BoxFuture<'_, Result<Vec<Found>, NotStored>>;

    /// Where a folder stands; `None` at first sight.
    fn cursor<'a>(
        &'a self,
        account_id: &'a AccountId,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Option<FolderCursor>, NotStored>>;

    /// Which of these deliveries are stored already, in order.
    fn known<'a>(&'a self, deliveries: &'a [DeliveryKey]) -> BoxFuture<'a, Result<Vec<bool>, NotStored>>;
}

/// What a sighting was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The verdict.
    pub verdict: Verdict,
    /// The mail.
    pub message_key: MessageKey,
    /// It only named a mail that a reader has to fetch.
    pub awaits_mail: bool,
}

/// A report was not stored; nothing of it was. Report it again later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Not stored: {0}")]
pub struct NotStored(pub String);

/// How a source is doing, from proof of life and not from configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Health {
    /// The state in one word.
    pub state: HealthState,
    /// How it hears of mail.
    pub method: Method,
    /// When the last whole check ended, ms UTC.
    pub last_check_at: Option<i64>,
    /// When the last mail was reported, ms UTC.
    pub last_mail_at: Option<i64>,
    /// What is wrong, if anything.
    pub error: Option<Fault>,
}

/// One word for how a source is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HealthState {
    /// Not yet checked once.
    #[default]
    Starting,
    /// A check was finished and the next event will be heard.
    Watching,
    /// The line is down; it is being tried again.
    Offline,
    /// The server refuses the credentials.
    SignIn,
    /// Something else is wrong; it is being tried again.
    Failing,
    /// The owner paused it.
    Paused,
}

impl HealthState {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Watching => "watching",
            Self::Offline => "offline",
            Self::SignIn => "sign_in",
            Self::Failing => "failing",
            Self::Paused => "paused",
        }
    }
}

/// How a source hears of mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Not known yet, or nothing is read.
    #[default]
    None,
    /// IMAP IDLE, with a safety poll.
    Idle,
    /// Asked at intervals.
    Poll,
    /// Told by others.
    Push,
}

impl Method {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Idle => "idle",
            Self::Poll => "poll",
            Self::Push => "push",
        }
    }
}

/// Why a source ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It was asked to.
    Stopped,
    /// The line broke or the server is away: start again after a pause.
    Lost(Fault),
    /// Only the owner can help.
    NeedsOwner(Fault),
}
