//! `ringonce explain`

use ringonce_engine::api::explain::Explanation;
use ringonce_engine::api::view::Id;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::time::at;
use crate::cli::{Global, history, out, words};

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// Key of a mail or of a notification, or its first 8 or more digits.
    id: String,
}

pub(crate) async fn run(global: &Global, explain: Explain) -> Done {
    let found = call(global, "explain.get", &Id { id: explain.id }).await?;
    if global.json {
        return out::json(&found);
    }
    let found: Explanation = view("explain.get", found)?;
    let max = history::attempts_max(global).await?;
    history::print(&found.row, Some(&max))?;
    out::line("  Reported")?;
    for row in &found.deliveries {
        let times = if row.times_seen > 1 { format!(", {} times", row.times_seen) } else { String::new() };
        out::line(&format!(
            "    {}  {}  {} {} ({}{times})",
            at(Some(&row.first_seen_at)),
            row.verdict,
            words::one_line(&row.source),
            words::one_line(&row.locator),
            words::one_line(&row.reason)
        ))?;
    }
    out::line("  Known by")?;
    for row in &found.identities {
        out::line(&format!("    {}: {}", words::one_line(&row.kind), words::one_line(&row.value)))?;
    }
    if !found.attempts.is_empty() {
        out::line("  Attempts")?;
    }
    for row in &found.attempts {
        let why = row.detail.as_deref().map(|detail| format!(": {}", words::one_line(detail))).unwrap_or_default();
        out::line(&format!(
            "    {}  {} #{} {}{why}",
            at(Some(&row.started_at)),
            words::short(&row.dispatch_key),
            row.attempt,
            row.outcome.as_deref().unwrap_or("in hand")
        ))?;
    }
    if !found.actions.is_empty() {
        out::line("  Asked for")?;
    }
    for row in &found.actions {
        let why = row.error.as_ref().map(|error| format!(": {}", words::one_line(&error.detail))).unwrap_or_default();
        let ended = row.outcome.as_deref().unwrap_or("in hand");
        out::line(&format!("    {}  {} {ended}{why}", at(Some(&row.started_at)), words::one_line(&row.action)))?;
    }
    Ok(())
}
