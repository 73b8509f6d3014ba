//! `ringonce ingest` and `ringonce identify`

use std::io::Read;
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use ringonce_engine::api::ingest::{Put, PutParams};
use ringonce_engine::identity::identify;
use ringonce_engine::limits::IDENTITY_PREFIX_BYTES;
use ringonce_engine::mail::{self, Completeness};
use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::model::ids::MailboxId;
use ringonce_engine::model::sighting::ProviderId;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::{Global, out, words};

#[derive(clap::Args)]
pub(crate) struct Ingest {
    /// The mailbox it belongs to, by id or address.
    #[arg(long, value_name = "ID")]
    mailbox: String,
    /// What its source is called.
    #[arg(long, value_name = "webhook|imap|…", default_value = "ingest")]
    path: String,
    /// Names the event; without it each call is a new one.
    #[arg(long, value_name = "X")]
    delivery_id: Option<String>,
    /// An id the provider gave the mail; may be given several times, best first.
    #[arg(long = "provider-id", value_name = "KIND:VALUE", value_parser = parse_provider_id)]
    provider_ids: Vec<ProviderId>,
    /// When the provider received it, RFC 3339.
    #[arg(long, value_name = "T")]
    received_at: Option<Timestamp>,
    /// The mail; `-` is standard input.
    file: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct Identify {
    /// Scope of keys.
    #[arg(long, value_name = "TEXT")]
    mailbox: String,
    /// An id the provider gave the mail; may be given several times, best first.
    #[arg(long = "provider-id", value_name = "KIND:VALUE", value_parser = parse_provider_id)]
    provider_ids: Vec<ProviderId>,
    /// The mail; `-` is standard input.
    file: PathBuf,
}

pub(crate) async fn run(global: &Global, ingest: Ingest) -> Done {
    let params = PutParams {
        mailbox: ingest.mailbox,
        path: ingest.path,
        delivery_id: ingest.delivery_id,
        provider_ids: ingest.provider_ids.iter().map(ToString::to_string).collect(),
        received_at: ingest.received_at.map(|at| at.to_string()),
        mail: BASE64_STANDARD.encode(read(&ingest.file)?),
    };
    let put = call(global, "ingest.put", &params).await?;
    if global.json {
        return out::json(&put);
    }
    let put: Put = view("ingest.put", put)?;
    print(&[
        ("delivery_key", Some(put.delivery_key)),
        ("verdict", Some(put.verdict)),
        ("message_key", Some(put.message_key)),
        ("operation_key", Some(put.operation_key)),
        ("decision", Some(format!("{} ({})", put.decision, put.reason))),
    ])
}

pub(crate) fn show(global: &Global, command: Identify) -> Done {
    let facts = mail::read(&read(&command.file)?, Completeness::Mail);
    let identity = identify(&MailboxId(command.mailbox), &command.provider_ids, &facts);
    if global.json {
        let value = serde_json::to_value(&identity).map_err(std::io::Error::from)?;
        return out::json(&value);
    }
    print(&[
        ("mailbox_id", Some(identity.mailbox_id.0)),
        ("identity", Some(identity.identity.to_owned())),
        ("provider_id", identity.provider_id),
        ("message_id", identity.message_id),
        ("from", Some(identity.from)),
        ("subject", Some(identity.subject)),
        ("sent_at", Some(identity.sent_at)),
        ("body_sha256", identity.body_sha256),
        ("fingerprint", identity.fingerprint),
        ("message_key", identity.message_key.map(|key| key.0)),
        ("operation_key", identity.operation_key.map(|key| key.0)),
    ])
}

fn print(rows: &[(&str, Option<String>)]) -> Done {
    for (name, value) in rows {
        out::line(&format!("{name:<14} {}", words::one_line(value.as_deref().unwrap_or("-"))))?;
    }
    Ok(())
}

/// As much of the mail as identity looks at, and a little to see that more follows.
fn read(path: &std::path::Path) -> Result<Vec<u8>, Fault> {
    let limit = u64::try_from(IDENTITY_PREFIX_BYTES + 4096).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map(|_| bytes).map_err(|error| {
        Fault::new(
            FaultCode::Invalid,
            "Nothing was done",
            format!("the mail {} cannot be read ({error})", path.display()),
            "give the path of a mail, or - and the mail on standard input",
        )
    })
}

fn parse_provider_id(text: &str) -> Result<ProviderId, String> {
    ProviderId::parse(text).ok_or_else(|| "give KIND:VALUE, such as gmail:1234".to_owned())
}
