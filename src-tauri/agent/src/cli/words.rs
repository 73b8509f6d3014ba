//! States and texts in words for people.

use ringonce_engine::api::history::NotificationView;
use ringonce_engine::api::view::ErrorView;

use crate::cli::time::{ago, at};

/// Text of a mail or a server on one line of a terminal: no control character gets through, for some make a terminal
/// do things.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    // Marks that turn the direction of writing could make a line read as another.
    let visible = |c: &char| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    words.collect::<Vec<_>>().join(" ").chars().filter(visible).collect()
}

/// A text cut to so many characters.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    let clean = one_line(text);
    if clean.chars().count() <= chars {
        return clean;
    }
    clean.chars().take(chars.saturating_sub(1)).chain(['…']).collect()
}

/// The first digits of a key: enough to name it on the command line.
pub(crate) fn short(key: &str) -> String {
    key.chars().take(12).collect()
}

/// A subject, or that there is none.
pub(crate) fn subject(subject: Option<&str>) -> String {
    match subject.map(one_line) {
        Some(text) if !text.is_empty() => text,
        _ => "(no subject)".to_owned(),
    }
}

/// State of a mailbox, source or destination.
pub(crate) fn state(state: &str) -> &str {
    match state {
        "starting" => "Starting",
        "watching" => "Watching",
        "offline" => "Offline",
        "sign_in" => "Sign in again",
        "failing" => "Failing",
        "paused" => "Paused",
        "stopped" => "Not running",
        "ready" => "Ready",
        other => other,
    }
}

/// How a mailbox hears of mail.
pub(crate) fn method(method: &str) -> &str {
    match method {
        "idle" => "IDLE",
        "none" => "-",
        other => other,
    }
}

/// What became of a notification.
pub(crate) fn notification(view: &NotificationView, attempts_max: Option<&str>) -> String {
    let error = view.last_error.as_ref().map(error).unwrap_or_default();
    let because = |text: &str| if text.is_empty() { String::new() } else { format!(": {}", one_line(text)) };
    match view.status.as_str() {
        "completed" => format!("Delivered {}", ago(view.completed_at.as_deref())),
        "processing" => "Sending".to_owned(),
        "pending" if view.attempt > 0 => {
            let of = attempts_max.map(|max| format!(" of {max}")).unwrap_or_default();
            format!("Retrying at {} ({}{of}){}", at(view.due_at.as_deref()), view.attempt + 1, because(&error))
        }
        "pending" => format!("Waiting{}", because(&error)),
        "uncertain" => format!("May not have arrived{}", because(&error)),
        "dead" => format!("Not delivered{}", because(&error)),
        "cancelled" => format!("Cancelled{}", because(view.reason.as_deref().unwrap_or_default())),
        other => other.to_owned(),
    }
}

/// What went wrong.
pub(crate) fn error(error: &ErrorView) -> String {
    one_line(&error.detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        assert_eq!(one_line("a\u{1b}[31mred\r\n\tb\u{202e}c"), "a [31mred bc");
        assert_eq!(cut("four and five", 6), "four …");
        assert_eq!(cut("short", 5), "short");
        assert_eq!(subject(Some(" \n")), "(no subject)");
    }
}
