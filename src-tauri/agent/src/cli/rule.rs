//! `ringonce rule …`

use clap::{ArgGroup, Subcommand};
use ringonce_engine::api::rule::{AddParams, MoveParams, RuleView, SwitchParams};
use ringonce_engine::api::rule_try::{TryParams, TryRow};
use ringonce_engine::api::view::{Id, Nothing};
use ringonce_engine::decide::condition;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::{Global, out, table, words};

#[derive(Subcommand)]
pub(crate) enum Rule {
    /// Add a rule; prints its id. The first rule that holds decides.
    #[command(group(ArgGroup::new("action").required(true).args(["routes", "silent"])))]
    Add {
        /// Only for this mailbox, by id or address.
        #[arg(long, value_name = "M")]
        mailbox: Option<String>,
        /// FIELD (not) contains|is|starts|matches "VALUE"; FIELD is folder, from, to, subject or list-id. All must hold.
        #[arg(long = "if", value_name = "CONDITION", value_parser = parse_condition)]
        conditions: Vec<String>,
        /// Tell by this route, by id or name; may be given several times.
        #[arg(long = "route", value_name = "R", num_args = 1..)]
        routes: Vec<String>,
        /// Tell nobody, for this reason.
        #[arg(long, value_name = "REASON")]
        silent: Option<String>,
        /// Put it before this rule; else it is the last.
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Every rule, in the order in which they are asked.
    List,
    /// Remove a rule.
    Remove {
        /// Its id.
        id: String,
    },
    /// Move a rule before another, or to the end.
    Move {
        /// Its id.
        id: String,
        /// Put it before this rule; else it is the last.
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Switch a rule off: it keeps its place and is not asked.
    Off {
        /// Its id.
        id: String,
    },
    /// Switch a rule on again.
    On {
        /// Its id.
        id: String,
    },
    /// Show what the rules would do with the newest mails; nobody is told.
    Try {
        /// So many of the newest mails.
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: u32,
    },
}

pub(crate) async fn run(global: &Global, command: Rule) -> Done {
    match command {
        Rule::Add { mailbox, conditions, routes, silent, before } => {
            let params = AddParams { mailbox, conditions, routes, silent, before };
            let added = call(global, "rule.add", &params).await?;
            if global.json { out::json(&added) } else { out::line(&view::<Id>("rule.add", added)?.id) }
        }
        Rule::List => list(global).await,
        Rule::Remove { id } => {
            let done = call(global, "rule.remove", &Id { id }).await?;
            if global.json { out::json(&done) } else { Ok(()) }
        }
        Rule::Move { id, before } => {
            let done = call(global, "rule.move", &MoveParams { id, before }).await?;
            if global.json { out::json(&done) } else { Ok(()) }
        }
        Rule::Off { id } => switch(global, id, true).await,
        Rule::On { id } => switch(global, id, false).await,
        Rule::Try { last } => attempt(global, last).await,
    }
}

async fn switch(global: &Global, id: String, off: bool) -> Done {
    let done = call(global, "rule.switch", &SwitchParams { id, off }).await?;
    if global.json { out::json(&done) } else { Ok(()) }
}

async fn list(global: &Global) -> Done {
    let rows = call(global, "rule.list", &Nothing {}).await?;
    if global.json {
        return out::json(&rows);
    }
    let cells = |row: RuleView| {
        let conditions = if row.conditions.is_empty() { "every mail".to_owned() } else { row.conditions.join(" and ") };
        let action = match &row.silent {
            Some(reason) => format!("silent: {reason}"),
            None => format!("tell by {}", row.routes.join(", ")),
        };
        let action = if row.off { format!("off ({action})") } else { action };
        vec![row.id, row.mailbox.unwrap_or_else(|| "any".to_owned()), conditions, action]
    };
    let rows: Vec<RuleView> = view("rule.list", rows)?;
    let mut rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    let last = ["-", "any", "everything else", "tell by every destination that is not only a fallback"];
    rows.push(last.map(str::to_owned).to_vec());
    table::print(&["ID", "MAILBOX", "IF", "THEN"], &rows)
}

async fn attempt(global: &Global, last: u32) -> Done {
    let rows = call(global, "rule.try", &TryParams { last }).await?;
    if global.json {
        return out::json(&rows);
    }
    let cells = |row: TryRow| {
        vec![
            words::short(&row.message_key),
            row.from.unwrap_or_default(),
            words::cut(&words::subject(row.subject.as_deref()), 50),
            row.decision,
            row.was,
            row.reason,
        ]
    };
    let rows: Vec<TryRow> = view("rule.try", rows)?;
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    table::print(&["MAIL", "FROM", "SUBJECT", "NOW", "WAS", "WHY"], &rows)
}

fn parse_condition(text: &str) -> Result<String, String> {
    condition::parse(text).map(|_| text.to_owned()).map_err(|fault| format!("{}; {}", fault.cause, fault.next_step))
}
