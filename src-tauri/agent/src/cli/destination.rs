//! `ringonce destination …`

use std::collections::BTreeMap;

use clap::{Args, Subcommand, ValueEnum};
use ringonce_engine::api::destination::{AddParams, DestinationView, KindView, SetParams};
use ringonce_engine::api::view::{Id, Nothing, SecretText};
use ringonce_engine::model::error::Fault;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::time::ago;
use crate::cli::{Global, ask, out, table, words};

#[derive(Subcommand)]
pub(crate) enum Destination {
    /// Add a destination; sends it a test message and prints its id.
    Add {
        /// One of `ringonce destination kinds`.
        kind: String,
        /// Your name for it.
        #[arg(long, value_name = "N")]
        name: String,
        #[command(flatten)]
        flags: Flags,
        /// Tell by it only where a route names it.
        #[arg(long)]
        fallback_only: bool,
    },
    /// Change a destination; what is not given stays.
    Set {
        /// Its id or name.
        id: String,
        /// Your name for it.
        #[arg(long, value_name = "N")]
        name: Option<String>,
        #[command(flatten)]
        flags: Flags,
        /// Tell by it only where a route names it.
        #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "true|false")]
        fallback_only: Option<bool>,
    },
    /// Every destination with its settings.
    List,
    /// Send it a test message.
    Test(Which),
    /// Send nothing to it until it is resumed.
    Pause(Which),
    /// Send to it again.
    Resume(Which),
    /// Remove it and its secrets; what it was told stays in the history.
    Remove(Which),
    /// Every kind of destination and its fields.
    Kinds,
}

#[derive(Args)]
pub(crate) struct Which {
    /// Its id or name.
    id: String,
}

#[derive(Args)]
pub(crate) struct Flags {
    /// A field; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_field)]
    fields: Vec<(String, String)>,
    /// A secret field, read from a line of standard input; several are read in the order given.
    #[arg(long = "secret", value_name = "KEY=-", value_parser = parse_secret)]
    secret_keys: Vec<String>,
    /// What to do where nobody can say whether something arrived.
    #[arg(long)]
    policy: Option<Policy>,
    /// How much of a mail leaves this computer [default: full].
    #[arg(long)]
    privacy: Option<Privacy>,
    /// Do not send what is older than this many seconds; 0: always send.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(i64).range(0..))]
    max_age: Option<i64>,
    /// Keep it without sending a test message first.
    #[arg(long)]
    no_test: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    NeverTwice,
    NeverLost,
}

#[derive(Clone, Copy, ValueEnum)]
enum Privacy {
    Full,
    Sender,
    None,
}

pub(crate) async fn run(global: &Global, command: Destination) -> Done {
    match command {
        Destination::Add { kind, name, flags, fallback_only } => add(global, kind, name, flags, fallback_only).await,
        Destination::Set { id, name, flags, fallback_only } => set(global, id, name, flags, fallback_only).await,
        Destination::List => list(global).await,
        Destination::Test(which) => act(global, "destination.test", which).await,
        Destination::Pause(which) => act(global, "destination.pause", which).await,
        Destination::Resume(which) => act(global, "destination.resume", which).await,
        Destination::Remove(which) => act(global, "destination.remove", which).await,
        Destination::Kinds => kinds(global).await,
    }
}

async fn add(global: &Global, kind: String, name: String, flags: Flags, fallback_only: bool) -> Done {
    let params = AddParams {
        kind,
        name,
        secrets: read_secrets(&flags.secret_keys)?,
        fields: flags.fields.into_iter().collect(),
        policy: flags.policy.map(|policy| policy.name().to_owned()),
        privacy: flags.privacy.map(|privacy| privacy.name().to_owned()),
        max_age_seconds: flags.max_age,
        fallback_only,
        test: !flags.no_test,
    };
    let added = call(global, "destination.add", &params).await?;
    if global.json { out::json(&added) } else { out::line(&view::<Id>("destination.add", added)?.id) }
}

async fn set(global: &Global, id: String, name: Option<String>, flags: Flags, fallback_only: Option<bool>) -> Done {
    let params = SetParams {
        id,
        name,
        secrets: read_secrets(&flags.secret_keys)?,
        fields: flags.fields.into_iter().collect(),
        policy: flags.policy.map(|policy| policy.name().to_owned()),
        privacy: flags.privacy.map(|privacy| privacy.name().to_owned()),
        max_age_seconds: flags.max_age,
        fallback_only,
        test: !flags.no_test,
    };
    let done = call(global, "destination.set", &params).await?;
    if global.json { out::json(&done) } else { Ok(()) }
}

async fn list(global: &Global) -> Done {
    let rows = call(global, "destination.list", &Nothing {}).await?;
    if global.json {
        return out::json(&rows);
    }
    let cells = |row: DestinationView| {
        let fields = row.fields.iter().map(|(key, value)| format!("{key}={value}"));
        vec![
            row.status.id,
            row.status.name,
            row.status.kind,
            words::state(&row.status.state).to_owned(),
            ago(row.status.last_delivery_at.as_deref()),
            format!(
                "{}, privacy {}{}",
                row.policy,
                row.privacy,
                if row.fallback_only { ", fallback only" } else { "" }
            ),
            fields.collect::<Vec<_>>().join(" "),
            row.status.error.as_ref().map(words::error).unwrap_or_default(),
        ]
    };
    let rows: Vec<DestinationView> = view("destination.list", rows)?;
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    table::print(&["ID", "NAME", "KIND", "STATE", "LAST DELIVERY", "HOW", "FIELDS", "ERROR"], &rows)
}

async fn kinds(global: &Global) -> Done {
    let rows = call(global, "destination.kinds", &Nothing {}).await?;
    if global.json {
        return out::json(&rows);
    }
    let cells = |row: KindView| {
        let fields = row.fields.iter().map(|field| {
            let how =
                if field.secret { format!("--secret {}=-", field.key) } else { format!("--set {}=…", field.key) };
            if field.required { how } else { format!("[{how}]") }
        });
        vec![row.kind, row.class, fields.collect::<Vec<_>>().join(" ")]
    };
    let rows: Vec<KindView> = view("destination.kinds", rows)?;
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    table::print(&["KIND", "CLASS", "FIELDS"], &rows)?;
    out::line("Class A drops repeats by itself, B can be asked what arrived, C neither.")
}

async fn act(global: &Global, method: &str, which: Which) -> Done {
    let done = call(global, method, &Id { id: which.id }).await?;
    if global.json { out::json(&done) } else { Ok(()) }
}

fn read_secrets(keys: &[String]) -> Result<BTreeMap<String, SecretText>, Fault> {
    keys.iter().map(|key| Ok((key.clone(), ask::secret(key)?))).collect()
}

pub(crate) fn parse_field(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("give KEY=VALUE".to_owned()),
    }
}

fn parse_secret(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, "-")) if !key.is_empty() => Ok(key.to_owned()),
        _ => Err("give KEY=- and the secret on standard input, where nobody else sees it".to_owned()),
    }
}

impl Policy {
    fn name(self) -> &'static str {
        match self {
            Self::NeverTwice => "never-twice",
            Self::NeverLost => "never-lost",
        }
    }
}

impl Privacy {
    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sender => "sender",
            Self::None => "none",
        }
    }
}
