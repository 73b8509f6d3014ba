//! Settings: every key with its default and the values it takes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::error::{Fault, FaultCode};
use crate::model::notification::ErrorCode;
use crate::words::Choice;

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// As on the command line.
    pub key: &'static str,
    /// Used until the owner sets another.
    pub default: &'static str,
    /// What it takes.
    pub form: Form,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A whole number, both ends included.
    Number(i64, i64),
    /// 1 to 20 whole numbers, comma-separated, both ends included.
    Numbers(i64, i64),
    /// Error codes, comma-separated; may be empty.
    Codes,
    /// `true` or `false`.
    Bool,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

const fn number(key: &'static str, default: &'static str, min: i64, max: i64) -> Setting {
    Setting { key, default, form: Form::Number(min, max) }
}

const fn numbers(key: &'static str, default: &'static str) -> Setting {
    Setting { key, default, form: Form::Numbers(1, 86_400) }
}

const fn codes(key: &'static str, default: &'static str) -> Setting {
    Setting { key, default, form: Form::Codes }
}

const fn switch(key: &'static str, default: &'static str) -> Setting {
    Setting { key, default, form: Form::Bool }
}

/// Every setting, in the order `settings list` prints them.
pub const SETTINGS: &[Setting] = &[
    number("processing.lease_seconds", "120", 5, 3600),
    number("processing.max_attempts", "4", 1, 100),
    number("processing.call_timeout_seconds", "30", 1, 120),
    numbers("retry.backoff_seconds", "5,20,60"),
    numbers("retry.ladder_seconds", "1800,7200,28800,86400"),
    codes("retry.retry_on", "connection_reset,temporary_unavailable,rate_limit"),
    codes("retry.stop_on", "invalid_recipient,authentication_error,invalid_payload"),
    number("reconcile.lookup_settle_seconds", "60", 1, 3600),
    number("catch_up.single_max", "5", 0, 1_000_000),
    number("catch_up.absence_seconds", "600", 1, 604_800),
    number("catch_up.old_hours", "48", 1, 8760),
    number("imap.poll_seconds", "600", 1, 3600),
    number("imap.dead_line_seconds", "300", 30, 1740),
    number("retention.history_days", "90", 1, 36_500),
    number("retention.key_days", "400", 400, 36_500),
    switch("cancel_when_read", "false"),
    number("alarm.dead_letters", "1", 1, 1_000_000),
    number("alarm.oldest_due_seconds", "120", 1, 604_800),
    number("alarm.stale_mailbox_seconds", "900", 1, 604_800),
    switch("desktop.sound", "true"),
    switch("desktop.respect_do_not_disturb", "true"),
    Setting { key: "ui.language", default: "system", form: Form::OneOf(&["system", "en", "ru", "pl"]) },
    Setting { key: "ui.theme", default: "system", form: Form::OneOf(&["system", "light", "dark"]) },
    switch("ui.start_at_login", "true"),
    switch("ui.told_of_closing", "false"),
    switch("ui.told_of_no_tray", "false"),
];

/// The settings in force, typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How long a sender owns what it claimed.
    pub lease: Duration,
    /// Attempts of one round.
    pub max_attempts: i64,
    /// Longest call to a channel.
    pub call_timeout: Duration,
    /// Waits between attempts; the last repeats.
    pub backoff_seconds: Vec<i64>,
    /// Waits between rounds of a route.
    pub ladder_seconds: Vec<i64>,
    /// Errors that are tried again even where a channel says stop.
    pub retry_on: Vec<ErrorCode>,
    /// Errors that end it even where a channel says later.
    pub stop_on: Vec<ErrorCode>,
    /// A lookup may say "absent" only this long after the connection was closed.
    pub lookup_settle: Duration,
    /// Up to so many mails of one catch-up ring singly.
    pub catch_up_single_max: i64,
    /// A gap between two checks from which on it is a catch-up.
    pub catch_up_absence: Duration,
    /// Mail this much older than the last check is not rung.
    pub catch_up_old: Duration,
    /// Safety poll.
    pub imap_poll: Duration,
    /// A silent line that does not carry any more is found within this.
    pub imap_dead_line: Duration,
    /// How long settled history is kept.
    pub history_days: i64,
    /// How long keys are kept.
    pub key_days: i64,
    /// Read elsewhere cancels what was not sent yet.
    pub cancel_when_read: bool,
    /// So many dead letters raise an alarm.
    pub alarm_dead_letters: i64,
    /// The oldest due notification may be this late.
    pub alarm_oldest_due: Duration,
    /// A mailbox may be without a good check this long.
    pub alarm_stale_mailbox: Duration,
    /// Notifications on this computer may make a sound.
    pub desktop_sound: bool,
    /// Do-not-disturb of this computer holds for them.
    pub desktop_respect_do_not_disturb: bool,
    /// What Ringonce speaks.
    pub language: Choice,
    /// It starts with the session.
    pub start_at_login: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self::from_stored(&BTreeMap::new())
    }
}

impl Settings {
    /// The settings in force, from what the owner set; a value that does not fit any more counts as not set.
    #[must_use]
    pub fn from_stored(stored: &BTreeMap<String, String>) -> Self {
        let text = |key: &str| -> String {
            let Some(setting) = find(key) else { return String::new() };
            match stored.get(key) {
                Some(value) if setting.form.check(value).is_ok() => value.clone(),
                _ => setting.default.to_owned(),
            }
        };
        let number = |key: &str| text(key).trim().parse::<i64>().unwrap_or_default();
        let numbers = |key: &str| split(&text(key)).filter_map(|part| part.parse().ok()).collect();
        let codes = |key: &str| split(&text(key)).filter_map(ErrorCode::parse).collect();
        let is_on = |key: &str| text(key) == "true";
        let seconds = |key: &str| Duration::from_secs(number(key).unsigned_abs());
        Self {
            lease: seconds("processing.lease_seconds"),
            max_attempts: number("processing.max_attempts"),
            call_timeout: seconds("processing.call_timeout_seconds"),
            backoff_seconds: numbers("retry.backoff_seconds"),
            ladder_seconds: numbers("retry.ladder_seconds"),
            retry_on: codes("retry.retry_on"),
            stop_on: codes("retry.stop_on"),
            lookup_settle: seconds("reconcile.lookup_settle_seconds"),
            catch_up_single_max: number("catch_up.single_max"),
            catch_up_absence: seconds("catch_up.absence_seconds"),
            catch_up_old: seconds("catch_up.old_hours") * 3600,
            imap_poll: seconds("imap.poll_seconds"),
            imap_dead_line: seconds("imap.dead_line_seconds"),
            history_days: number("retention.history_days"),
            key_days: number("retention.key_days"),
            cancel_when_read: is_on("cancel_when_read"),
            alarm_dead_letters: number("alarm.dead_letters"),
            alarm_oldest_due: seconds("alarm.oldest_due_seconds"),
            alarm_stale_mailbox: seconds("alarm.stale_mailbox_seconds"),
            desktop_sound: is_on("desktop.sound"),
            desktop_respect_do_not_disturb: is_on("desktop.respect_do_not_disturb"),
            language: Choice::parse(&text("ui.language")),
            start_at_login: is_on("ui.start_at_login"),
        }
    }
}

/// The setting of a key.
#[must_use]
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Checks a new value against its form and against the others in force; gives the text to store.
///
/// # Errors
/// `not_found` for an unknown key, `invalid` with the allowed range for a value that does not fit.
pub fn check(key: &str, value: &str, stored: &BTreeMap<String, String>) -> Result<String, Fault> {
    let Some(setting) = find(key) else {
        return Err(Fault::new(
            FaultCode::NotFound,
            "Nothing was changed",
            format!("there is no setting {key:?}"),
            "see `ringonce settings list`",
        ));
    };
    let refused = |allowed: String| {
        Fault::new(
            FaultCode::Invalid,
            "Nothing was changed",
            format!("{key} does not take {value:?}"),
            format!("give {allowed}"),
        )
    };
    let clean = split(value).collect::<Vec<_>>().join(",");
    setting.form.check(&clean).map_err(refused)?;
    let mut all = stored.clone();
    all.insert(key.to_owned(), clean.clone());
    let settings = Settings::from_stored(&all);
    if settings.lease < settings.call_timeout * 2 {
        return Err(refused(
            "a lease (processing.lease_seconds) of 5 to 3600 that is at least twice processing.call_timeout_seconds"
                .to_owned(),
        ));
    }
    Ok(clean)
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

impl Form {
    /// Whether a value fits; the error says in words what would.
    fn check(self, value: &str) -> Result<(), String> {
        let in_range = |text: &str, min: i64, max: i64| text.parse::<i64>().is_ok_and(|n| (min..=max).contains(&n));
        match self {
            Self::Number(min, max) if in_range(value, min, max) => Ok(()),
            Self::Number(min, max) => Err(format!("a whole number from {min} to {max}")),
            Self::Numbers(min, max) => {
                let count = split(value).count();
                let fits = (1..=20).contains(&count) && split(value).all(|part| in_range(part, min, max));
                if fits { Ok(()) } else { Err(format!("1 to 20 whole numbers from {min} to {max}, comma-separated")) }
            }
            Self::Codes if split(value).all(|part| ErrorCode::parse(part).is_some()) => Ok(()),
            Self::Codes => {
                let names: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
                Err(format!("a comma-separated list of {}", names.join(", ")))
            }
            Self::Bool if matches!(value, "true" | "false") => Ok(()),
            Self::Bool => Err("true or false".to_owned()),
            Self::OneOf(words) if words.contains(&value) => Ok(()),
            Self::OneOf(words) => Err(format!("one of {}", words.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_fit_their_own_forms_and_each_other() {
        for setting in SETTINGS {
            let kept = check(setting.key, setting.default, &BTreeMap::new());
            assert_eq!(kept.as_deref(), Ok(setting.default), "{}", setting.key);
        }
    }

    #[test]
    fn a_value_out_of_range_names_the_range() {
        let case = |key: &str, value: &str, words: &str| {
            let fault = check(key, value, &BTreeMap::new()).unwrap_err();
            assert!(fault.next_step.contains(words), "{key}={value}: {fault}");
        };
        case("processing.lease_seconds", "4", "5 to 3600");
        case("processing.lease_seconds", "59", "at least twice");
        case("processing.call_timeout_seconds", "61", "at least twice");
        case("processing.max_attempts", "x", "1 to 100");
        case("retry.backoff_seconds", "", "1 to 20 whole numbers");
        case("retry.backoff_seconds", "5,0", "from 1 to 86400");
        case("retry.retry_on", "nonsense", "connection_reset");
        case("cancel_when_read", "yes", "true or false");
        case("ui.language", "de", "system, en, ru, pl");
        case("ui.theme", "", "system, light, dark");
        assert_eq!(check("nope", "1", &BTreeMap::new()).unwrap_err().code, FaultCode::NotFound);
    }

    #[test]
    fn lists_are_stored_without_blanks() {
        assert_eq!(check("retry.backoff_seconds", " 1, 2 ,3", &BTreeMap::new()).as_deref(), Ok("1,2,3"));
    }
}
