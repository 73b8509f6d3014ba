//! `ringonce source …`

use clap::Subcommand;
use ringonce_engine::api::source::{AddParams, Added, SourceView};
use ringonce_engine::api::view::{Id, Nothing};
use secrecy::ExposeSecret;

use crate::cli::destination::parse_field;
use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::{Global, out, table, words};

#[derive(Subcommand)]
pub(crate) enum Source {
    /// Add a source beside IMAP; prints its URL and its secret, this once.
    Add {
        /// `webhook`: mail posted to a port of this computer.
        kind: String,
        /// The mailbox whose mail it reports, by id or address.
        #[arg(long, value_name = "ID")]
        mailbox: String,
        /// A field; `port=0` (the default) takes a free one and keeps it.
        #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_field)]
        fields: Vec<(String, String)>,
    },
    /// Every source.
    List,
    /// Remove a source and its secret.
    Remove {
        /// Its id.
        id: String,
    },
}

pub(crate) async fn run(global: &Global, command: Source) -> Done {
    match command {
        Source::Add { kind, mailbox, fields } => {
            let params = AddParams { kind, mailbox, fields: fields.into_iter().collect() };
            let added = call(global, "source.add", &params).await?;
            if global.json {
                return out::json(&added);
            }
            let added: Added = view("source.add", added)?;
            out::line(&added.url)?;
            out::line(added.secret.0.expose_secret())
        }
        Source::List => list(global).await,
        Source::Remove { id } => {
            let done = call(global, "source.remove", &Id { id }).await?;
            if global.json { out::json(&done) } else { Ok(()) }
        }
    }
}

async fn list(global: &Global) -> Done {
    let rows = call(global, "source.list", &Nothing {}).await?;
    if global.json {
        return out::json(&rows);
    }
    let cells = |row: SourceView| {
        let error = row.error.as_ref().map(words::error).unwrap_or_default();
        vec![row.id, row.kind, row.mailbox, words::state(&row.state).to_owned(), row.url, error]
    };
    let rows: Vec<SourceView> = view("source.list", rows)?;
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    table::print(&["ID", "KIND", "MAILBOX", "STATE", "URL", "ERROR"], &rows)
}
