//! A test through everything: one message of Ringonce itself that goes as a mail goes, with outbox, retries and history.
//! (`trial` is the other test: one attempt at a destination before it is kept.)

use serde::{Deserialize, Serialize};

use crate::api::notification::nobody;
use crate::api::{Api, named};
use crate::decide::{self, Rulebook, reason};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DestinationId;
use crate::model::topic::Topic;
use crate::self_message::{self, SelfMessage};
use crate::store::Read;

/// Parameters of `test.send`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "TestSendParams", optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct SendParams {
    /// Only to this one, by id or name; else as the last rule tells a mail.
    pub destination: Option<String>,
}

/// What `test.send` gives: what became of it is said by `explain.get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct SentTest {
    /// The message.
    pub message_key: String,
}

/// Sends one message to every destination that is not only a fallback, or to one. Those that are paused are left out:
/// a test that waits for its owner says nothing.
///
/// # Errors
/// `not_found`; `conflict`, where nobody would be told.
pub async fn send(api: &Api, params: SendParams) -> Result<SentTest, Fault> {
    let kernel = api.kernel()?.clone();
    api.change(&[Topic::History, Topic::Status], move |tx| {
        let rulebook = kernel.configured(*tx)?;
        let ways = match ways(*tx, params.destination.as_deref(), &rulebook.rulebook)? {
            Ok(ways) if ways.is_empty() => return Ok(Err(nobody())),
            Ok(ways) => ways,
            Err(fault) => return Ok(Err(fault)),
        };
        let message = SelfMessage {
            local_part: format!("test.{}", uuid::Uuid::new_v4()),
            subject: "Ringonce test".to_owned(),
            body: "This is how Ringonce will tell you of new mail.".to_owned(),
            ways,
            reason: reason::TEST.to_owned(),
        };
        let told = self_message::tell(tx, &kernel, &message)?;
        Ok(Ok(SentTest { message_key: told.message_key.0 }))
    })
    .await
}

fn ways(read: Read<'_>, only: Option<&str>, rulebook: &Rulebook) -> named::Named<Vec<Vec<DestinationId>>> {
    let Some(name) = only else {
        let runs = |id: &DestinationId| rulebook.destinations.iter().any(|one| one.id == *id && one.paused.is_none());
        return Ok(Ok(decide::all_ways(rulebook).into_iter().filter(|way| way.first().is_some_and(runs)).collect()));
    };
    Ok(match named::destination(read, name)? {
        Ok(found) if found.paused.is_some() => Err(Fault::new(
            FaultCode::Conflict,
            "No test was sent",
            format!("{} is paused", found.name),
            format!("resume it first: ringonce destination resume {}", found.id),
        )),
        Ok(found) => Ok(vec![vec![found.id]]),
        Err(fault) => Err(fault),
    })
}
