//! What becomes of a notification when its channel fails, answers nothing, or its sender is killed: it arrives, once,
//! or the owner is told that it may not have.

mod lost_answer;
mod owner;
mod restart;
mod retry;
mod route;
mod unknown;

use std::time::Duration;

use serde_json::Value;

use crate::support::http::Request;
use crate::support::program::Program;
use crate::support::wait;

/// After which something does not happen any more.
const LIMIT: Duration = Duration::from_secs(45);

/// The notification of a mail to the destination of a name.
#[track_caller]
fn notification(program: &Program, message_key: &Value, destination: &str) -> Value {
    program.db().row(
        "SELECT o.* FROM notification_outbox o JOIN destinations d ON d.id = o.destination_id
         JOIN notification_operations p USING (operation_key) WHERE p.message_key = ?1 AND d.name = ?2",
        [message_key.as_str().expect("a key"), destination],
    )
}

/// Waits until that notification has a status.
#[track_caller]
fn wait_status(program: &Program, message_key: &Value, destination: &str, status: &str) -> Value {
    let what = format!("the notification to {destination} is {status}");
    let rows = |sql: &str| program.db().rows(sql, [message_key.as_str().expect("a key"), destination, status]);
    wait::until(&what, LIMIT, || {
        let sql = "SELECT 1 FROM notification_outbox o JOIN destinations d ON d.id = o.destination_id
             JOIN notification_operations p USING (operation_key)
             WHERE p.message_key = ?1 AND d.name = ?2 AND o.status = ?3";
        !rows(sql).is_empty()
    });
    notification(program, message_key, destination)
}

/// Attempts of a notification in order: outcome and code.
#[track_caller]
fn attempts(program: &Program, notification: &Value) -> Vec<(String, String)> {
    let key = notification["dispatch_key"].as_str().expect("a key");
    let sql = "SELECT coalesce(outcome, '') AS outcome, coalesce(code, '') AS code FROM attempts
               WHERE dispatch_key = ?1 ORDER BY id";
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    program.db().rows(sql, [key]).iter().map(|row| (text(&row["outcome"]), text(&row["code"]))).collect()
}

fn attempt(outcome: &str, code: &str) -> (String, String) {
    (outcome.to_owned(), code.to_owned())
}

/// Where the operation of a mail stands.
#[track_caller]
fn operation_status(program: &Program, message_key: &Value) -> String {
    let row = program.db().row(
        "SELECT status FROM notification_operations WHERE message_key = ?1",
        [message_key.as_str().expect("a key")],
    );
    row["status"].as_str().unwrap_or_default().to_owned()
}

/// What identifies a webhook's request: both headers and the whole body.
fn identity(request: &Request) -> (Option<&str>, Option<&str>, &[u8]) {
    (request.header("idempotency-key"), request.header("webhook-id"), &request.body)
}

/// Every attempt had the key of the notification and the same bytes.
#[track_caller]
fn assert_same_request(requests: &[Request], notification: &Value) {
    let key = notification["dispatch_key"].as_str().expect("a key");
    let quoted = format!("\"{key}\"");
    for request in requests {
        assert_eq!(
            identity(request),
            (Some(quoted.as_str()), Some(key), requests[0].body.as_slice()),
            "the same again"
        );
    }
}

/// Open alarms of a kind: their texts.
#[track_caller]
fn alarms(program: &Program, code: &str) -> Vec<String> {
    let rows = program.json(&["alarms"]);
    let open = rows.as_array().expect("rows").iter().filter(|row| row["code"] == code && row["cleared_at"].is_null());
    open.map(|row| row["text"].as_str().unwrap_or_default().to_owned()).collect()
}
