//! One call: a claimed notification goes out by its channel, and what came of it is settled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::channel::{Channel, Gate, Job};
use crate::crash;
use crate::kernel::Kernel;
use crate::model::ids::{DispatchKey, LeaseToken};
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode, Payload};
use crate::outbox::settle::{self, Ended};
use crate::outbox::status;
use crate::store::table::attempt;
use crate::store::table::outbox::OutboxRow;

/// A channel keeps its own limit; this ends one that does not.
const GRACE: Duration = Duration::from_secs(2);

/// Sends a claimed notification and settles it.
pub async fn deliver(kernel: &Kernel, channel: &dyn Channel, row: OutboxRow, call_timeout: Duration) {
    let Some(token) = row.lease_token.clone() else { return };
    let in_hand = kernel.take_in_hand(&token);
    let outcome = attempt_once(kernel, channel, &row, &token, call_timeout).await;
    crash::point("answer_read");
    tracing::debug!(outcome = outcome.as_str(), "Notification {} tried", row.dispatch_key);
    settle::settle(kernel, Ended { dispatch_key: row.dispatch_key, token, outcome }).await;
    drop(in_hand);
}

async fn attempt_once(
    kernel: &Kernel,
    channel: &dyn Channel,
    row: &OutboxRow,
    token: &LeaseToken,
    call_timeout: Duration,
) -> AttemptOutcome {
    let Ok(payload) = serde_json::from_str::<Payload>(&row.payload) else {
        let error = ChannelError::new(ErrorCode::InvalidPayload, "The stored text cannot be read");
        return AttemptOutcome::Rejected { error };
    };
    let job = Job { payload, may_be_repeat: row.may_be_repeat };
    let gate = Mark {
        kernel,
        dispatch_key: &row.dispatch_key,
        token,
        needed: !status::key_protects(row, channel.class(), kernel.now()),
        passed: AtomicBool::new(false),
    };
    let call = std::panic::AssertUnwindSafe(channel.send(&job, &gate)).catch_unwind();
    match tokio::time::timeout(call_timeout + GRACE, call).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => gate.cut_short("The channel panicked"),
        Err(_) => gate.cut_short("The call took too long"),
    }
}

/// Records that bytes will leave, where the key alone does not protect.
struct Mark<'a> {
    kernel: &'a Kernel,
    dispatch_key: &'a DispatchKey,
    token: &'a LeaseToken,
    needed: bool,
    passed: AtomicBool,
}

impl Mark<'_> {
    fn cut_short(&self, detail: &str) -> AttemptOutcome {
        let error = ChannelError::new(ErrorCode::NoAnswer, detail);
        if self.passed.load(Ordering::SeqCst) {
            AttemptOutcome::Unknown { error }
        } else {
            AttemptOutcome::Deferred { error, retry_after: None, environment: false }
        }
    }
}

impl Gate for Mark<'_> {
    fn open(&self) -> BoxFuture<'_, bool> {
        async move {
            let opened = !self.needed || self.write().await;
            self.passed.store(opened, Ordering::SeqCst);
            opened
        }
        .boxed()
    }
}

impl Mark<'_> {
    async fn write(&self) -> bool {
        let (kernel, key, token) = (self.kernel.clone(), self.dispatch_key.clone(), self.token.clone());
        let marked = self
            .kernel
            .store
            .write(move |tx| {
                crash::point("mark_before_commit");
                attempt::mark_payload_started(tx, &key, &token, kernel.now())
            })
            .await;
        if marked.is_ok() {
            crash::point("mark_after_commit");
        }
        marked.unwrap_or_else(|error| {
            tracing::error!("Notification {} is not sent, its mark was not written: {error}", self.dispatch_key);
            false
        })
    }
}
