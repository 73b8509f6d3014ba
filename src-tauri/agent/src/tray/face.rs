//! What the tray shows of how everything is doing: pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ringonce_engine::api::mailbox::MailboxStatus;
use ringonce_engine::api::status::Status;

use crate::tray::words::{Words, fill};

/// What the icon says. The states differ in shape, not only in colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Watching,
    Attention,
    Paused,
    Offline,
}

/// Everything the tray shows.
#[derive(Clone, PartialEq)]
pub(crate) struct Face {
    pub(crate) mark: Mark,
    /// How everything is doing, in one or two sentences.
    pub(crate) sentence: String,
    pub(crate) paused: bool,
    /// Dead letters and uncertain notifications.
    pub(crate) attention: i64,
    pub(crate) words: &'static Words,
}

impl Face {
    /// Of a status, at a time, in words, by a zone's clock.
    pub(crate) fn of(status: &Status, words: &'static Words, now: Timestamp, zone: &TimeZone) -> Self {
        let attention = status.dead + status.uncertain;
        let clock = |time: &str| clock(time, words, now, zone);
        let (mark, mut sentence) = lead(status, words, &clock);
        if attention > 0 {
            sentence = format!("{sentence} {}", words.needing(attention));
        }
        Self { mark, sentence, paused: status.paused_until.is_some(), attention, words }
    }
}

/// The one thing to say, in the order of how much it matters; what needs the owner comes before what will pass.
fn lead(status: &Status, words: &Words, clock: &dyn Fn(&str) -> String) -> (Mark, String) {
    let at = |sentence: &str, time: &str| fill(sentence, "time", &clock(time));
    let mark = if status.dead + status.uncertain > 0 { Mark::Attention } else { Mark::Watching };
    let calm = |mark: Mark| if status.dead + status.uncertain > 0 { Mark::Attention } else { mark };
    if status.keychain_error.is_some() {
        return (Mark::Attention, words.no_keychain.to_owned());
    }
    if let Some(mailbox) = status.mailboxes.iter().find(|mailbox| mailbox.state == "sign_in") {
        return (Mark::Attention, fill(words.sign_in, "mailbox", &mailbox.email));
    }
    if let Some(until) = &status.paused_until {
        return (calm(Mark::Paused), at(words.paused_until, until));
    }
    if let Some(since) = &status.offline_since {
        return (Mark::Offline, at(words.no_network, since));
    }
    let active: Vec<&MailboxStatus> = status.mailboxes.iter().filter(|mailbox| mailbox.state != "paused").collect();
    if !active.is_empty() && active.iter().all(|mailbox| mailbox.state == "offline") {
        return (Mark::Offline, words.no_answer.to_owned());
    }
    if let Some(destination) = status.destinations.iter().find(|destination| destination.state == "sign_in") {
        return (Mark::Attention, fill(words.destination, "destination", &destination.name));
    }
    if status.mailboxes.is_empty() {
        return (mark, words.no_mailbox.to_owned());
    }
    if active.iter().any(|mailbox| mailbox.state == "starting") {
        return (mark, words.starting.to_owned());
    }
    (mark, watching(status, words, clock))
}

fn watching(status: &Status, words: &Words, clock: &dyn Fn(&str) -> String) -> String {
    let all = status.mailboxes.len();
    let watched = status.mailboxes.iter().filter(|mailbox| mailbox.state == "watching").count();
    let watching = if watched == all {
        words.watching(all)
    } else {
        fill(&fill(words.watching_some, "n", &watched.to_string()), "all", &all.to_string())
    };
    let last = status.mailboxes.iter().filter_map(|mailbox| mailbox.last_mail_at.as_deref()).max();
    let last = last.map_or_else(|| words.no_mail.to_owned(), |at| fill(words.last_mail, "time", &clock(at)));
    format!("{watching} {last}")
}

/// "14:05"; on another day with the day. Not "4 min ago": that would be wrong a minute later.
fn clock(time: &str, words: &Words, now: Timestamp, zone: &TimeZone) -> String {
    let Ok(time) = time.parse::<Timestamp>() else { return time.to_owned() };
    let (local, today) = (zone.to_datetime(time), zone.to_datetime(now).date());
    let hour = local.strftime("%H:%M").to_string();
    if local.date() == today { hour } else { format!("{}, {hour}", local.strftime(words.day)) }
}

#[cfg(test)]
mod tests {
    use ringonce_engine::api::destination::DestinationStatus;
    use ringonce_engine::api::status::Today;
    use ringonce_engine::words::Language;

    use super::*;

    const NOW: &str = "2026-03-05T14:00:00Z";

    fn mailbox(state: &str) -> MailboxStatus {
        MailboxStatus {
            id: state.to_owned(),
            mailbox_id: state.to_owned(),
            email: format!("{state}@example.com"),
            state: state.to_owned(),
            method: "idle".to_owned(),
            last_check_at: None,
            last_mail_at: (state == "watching").then(|| "2026-03-05T09:07:00.000Z".to_owned()),
            error: None,
            demo: false,
        }
    }

    fn status(states: &[&str]) -> Status {
        Status {
            running: true,
            mailboxes: states.iter().map(|state| mailbox(state)).collect(),
            destinations: Vec::new(),
            pending: 0,
            oldest_due_at: None,
            dead: 0,
            uncertain: 0,
            held: 0,
            alarms: Vec::new(),
            today: Today::default(),
            by_destination: Default::default(),
            paused_until: None,
            offline_since: None,
            keychain_error: None,
            tray: Default::default(),
        }
    }

    #[track_caller]
    fn check(status: &Status, mark: Mark, sentence: &str) {
        let face = Face::of(status, Words::of(Language::En), NOW.parse().unwrap(), &TimeZone::UTC);
        assert_eq!((face.mark, face.sentence.as_str()), (mark, sentence));
    }

    #[test]
    fn the_first_thing_that_matters_is_said() {
        check(&status(&[]), Mark::Watching, "No mailbox yet.");
        check(&status(&["starting", "watching"]), Mark::Watching, "Starting.");
        check(&status(&["watching"]), Mark::Watching, "Watching 1 mailbox. Last mail: 09:07.");
        let some = status(&["watching", "offline", "paused"]);
        check(&some, Mark::Watching, "Watching 1 of 3 mailboxes. Last mail: 09:07.");
        check(&status(&["offline", "paused"]), Mark::Offline, "No mail server answers.");
        check(&status(&["sign_in", "watching"]), Mark::Attention, "Sign in again: sign_in@example.com.");

        let mut one = status(&["watching"]);
        one.mailboxes[0].last_mail_at = Some("2026-03-02T09:07:00.000Z".to_owned());
        check(&one, Mark::Watching, "Watching 1 mailbox. Last mail: 2 Mar, 09:07.");
        one.mailboxes[0].last_mail_at = None;
        check(&one, Mark::Watching, "Watching 1 mailbox. No mail yet.");
        one.destinations.push(DestinationStatus {
            id: "d".to_owned(),
            name: "phone".to_owned(),
            kind: "ntfy".to_owned(),
            state: "sign_in".to_owned(),
            last_delivery_at: None,
            error: None,
        });
        check(&one, Mark::Attention, "Not told by phone: access is refused.");
        one.offline_since = Some("2026-03-05T13:00:00.000Z".to_owned());
        check(&one, Mark::Offline, "No network since 13:00.");
        one.paused_until = Some("2026-03-06T07:00:00.000Z".to_owned());
        check(&one, Mark::Paused, "Paused until 6 Mar, 07:00.");
        one.dead = 1;
        one.uncertain = 2;
        check(&one, Mark::Attention, "Paused until 6 Mar, 07:00. 3 notifications need attention.");
        one.keychain_error = Some("locked".to_owned());
        check(&one, Mark::Attention, "The passwords cannot be read. 3 notifications need attention.");
    }
}
