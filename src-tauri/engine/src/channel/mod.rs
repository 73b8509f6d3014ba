//! Channels: the kinds of transport to a phone or chat. A channel sends what it is given; it knows neither
//! the database nor rules. A new channel is one file and one line in [`KINDS`].

pub mod command;
pub mod configure;
pub mod desktop;
mod http_call;
pub mod http_outcome;
mod json;
pub mod ntfy;
mod text;
#[cfg(test)]
mod trial;
pub mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use secrecy::SecretString;

use crate::channel::desktop::Seat;
use crate::clock::Clock;
use crate::model::destination::Policy;
use crate::model::error::Fault;
use crate::model::ids::DispatchKey;
use crate::model::notification::{AttemptOutcome, ChannelError, Payload};

/// Every channel there is.
pub const KINDS: &[&Kind] = &[&webhook::KIND, &ntfy::KIND, &command::KIND, &desktop::KIND];

/// What a channel is and can do. The form, the list, rules, tests and help are all drawn from it.
pub struct Kind {
    /// Stable id, e.g. `ntfy`.
    pub id: &'static str,
    /// Message key of its name for people.
    pub name_key: &'static str,
    /// Class of a destination, from its fields; without any it is that of the plain kind.
    pub classify: fn(&BTreeMap<String, String>) -> Class,
    /// How long the channel remembers a key (class A).
    pub window: Option<Duration>,
    /// It can be asked what became of a key.
    pub lookup: bool,
    /// A notification can be taken back.
    pub retract: bool,
    /// What a message may measure.
    pub limits: Limits,
    /// What is done with an unknown outcome until the owner says otherwise.
    pub policy: Policy,
    /// And from which age on a notification is not sent any more, in seconds.
    pub max_age_seconds: Option<i64>,
    /// What the owner fills in.
    pub fields: &'static [Field],
    /// Makes one from its fields.
    pub build: fn(Configured) -> Result<Arc<dyn Channel>, Fault>,
}

/// What can be done about an attempt whose answer was lost (channels.md section 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The channel drops a repeat of a key inside a window.
    A {
        /// How long it remembers, from the first attempt.
        window: Duration,
    },
    /// The channel can be asked.
    B {
        /// How long back it can answer.
        look_back: Duration,
    },
    /// Neither.
    C,
}

/// What a message may measure; longer ones are cut at a character, with an ellipsis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the title.
    pub title_bytes_max: usize,
    /// Bytes of the text.
    pub body_bytes_max: usize,
}

/// One field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// As on the command line, `--set KEY=VALUE`.
    pub key: &'static str,
    /// Goes to the secret store, never to the database.
    pub secret: bool,
    /// Makes the recipient.
    pub target: bool,
    /// Must be given.
    pub required: bool,
    /// Used where it is not given.
    pub default: Option<&'static str>,
    /// What its value looks like.
    pub form: Form,
}

/// What the value of a field looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An http or https URL.
    Url,
    /// Any one line.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number, both ends included.
    Number {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
}

/// What a channel is made from.
pub struct Configured {
    /// Fields that are not secret, checked and with defaults.
    pub fields: BTreeMap<String, String>,
    /// Secret fields that were given.
    pub secrets: BTreeMap<String, SecretString>,
    /// Longest call.
    pub call_timeout: Duration,
    /// Now.
    pub clock: Clock,
    /// This computer.
    pub seat: Seat,
}

/// One attempt to be made.
#[derive(Debug, Clone)]
pub struct Job {
    /// What to tell; its `dispatch_key` is the idempotency key.
    pub payload: Payload,
    /// The repeat of one that may have arrived (policy "never lost").
    pub may_be_repeat: bool,
}

/// The last question before the first byte of the message leaves.
pub trait Gate: Send + Sync {
    /// Records that bytes will leave now. `false`: the lease is lost; send nothing and return
    /// [`AttemptOutcome::Abandoned`]. Called once, after the connection stands and before the request is written.
    fn open(&self) -> BoxFuture<'_, bool>;
}

/// What a channel says of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// It has it.
    Found {
        /// The channel's id of it.
        external_id: Option<String>,
    },
    /// It answered, and the key is not there.
    Absent,
    /// It answered in a way that proves nothing (no read access, no cache).
    CannotTell(ChannelError),
    /// It could not be asked now.
    Failed(ChannelError),
}

/// A configured channel.
pub trait Channel: Send + Sync {
    /// Its class as configured.
    fn class(&self) -> Class;

    /// Makes one attempt, within the call timeout, and says what came of it. Never panics, never retries.
    fn send<'a>(&'a self, job: &'a Job, gate: &'a dyn Gate) -> BoxFuture<'a, AttemptOutcome>;

    /// Asks what can be asked without telling anybody anything: does it answer, are the credentials good.
    fn check(&self) -> BoxFuture<'_, Result<(), Fault>>;

    /// Asks what became of a key that was sent not before `sent_at` (ms UTC). Channels without lookup cannot tell.
    fn lookup<'a>(&'a self, key: &'a DispatchKey, sent_at: i64) -> BoxFuture<'a, Lookup>;
}

/// The kind of an id.
#[must_use]
pub fn kind(id: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.id == id).copied()
}

/// The class of a destination; of a kind this program does not know the most careful one.
#[must_use]
pub fn class(kind_id: &str, fields: &BTreeMap<String, String>) -> Class {
    kind(kind_id).map_or(Class::C, |kind| (kind.classify)(fields))
}
