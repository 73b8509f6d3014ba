//! The command line: reads arguments, calls `api` through [`session`], and prints what it gives.

mod alarms;
mod ask;
mod attention;
mod completions;
mod data;
mod demo;
mod desktop;
mod destination;
mod doctor;
mod duplicates;
mod explain;
pub(crate) mod failure;
mod history;
mod ingest;
mod list;
mod log;
mod mailbox;
mod notification;
mod out;
mod route;
mod rule;
mod run;
mod session;
mod settings;
mod source;
mod status;
mod systemd_unit;
mod table;
mod time;
mod tools;
mod transfer;
mod wait;
mod watch;
mod words;

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use ringonce_engine::secret::choice::Choice;

use crate::cli::failure::Done;

/// Watches your mailboxes and tells you once of each mail. Without a command: with a tray icon, and opens the window.
#[derive(Parser)]
#[command(name = "ringonce", version, about, max_term_width = 110)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    global: Global,
    /// Without a command: do not open the window.
    #[arg(long)]
    background: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What every command takes.
#[derive(clap::Args)]
pub(crate) struct Global {
    /// The data folder [default: the platform's].
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where secrets are kept: `keyring` or `file:PATH`. Chosen at first use.
    #[arg(long, global = true, value_name = "PLACE", value_parser = parse_choice)]
    secrets: Option<Choice>,
    /// Print one JSON object or array and nothing else.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Watch and notify until stopped; prints `ready` when every mailbox is watched.
    Run(run::Run),
    /// Mailboxes to watch.
    #[command(subcommand)]
    Mailbox(mailbox::Mailbox),
    /// Destinations to tell by: phones, chats, programs.
    #[command(subcommand)]
    Destination(destination::Destination),
    /// Sources beside IMAP.
    #[command(subcommand)]
    Source(source::Source),
    /// Routes: a destination and its fallbacks.
    #[command(subcommand)]
    Route(route::Route),
    /// Rules: who is told of which mail.
    #[command(subcommand)]
    Rule(rule::Rule),
    /// Settings.
    #[command(subcommand)]
    Settings(settings::Settings),
    /// How everything is doing.
    Status,
    /// Every mail, and what came of it.
    History(list::PageArgs),
    /// Reports of mails that were suppressed, each with its reason.
    Duplicates(list::PageArgs),
    /// Dead letters, and notifications that may not have arrived.
    Attention(list::PageArgs),
    /// Alarms.
    Alarms(list::PageArgs),
    /// History as it happens: a line for each ring or repeat.
    Watch,
    /// Send a notification once more.
    Retry(notification::Which),
    /// Say that a notification arrived.
    MarkDelivered(notification::Which),
    /// Give a notification up.
    Dismiss(notification::Which),
    /// Send dead letters once more.
    Redrive(notification::Redrive),
    /// Ring again for a mail.
    NotifyAgain(notification::Again),
    /// Mark a mail as read at its server.
    MarkRead(notification::MarkRead),
    /// Everything known of one mail.
    Explain(explain::Explain),
    /// Print the keys of a mail; needs no data folder.
    Identify(ingest::Identify),
    /// Put a mail in as if a source had reported it.
    Ingest(ingest::Ingest),
    /// Wait until nothing is left to do.
    Wait(wait::Wait),
    #[command(flatten)]
    Tools(tools::Tools),
}

/// Runs a command to its end.
#[allow(clippy::cognitive_complexity, reason = "one arm for each command")]
pub(crate) async fn run(command_line: CommandLine) -> Done {
    let CommandLine { global, background, command } = command_line;
    let Some(command) = command else { return desktop::run(&global, background).await };
    if background {
        let words = "--background is for `ringonce` without a command";
        CommandLine::command().error(ErrorKind::ArgumentConflict, words).exit();
    }
    match command {
        Command::Run(run) => run::run(&global, run).await,
        Command::Mailbox(command) => mailbox::run(&global, command).await,
        Command::Destination(command) => destination::run(&global, command).await,
        Command::Source(command) => source::run(&global, command).await,
        Command::Route(command) => route::run(&global, command).await,
        Command::Rule(command) => rule::run(&global, command).await,
        Command::Settings(command) => settings::run(&global, command).await,
        Command::Status => status::run(&global).await,
        Command::History(page) => history::run(&global, page).await,
        Command::Duplicates(page) => duplicates::run(&global, page).await,
        Command::Attention(page) => attention::run(&global, page).await,
        Command::Alarms(page) => alarms::run(&global, page).await,
        Command::Watch => watch::run(&global).await,
        Command::Retry(which) => notification::settle(&global, "notification.retry", which).await,
        Command::MarkDelivered(which) => notification::settle(&global, "notification.mark_delivered", which).await,
        Command::Dismiss(which) => notification::settle(&global, "notification.dismiss", which).await,
        Command::Redrive(redrive) => notification::redrive(&global, redrive).await,
        Command::NotifyAgain(again) => notification::again(&global, again).await,
        Command::MarkRead(mark) => notification::mark_read(&global, mark).await,
        Command::Explain(explain) => explain::run(&global, explain).await,
        Command::Identify(identify) => ingest::show(&global, identify),
        Command::Ingest(ingest) => ingest::run(&global, ingest).await,
        Command::Wait(wait) => wait::run(&global, wait).await,
        Command::Tools(tools) => tools::run(&global, tools).await,
    }
}

fn parse_choice(text: &str) -> Result<Choice, String> {
    Choice::parse(text).map_err(|fault| format!("{}; {}", fault.cause, fault.next_step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        CommandLine::command().debug_assert();
    }

    /// Reading arguments may panic where two of them share a name; that shows only when they are read.
    #[test]
    fn every_command_can_be_read() {
        let check = |line: &str| {
            let args = std::iter::once("ringonce").chain(line.split(' ').filter(|word| !word.is_empty()));
            let global = ["--json", "--data-dir", "d", "--secrets", "keyring"];
            let read = CommandLine::try_parse_from(args.chain(global));
            assert!(read.is_ok_and(|read| read.global.json && read.global.secrets.is_some()), "{line}");
        };
        check("");
        check("--background");
        for line in [
            "run --headless --ready-file f",
            "run --demo",
            "mailbox add --email e --mailbox-id s --host h --port 1 --tls starttls --username u --folder a --folder b \
             --password-stdin --link-template mid:{message_id} --ca-file f --allow-plaintext --no-test",
            "mailbox set i --email e --no-imap --pin p",
            "mailbox list",
            "mailbox test i",
            "mailbox pause i",
            "mailbox resume i",
            "mailbox remove i",
            "destination add ntfy --name n --set a=b --set c=d --secret t=- --policy never-lost --privacy none --max-age 1 \
             --fallback-only --no-test",
            "destination set i --name n --set a= --secret t=- --fallback-only=false",
            "destination list",
            "destination test i",
            "destination pause i",
            "destination resume i",
            "destination remove i",
            "destination kinds",
            "source add webhook --mailbox m --set port=0",
            "source list",
            "source remove i",
            "route add n --to d --fallback e --fallback f",
            "route list",
            "route remove i",
            "rule add --mailbox m --if subject=contains=x --silent r --before i",
            "rule add --route a b --route c",
            "rule list",
            "rule remove i",
            "rule move i --before j",
            "rule try --last 5",
            "settings list",
            "settings get k",
            "settings set k -1",
            "status",
            "history --limit 0 --before i",
            "duplicates --limit 5",
            "attention",
            "alarms",
            "watch",
            "retry i",
            "mark-delivered i",
            "dismiss i",
            "redrive --since 2h",
            "notify-again m",
            "mark-read m",
            "explain m",
            "identify --mailbox m --provider-id gmail:1 -",
            "ingest --mailbox m --path imap --delivery-id x --provider-id a:b --received-at 2026-01-01T00:00:00Z f",
            "wait --settled --timeout 5",
            "verify",
            "doctor",
            "prune",
            "export f --force",
            "restore f",
            "systemd-unit",
            "completions bash",
        ] {
            check(&line.replace("subject=contains=x", "subject\u{a0}contains\u{a0}x"));
        }
    }
}
