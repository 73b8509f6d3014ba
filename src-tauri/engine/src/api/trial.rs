//! The test of a destination: one self message, one attempt by whoever asks, past the rules, without retry, ladder or
//! fallback.

use std::collections::BTreeMap;
use std::time::Instant;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::api::history::last_error;
use crate::api::{Api, named};
use crate::channel;
use crate::channel::desktop::{Manner, Seat};
use crate::decide::reason;
use crate::kernel::Kernel;
use crate::model::destination::Destination;
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DispatchKey;
use crate::model::notification::Status;
use crate::model::topic::Topic;
use crate::outbox::{call, route};
use crate::self_message::{self, SelfMessage};
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{destination, outbox};

/// What a test brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct TestResult {
    /// The channel's id of the message, where it gives one.
    pub external_message_id: Option<String>,
    /// From the call to its answer.
    pub millis: u32,
}

/// Sends a test message to a destination as `wanted`, whatever is stored of it; that is left as it is.
///
/// # Errors
/// `test_failed` with what the channel says; `conflict`, where another destination has the same target.
pub(super) async fn run(
    api: &Api,
    wanted: &Destination,
    secrets: BTreeMap<String, SecretString>,
) -> Result<TestResult, Fault> {
    let kernel = api.kernel()?.clone();
    let settings = kernel.configuration().await?.settings.clone();
    let kind = channel::kind(&wanted.kind).ok_or_else(|| unknown_kind(&wanted.kind))?;
    let channel = (kind.build)(channel::Configured {
        fields: wanted.fields.clone(),
        secrets,
        call_timeout: settings.call_timeout,
        clock: kernel.clock.clone(),
        seat: Seat { desk: kernel.desk.clone(), manner: Manner::of(&settings) },
    })?;
    let lease_ms = i64::try_from(settings.lease.as_millis()).unwrap_or(i64::MAX);
    let (in_job, tried) = (kernel.clone(), wanted.clone());
    let row = api.change(&[Topic::History], move |tx| claim(tx, &in_job, &tried, lease_ms)).await?;
    let key = row.dispatch_key.clone();
    let began = Instant::now();
    call::deliver(&kernel, channel.as_ref(), row, settings.call_timeout).await;
    let millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
    let row = api.change(&[Topic::History, Topic::Attention], move |tx| end(tx, &key, kernel.now())).await?;
    if row.status != Status::Completed {
        return Err(failed(&row));
    }
    Ok(TestResult { external_message_id: row.external_message_id, millis })
}

/// The kind of a destination that is not there.
pub(super) fn unknown_kind(kind: &str) -> Fault {
    let kinds: Vec<&str> = channel::KINDS.iter().map(|kind| kind.id).collect();
    Fault::new(
        FaultCode::Invalid,
        "Nothing was changed",
        format!("there is no kind of destination {kind:?}"),
        format!("the kinds are: {}", kinds.join(", ")),
    )
}

/// Stores the message and takes it in hand at once, so that no lane sends it. For the length of this transaction the
/// destination stands as it is to be tested.
fn claim(tx: Tx<'_>, kernel: &Kernel, wanted: &Destination, lease_ms: i64) -> named::Named<OutboxRow> {
    let now_at = kernel.now();
    if let Some(fault) = taken(tx, wanted)? {
        return Ok(Err(fault));
    }
    let stored = destination::get(*tx, &wanted.id)?;
    destination::put(tx, wanted, now_at)?;
    kernel.reconfigure();
    let message = SelfMessage {
        local_part: format!("test.{}", uuid::Uuid::new_v4()),
        subject: "Ringonce test".to_owned(),
        body: format!("This is how {} will tell you of new mail.", wanted.name),
        ways: vec![vec![wanted.id.clone()]],
        reason: reason::TEST.to_owned(),
    };
    self_message::tell(tx, kernel, &message)?;
    // The newest due one of the destination: the one that was stored just now, at a later moment than `now_at`.
    let (token, claimed_at) = (kernel.new_token(), kernel.now());
    let claimed = outbox::claim(tx, &wanted.id, &[token], claimed_at.saturating_add(lease_ms), None, claimed_at)?;
    match stored {
        Some(stored) => destination::put(tx, &stored, now_at)?,
        None => {
            destination::mark_removed(tx, &wanted.id, now_at)?;
        }
    }
    kernel.reconfigure();
    Ok(Ok(claimed.into_iter().next().ok_or_else(StoreError::closed)?))
}

/// Another destination with the same target.
pub(super) fn taken(tx: Tx<'_>, wanted: &Destination) -> Result<Option<Fault>, StoreError> {
    let other = destination::by_recipient(*tx, &wanted.recipient)?.filter(|other| other.id != wanted.id);
    Ok(other.map(|other| {
        Fault::new(
            FaultCode::Conflict,
            "Nothing was changed",
            format!("{} ({}) has the same target", other.name, other.id),
            "change that one with `ringonce destination set`, or remove it first",
        )
    }))
}

/// What did not arrive at once is not tried again.
fn end(tx: Tx<'_>, key: &DispatchKey, now_at: i64) -> named::Named<OutboxRow> {
    let row = outbox::get(*tx, key)?.ok_or_else(StoreError::closed)?;
    if row.status != Status::Completed {
        route::cancel(tx, &row, "the test failed", now_at)?;
    }
    Ok(Ok(row))
}

fn failed(row: &OutboxRow) -> Fault {
    let error = last_error(row).map_or_else(|| "no answer came".to_owned(), |error| error.detail);
    let cause = match row.status {
        Status::Uncertain => format!("the test message may or may not have arrived ({error})"),
        _ => format!("the test message did not arrive ({error})"),
    };
    Fault::new(FaultCode::TestFailed, "Nothing was changed", cause, "correct it, or leave the test out with --no-test")
}
