//! One mail, however often and by whatever path it is reported, is one operation and one ring; and two mails are two.

mod paths;
mod race;
mod repeats;

use std::time::Duration;

use serde_json::Value;

use crate::support::program::Program;

/// After which a mail does not come any more.
const LIMIT: Duration = Duration::from_secs(45);

/// Where a program stands, in counts: mails, deliveries, operations, notifications, attempts.
#[track_caller]
fn counts(program: &Program) -> [i64; 5] {
    let db = program.db();
    ["processed_messages", "deliveries", "notification_operations", "notification_outbox", "attempts"]
        .map(|table| db.number(&format!("SELECT count(*) FROM {table}"), []))
}

/// The only row of the outbox.
#[track_caller]
fn notification(program: &Program) -> Value {
    program.db().row("SELECT * FROM notification_outbox", [])
}

/// The only operation.
#[track_caller]
fn operation(program: &Program) -> Value {
    program.db().row("SELECT * FROM notification_operations", [])
}

/// Deliveries in order of arrival: source, verdict, how often.
#[track_caller]
fn deliveries(program: &Program) -> Vec<(String, String, i64)> {
    let rows = program.db().rows("SELECT source, verdict, times_seen FROM deliveries ORDER BY first_seen_at", []);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.iter().map(|row| (text(&row["source"]), text(&row["verdict"]), row["times_seen"].as_i64().unwrap())).collect()
}

fn delivery(source: &str, verdict: &str, times: i64) -> (String, String, i64) {
    (source.to_owned(), verdict.to_owned(), times)
}
