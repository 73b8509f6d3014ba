//! `ringonce history`

use ringonce_engine::api::history::HistoryRow;
use ringonce_engine::api::settings::{GetParams, SettingView};

use crate::cli::failure::Done;
use crate::cli::list::{self, PageArgs};
use crate::cli::session::{call, view};
use crate::cli::time::at;
use crate::cli::{Global, out, words};

pub(crate) async fn run(global: &Global, page: PageArgs) -> Done {
    let max = if global.json { None } else { Some(attempts_max(global).await?) };
    list::print(global, "history.list", page, "message_key", |rows: &[HistoryRow]| {
        rows.iter().try_for_each(|row| print(row, max.as_deref()))
    })
    .await
}

/// Prints one mail and what came of it.
pub(crate) fn print(row: &HistoryRow, attempts_max: Option<&str>) -> Done {
    let from = row.from.as_deref().unwrap_or("(no sender)");
    let subject = words::subject(row.subject.as_deref());
    out::line(&format!(
        "{}  {}  {}  {}",
        words::short(&row.message_key),
        at(Some(&row.first_seen_at)),
        words::one_line(from),
        words::cut(&subject, 80)
    ))?;
    let decision = match row.decision.as_deref() {
        Some("notify") if row.notifications.is_empty() => "Nobody told",
        Some("notify") => "Tell",
        Some("silent") => "Silent",
        Some("hold") => "Held",
        _ => "Recorded",
    };
    let reason = row.reason.as_deref().map(|reason| format!(": {}", words::one_line(reason))).unwrap_or_default();
    let times = if row.sightings > 1 { format!(" · reported {} times", row.sightings) } else { String::new() };
    out::line(&format!("    {decision}{reason}{times}"))?;
    for notification in &row.notifications {
        out::line(&format!(
            "    {} {}: {}",
            words::short(&notification.dispatch_key),
            words::one_line(&notification.destination),
            words::notification(notification, attempts_max)
        ))?;
    }
    Ok(())
}

/// Attempts of one round, for "2 of 4".
pub(crate) async fn attempts_max(global: &Global) -> Result<String, ringonce_engine::model::error::Fault> {
    let params = GetParams { key: "processing.max_attempts".to_owned() };
    let setting = call(global, "settings.get", &params).await?;
    Ok(view::<SettingView>("settings.get", setting)?.value)
}
