//! The native dialogs: what a page must not decide by itself, and where to write a file.

use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::words::Choice;
use serde_json::{Value, json};
use tauri::AppHandle;
use tauri_plugin_dialog::{DialogExt, FilePath, MessageDialogButtons, MessageDialogKind};
use tokio::sync::oneshot;

use crate::bridge::Bridge;
use crate::window;
use crate::words::{self, Words};

/// The owner was told that closing the window does not end the watching.
const TOLD: &str = "ui.told_of_closing";

/// The program that a call would let destinations run.
pub(crate) fn command_of(params: &Value) -> Option<&str> {
    let fields = params.get("fields")?.as_object()?;
    fields.get("command").and_then(Value::as_str)
}

/// Asks the owner whether Ringonce may run a program for each mail.
pub(crate) async fn may_run(app: &AppHandle, bridge: &Bridge, command: &str) -> bool {
    let words = words(bridge).await;
    let (answer, answered) = oneshot::channel();
    app.dialog()
        .message(format!("{}\n\n{command}", words.run_question))
        .title(words.run_title)
        .kind(MessageDialogKind::Warning)
        .buttons(MessageDialogButtons::OkCancelCustom(words.run_yes.to_owned(), words.no.to_owned()))
        .show(move |yes| {
            // Nobody waits any more where the window is gone.
            let _ = answer.send(yes);
        });
    answered.await.unwrap_or(false)
}

/// Asks where to, and writes a copy of the data there.
pub(crate) async fn export(app: &AppHandle, bridge: &Bridge) -> Result<Value, Fault> {
    let words = words(bridge).await;
    write(app, bridge, "data.export", words.export_title, "ringonce-backup.tar").await
}

/// Asks where to, and writes a problem report there.
pub(crate) async fn report(app: &AppHandle, bridge: &Bridge) -> Result<Value, Fault> {
    let words = words(bridge).await;
    write(app, bridge, "data.report", words.report_title, "ringonce-report.txt").await
}

async fn write(app: &AppHandle, bridge: &Bridge, method: &str, title: &str, name: &str) -> Result<Value, Fault> {
    let (answer, answered) = oneshot::channel();
    app.dialog().file().set_title(title).set_file_name(name).save_file(move |path| {
        let _ = answer.send(path);
    });
    let Some(path) = answered.await.ok().flatten() else { return Ok(json!({ "path": null })) };
    let path = FilePath::into_path(path).map_err(|error| {
        Fault::new(
            FaultCode::Invalid,
            "Nothing was written",
            format!("the place cannot be written to ({error})"),
            "choose another",
        )
    })?;
    // The dialog has asked already whether what is there may be replaced.
    bridge.engine(method, json!({ "path": path, "force": true })).await?;
    Ok(json!({ "path": path }))
}

/// Says, the first time the window is closed, that the watching goes on. Returns when it may be closed.
pub(crate) async fn closing(app: &AppHandle, bridge: &Bridge) {
    // Where nothing answers there is nothing to say.
    if setting(bridge, TOLD).await.as_deref() != Some("false") {
        return;
    }
    let words = words(bridge).await;
    let status = bridge.engine("status.get", json!({})).await.unwrap_or_default();
    let has_tray = status.get("tray").and_then(Value::as_str) == Some("shown");
    let (closed, read) = oneshot::channel();
    app.dialog()
        .message(if has_tray { words.closing_tray } else { words.closing_menu })
        .title(words.closing_title)
        .kind(MessageDialogKind::Info)
        .buttons(MessageDialogButtons::Ok)
        .show(move |_| {
            let _ = closed.send(());
        });
    if read.await.is_ok()
        && let Err(fault) = bridge.engine("settings.set", json!({ "key": TOLD, "value": "true" })).await
    {
        window::say(&fault);
    }
}

async fn words(bridge: &Bridge) -> &'static Words {
    let chosen = setting(bridge, "ui.language").await;
    words::of(Choice::parse(chosen.as_deref().unwrap_or_default()))
}

async fn setting(bridge: &Bridge, key: &str) -> Option<String> {
    let row = bridge.engine("settings.get", json!({ "key": key })).await.ok()?;
    row.get("value")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_would_run_a_program_is_seen() {
        let check = |params: Value, command: Option<&str>| assert_eq!(command_of(&params), command, "{params}");
        check(json!({"kind": "command", "fields": {"command": "notify-me"}}), Some("notify-me"));
        check(json!({"id": "d1", "fields": {"command": "x y"}, "test": true}), Some("x y"));
        check(json!({"kind": "ntfy", "fields": {"topic": "command"}}), None);
        check(json!({"kind": "command"}), None);
        check(json!(null), None);
    }
}
