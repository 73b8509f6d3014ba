//! What tests of channels share: a job, a gate that counts, and a configured channel.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use secrecy::SecretString;

use crate::channel::configure::configure;
use crate::channel::desktop::Seat;
use crate::channel::{Channel, Configured, Gate, Job, Kind};
use crate::clock::Clock;
use crate::model::error::Fault;
use crate::model::notification::{AttemptOutcome, ErrorCode, Payload};

/// The key of [`job`].
pub(crate) const KEY: &str = "4a5be60cd64ae04c76d1e7ef3a2ff4ad0b6f6e9c9d0bb0a1f4b7a3c1d2e3f405";
/// Where the clock of [`build`] stands.
pub(crate) const NOW_AT: i64 = 1_700_000_000_000;

/// A gate that counts how often it was asked.
#[derive(Default)]
pub(crate) struct Counted {
    asked: AtomicUsize,
    shut: AtomicBool,
}

impl Counted {
    /// One that lets nothing through.
    pub(crate) fn shut() -> Self {
        Self { asked: AtomicUsize::new(0), shut: AtomicBool::new(true) }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Gate for Counted {
    fn open(&self) -> BoxFuture<'_, bool> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        futures_util::future::ready(!self.shut.load(Ordering::SeqCst)).boxed()
    }
}

/// One attempt to be made.
pub(crate) fn job() -> Job {
    let payload = Payload {
        title: "Anna: Hällo".to_owned(),
        body: "First \"words\"".to_owned(),
        from: "Anna <anna@example.com>".to_owned(),
        subject: "Hällo".to_owned(),
        mailbox_id: "owner@example.com".into(),
        sent_at: "2026-01-02T03:04:05Z".to_owned(),
        link: String::new(),
        message_key: "m1".into(),
        operation_key: "o1".into(),
        dispatch_key: KEY.into(),
    };
    Job { payload, may_be_repeat: false }
}

/// A channel from fields and secrets as the owner gives them.
pub(crate) fn build(kind: &Kind, fields: &[(&str, &str)], secrets: &[(&str, &str)]) -> Result<Arc<dyn Channel>, Fault> {
    build_within(kind, fields, secrets, Duration::from_secs(10))
}

/// The same with a call timeout.
pub(crate) fn build_within(
    kind: &Kind,
    fields: &[(&str, &str)],
    secrets: &[(&str, &str)],
    call_timeout: Duration,
) -> Result<Arc<dyn Channel>, Fault> {
    let given: BTreeMap<String, String> = fields.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let secrets: BTreeMap<String, SecretString> =
        secrets.iter().map(|(k, v)| ((*k).to_owned(), SecretString::from((*v).to_owned()))).collect();
    let fields = configure(kind, &given, &secrets)?.fields;
    (kind.build)(Configured { fields, secrets, call_timeout, clock: Clock::manual(NOW_AT), seat: Seat::default() })
}

/// The outcome's word and its error's code, for tables.
pub(crate) fn short(outcome: &AttemptOutcome) -> (&'static str, Option<ErrorCode>) {
    (outcome.as_str(), outcome.error().map(|error| error.code))
}
