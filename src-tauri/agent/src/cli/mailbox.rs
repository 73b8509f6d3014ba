//! `ringonce mailbox …`

use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use ringonce_engine::api::mailbox::{AddParams, MailboxView, SetParams};
use ringonce_engine::api::mailbox_server::ServerParams;
use ringonce_engine::api::view::{Id, Nothing, SecretText};
use ringonce_engine::model::error::Fault;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::time::ago;
use crate::cli::{Global, ask, out, table, words};

#[derive(Subcommand)]
pub(crate) enum Mailbox {
    /// Add a mailbox; prints its id.
    Add {
        /// Your address there.
        #[arg(long, value_name = "E")]
        email: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Change a mailbox; what is not given stays.
    Set {
        /// Its id or address.
        id: String,
        /// Your address there.
        #[arg(long, value_name = "E")]
        email: Option<String>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Every mailbox with its settings.
    List,
    /// Log in and look at each folder.
    Test(Which),
    /// Stop watching it until it is resumed.
    Pause(Which),
    /// Watch it again.
    Resume(Which),
    /// Remove it and its password; its history stays.
    Remove(Which),
}

#[derive(Args)]
pub(crate) struct Which {
    /// Its id or address.
    id: String,
}

#[derive(Args)]
pub(crate) struct Flags {
    /// Scope in which one mail is one mail [default: the address].
    #[arg(long, value_name = "S")]
    mailbox_id: Option<String>,
    /// Do not read it by IMAP: only other sources report its mail.
    #[arg(long)]
    no_imap: bool,
    /// IMAP server.
    #[arg(long, value_name = "H")]
    host: Option<String>,
    /// Its port [default: 993 with implicit TLS, else 143].
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Protection of the connection [default: implicit].
    #[arg(long)]
    tls: Option<Tls>,
    /// Name to log in with [default: the address].
    #[arg(long, value_name = "U")]
    username: Option<String>,
    /// Folder to watch; may be given several times [default: INBOX].
    #[arg(long = "folder", value_name = "F")]
    folders: Vec<String>,
    /// What a press on a notification opens, such as `https://mail.example/#search/rfc822msgid:{message_id}`; empty:
    /// its history.
    #[arg(long, value_name = "T")]
    link_template: Option<String>,
    /// Read the password from a line of standard input.
    #[arg(long)]
    password_stdin: bool,
    /// PEM file with the authorities to trust instead of the system's.
    #[arg(long, value_name = "F", conflicts_with = "pin")]
    ca_file: Option<std::path::PathBuf>,
    /// SHA-256 of the one certificate to trust.
    #[arg(long, value_name = "SHA256")]
    pin: Option<String>,
    /// Let the password go unprotected to another machine.
    #[arg(long)]
    allow_plaintext: bool,
    /// Keep it without logging in first.
    #[arg(long)]
    no_test: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Tls {
    Implicit,
    Starttls,
    None,
}

pub(crate) async fn run(global: &Global, command: Mailbox) -> Done {
    match command {
        Mailbox::Add { email, flags } => add(global, email, flags).await,
        Mailbox::Set { id, email, flags } => set(global, id, email, flags).await,
        Mailbox::List => list(global).await,
        Mailbox::Test(which) => act(global, "mailbox.test", which).await,
        Mailbox::Pause(which) => act(global, "mailbox.pause", which).await,
        Mailbox::Resume(which) => act(global, "mailbox.resume", which).await,
        Mailbox::Remove(which) => act(global, "mailbox.remove", which).await,
    }
}

async fn add(global: &Global, email: String, flags: Flags) -> Done {
    let asks = flags.password_stdin || (!flags.no_imap && ask::can_prompt());
    let params = AddParams {
        email,
        mailbox_id: flags.mailbox_id.clone(),
        link_template: flags.link_template.clone(),
        password: password(asks)?,
        test: !flags.no_test,
        server: flags.server()?,
        folders: flags.folders,
    };
    let added = call(global, "mailbox.add", &params).await?;
    if global.json { out::json(&added) } else { out::line(&view::<Id>("mailbox.add", added)?.id) }
}

async fn set(global: &Global, id: String, email: Option<String>, flags: Flags) -> Done {
    let params = SetParams {
        id,
        email,
        mailbox_id: flags.mailbox_id.clone(),
        link_template: flags.link_template.clone(),
        password: password(flags.password_stdin)?,
        test: !flags.no_test,
        server: flags.server()?,
        folders: flags.folders,
    };
    let done = call(global, "mailbox.set", &params).await?;
    if global.json { out::json(&done) } else { Ok(()) }
}

async fn list(global: &Global) -> Done {
    let rows = call(global, "mailbox.list", &Nothing {}).await?;
    if global.json {
        return out::json(&rows);
    }
    let cells = |row: MailboxView| {
        let server = match (&row.host, row.port, &row.tls) {
            (Some(host), Some(port), Some(tls)) => format!("{host}:{port} ({tls})"),
            _ => "-".to_owned(),
        };
        let status = row.status;
        vec![
            status.id,
            status.email,
            words::state(&status.state).to_owned(),
            words::method(&status.method).to_owned(),
            ago(status.last_check_at.as_deref()),
            server,
            row.folders.join(", "),
            row.link_template.unwrap_or_else(|| "-".to_owned()),
            status.error.as_ref().map(words::error).unwrap_or_default(),
        ]
    };
    let rows: Vec<MailboxView> = view("mailbox.list", rows)?;
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    table::print(&["ID", "ADDRESS", "STATE", "HOW", "LAST CHECK", "SERVER", "FOLDERS", "LINK", "ERROR"], &rows)
}

async fn act(global: &Global, method: &str, which: Which) -> Done {
    let done = call(global, method, &Id { id: which.id }).await?;
    if global.json { out::json(&done) } else { Ok(()) }
}

fn password(asks: bool) -> Result<Option<SecretText>, Fault> {
    if asks { ask::secret("password").map(Some) } else { Ok(None) }
}

impl Flags {
    fn server(&self) -> Result<ServerParams, std::io::Error> {
        let absolute = |path: &Path| std::path::absolute(path).map(|path| path.to_string_lossy().into_owned());
        Ok(ServerParams {
            no_imap: self.no_imap,
            host: self.host.clone(),
            port: self.port,
            tls: self.tls.map(|tls| tls.name().to_owned()),
            username: self.username.clone(),
            ca_file: self.ca_file.as_deref().map(absolute).transpose()?,
            pin: self.pin.clone(),
            allow_plaintext: self.allow_plaintext.then_some(true),
        })
    }
}

impl Tls {
    fn name(self) -> &'static str {
        match self {
            Self::Implicit => "implicit",
            Self::Starttls => "starttls",
            Self::None => "none",
        }
    }
}
