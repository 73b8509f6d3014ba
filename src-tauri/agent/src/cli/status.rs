//! `ringonce status`

use ringonce_engine::api::status::Status;
use ringonce_engine::api::view::Nothing;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::time::{ago, at};
use crate::cli::{Global, out, table, words};

pub(crate) async fn run(global: &Global) -> Done {
    let status = call(global, "status.get", &Nothing {}).await?;
    if global.json {
        return out::json(&status);
    }
    let status: Status = view("status.get", status)?;
    out::line(&sentence(&status))?;
    let mailboxes: Vec<Vec<String>> = status
        .mailboxes
        .iter()
        .map(|row| {
            vec![
                row.email.clone(),
                words::state(&row.state).to_owned(),
                words::method(&row.method).to_owned(),
                ago(row.last_check_at.as_deref()),
                ago(row.last_mail_at.as_deref()),
                row.error.as_ref().map(words::error).unwrap_or_default(),
            ]
        })
        .collect();
    if !mailboxes.is_empty() {
        out::line("")?;
        table::print(&["MAILBOX", "STATE", "HOW", "LAST CHECK", "LAST MAIL", "ERROR"], &mailboxes)?;
    }
    let destinations: Vec<Vec<String>> = status
        .destinations
        .iter()
        .map(|row| {
            vec![
                row.name.clone(),
                row.kind.clone(),
                words::state(&row.state).to_owned(),
                ago(row.last_delivery_at.as_deref()),
                row.error.as_ref().map(words::error).unwrap_or_default(),
            ]
        })
        .collect();
    if !destinations.is_empty() {
        out::line("")?;
        table::print(&["DESTINATION", "KIND", "STATE", "LAST DELIVERY", "ERROR"], &destinations)?;
    }
    if !status.alarms.is_empty() {
        out::line("")?;
    }
    for alarm in &status.alarms {
        out::line(&format!("Alarm: {} (since {})", words::one_line(&alarm.text), ago(Some(&alarm.opened_at))))?;
    }
    out::line("")?;
    let today = &status.today;
    out::line(&format!(
        "Today: {} reported, {} rung, {} silent, {} suppressed.",
        today.sightings, today.rings, today.silent, today.duplicates
    ))?;
    let oldest =
        status.oldest_due_at.as_deref().map(|at| format!(" (oldest due {})", ago(Some(at)))).unwrap_or_default();
    out::line(&format!("Waiting: {}{oldest}. Held: {}.", status.pending, status.held))?;
    if status.dead + status.uncertain > 0 {
        out::line(&format!(
            "Needs attention: {} not delivered, {} may not have arrived; see `ringonce attention`.",
            status.dead, status.uncertain
        ))?;
    }
    Ok(())
}

fn sentence(status: &Status) -> String {
    let mailboxes = match status.mailboxes.len() {
        0 => return "No mailbox yet; add one with `ringonce mailbox add`.".to_owned(),
        1 => "1 mailbox".to_owned(),
        count => format!("{count} mailboxes"),
    };
    if !status.running {
        return format!("Not running: nobody watches your {mailboxes}. Start it with `ringonce run --headless`.");
    }
    if let Some(until) = &status.paused_until {
        return format!("All watching is paused until {}.", at(Some(until)));
    }
    let watched = status.mailboxes.iter().filter(|row| row.state == "watching").count();
    let last = status.mailboxes.iter().filter_map(|row| row.last_mail_at.as_deref()).max();
    if watched == status.mailboxes.len() {
        format!("Watching {mailboxes}. Last mail: {}.", ago(last))
    } else {
        format!("Watching {watched} of {mailboxes}. Last mail: {}.", ago(last))
    }
}
