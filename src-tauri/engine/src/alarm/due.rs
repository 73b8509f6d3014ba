//! Which alarms should be open now: facts in, alarms out.

use std::time::Duration;

use crate::alarm::{Alarm, Code, Copies};
use crate::model::settings::Settings;
use crate::source::HealthState;
use crate::store::figures::Dead;

/// A disk that refused something must have taken everything for so long before it counts as well again: near its end
/// it takes this and refuses that.
const DISK_CALM: Duration = Duration::from_secs(20);
/// A mailbox that is watched is checked at its safety poll, which may be late by this much.
const POLL_GRACE: Duration = Duration::from_secs(300);

/// What is known.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// How long the program has been awake: since its start, or since the computer slept.
    pub awake: Duration,
    /// Now, ms UTC.
    pub now_at: i64,
    /// Dead letters.
    pub dead: Dead,
    /// When the oldest notification fell due that could be sent now.
    pub oldest_due_at: Option<i64>,
    /// Mailboxes that are read, paused ones not.
    pub mailboxes: Vec<Watched>,
    /// Destinations that refuse the sign-in: id and name.
    pub refused: Vec<(String, String)>,
    /// What the disk refused last.
    pub disk: Option<Disk>,
    /// How the daily copy goes.
    pub copies: Copies,
}

/// A mailbox that should be checked.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Its account.
    pub id: String,
    /// The owner's address there.
    pub email: String,
    /// How it is doing.
    pub state: HealthState,
    /// What is wrong with it.
    pub cause: Option<String>,
    /// When its last good check ended, ms UTC.
    pub last_check_at: Option<i64>,
    /// How long the program has been awake without a good check of it.
    pub unchecked: Duration,
}

/// What the disk refused.
#[derive(Debug, Clone)]
pub struct Disk {
    /// Its words.
    pub cause: String,
    /// How long ago.
    pub ago: Duration,
    /// Something was written since.
    pub over: bool,
}

/// An alarm that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Kind.
    pub code: Code,
    /// What it is about.
    pub about: String,
    /// Since when, ms UTC.
    pub opened_at: i64,
}

/// Every alarm that should be open now, but those of the outbox itself (`uncertain`).
///
/// What needs time to be noticed stays open over a restart until the opposite is proven.
#[must_use]
pub fn due(facts: &Facts, open: &[Open], settings: &Settings) -> Vec<Alarm> {
    let opened_at = |code: Code, about: &str| {
        open.iter().find(|one| one.code == code && one.about == about).map(|one| one.opened_at)
    };
    let mut due = Vec::new();
    let mut add = |code: Code, about: &str, text: String| due.push(Alarm { code, about: about.to_owned(), text });
    if facts.dead.count >= settings.alarm_dead_letters {
        add(Code::DeadLetters, "", dead_letters(facts.dead));
    }
    if let Some(due_at) = facts.oldest_due_at {
        let late = Duration::from_millis((facts.now_at - due_at).max(0).unsigned_abs()).min(facts.awake);
        let stays = opened_at(Code::OldestDue, "").is_some_and(|at| due_at <= at);
        if late >= settings.alarm_oldest_due || stays {
            add(Code::OldestDue, "", format!("Notifications wait to be sent since {}", when(due_at)));
        }
    }
    for mailbox in &facts.mailboxes {
        let unproven = |at: i64| mailbox.last_check_at.is_none_or(|checked_at| checked_at <= at);
        let refused = mailbox.state == HealthState::SignIn;
        if refused || opened_at(Code::SignIn, &mailbox.id).is_some_and(unproven) {
            add(Code::SignIn, &mailbox.id, format!("{} refuses the sign-in: new mail is not seen", mailbox.email));
            continue;
        }
        if is_stale(mailbox, settings) || opened_at(Code::StaleMailbox, &mailbox.id).is_some_and(unproven) {
            add(Code::StaleMailbox, &mailbox.id, stale(mailbox));
        }
    }
    for (id, name) in &facts.refused {
        add(Code::SignIn, id, format!("{name} refuses the sign-in: nothing is sent to it"));
    }
    if let Some(disk) = &facts.disk
        && (!disk.over || (opened_at(Code::Disk, "").is_some() && disk.ago < DISK_CALM))
    {
        add(Code::Disk, "", format!("Nothing can be stored: {}", disk.cause));
    }
    match &facts.copies {
        Copies::Failed(cause) => add(Code::Copies, "", format!("The daily copy cannot be made: {cause}")),
        Copies::Untried if opened_at(Code::Copies, "").is_some() => {
            add(Code::Copies, "", "The daily copy could not be made".to_owned());
        }
        Copies::Untried | Copies::Good => {}
    }
    due
}

fn is_stale(mailbox: &Watched, settings: &Settings) -> bool {
    let limit = match mailbox.state {
        HealthState::Watching => settings.alarm_stale_mailbox.max(settings.imap_poll + POLL_GRACE),
        _ => settings.alarm_stale_mailbox,
    };
    mailbox.unchecked >= limit
}

fn dead_letters(dead: Dead) -> String {
    let since = dead.oldest_at.map(when).unwrap_or_default();
    match dead.count {
        1 => format!("1 notification was not delivered, since {since}"),
        count => format!("{count} notifications were not delivered, the oldest since {since}"),
    }
}

fn stale(mailbox: &Watched) -> String {
    let since = match mailbox.last_check_at {
        Some(at) => format!("was not checked since {}", when(at)),
        None => "was never checked".to_owned(),
    };
    let cause = mailbox.cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{} {since}{cause}", mailbox.email)
}

/// An instant by the owner's own clock, to the minute.
fn when(at: i64) -> String {
    let zone = jiff::tz::TimeZone::system();
    jiff::Timestamp::from_millisecond(at)
        .map_or_else(|_| String::new(), |at| at.to_zoned_datetime(zone).strftime("%Y-%m-%d %H:%M").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_AT: i64 = 1_700_000_000_000;
    const MINUTE: i64 = 60_000;

    fn minutes(count: u64) -> Duration {
        Duration::from_secs(count * 60)
    }

    fn facts() -> Facts {
        Facts { now_at: NOW_AT, awake: minutes(600), ..Facts::default() }
    }

    fn mailbox(state: HealthState, unchecked: Duration) -> Facts {
        let checked_at = NOW_AT - i64::try_from(unchecked.as_millis()).unwrap();
        let mailbox = Watched {
            id: "m".to_owned(),
            email: "o@example.com".to_owned(),
            state,
            cause: Some("the server does not answer".to_owned()),
            last_check_at: Some(checked_at),
            unchecked,
        };
        Facts { mailboxes: vec![mailbox], ..facts() }
    }

    fn disk(over: bool, ago: Duration) -> Facts {
        Facts { disk: Some(Disk { cause: "full".to_owned(), ago, over }), ..facts() }
    }

    #[track_caller]
    fn check(what: &str, facts: &Facts, open: &[(Code, &str, i64)], expected: &[(Code, &str)]) {
        let open: Vec<Open> = open
            .iter()
            .map(|(code, about, opened_at)| Open { code: *code, about: (*about).to_owned(), opened_at: *opened_at })
            .collect();
        let found = due(facts, &open, &Settings::default());
        let short: Vec<(Code, &str)> = found.iter().map(|alarm| (alarm.code, alarm.about.as_str())).collect();
        assert_eq!(short, expected, "{what}: {found:?}");
    }

    #[test]
    fn dead_letters_count_from_the_setting_on() {
        let dead = |count| Facts { dead: Dead { count, oldest_at: Some(NOW_AT) }, ..facts() };
        check("none", &dead(0), &[], &[]);
        check("the default is one", &dead(1), &[], &[(Code::DeadLetters, "")]);
        let settings = Settings { alarm_dead_letters: 3, ..Settings::default() };
        assert!(due(&dead(2), &[], &settings).is_empty(), "fewer than asked for");
        let text = &due(&dead(3), &[], &settings)[0].text;
        assert!(text.starts_with("3 notifications were not delivered, the oldest since 20"), "{text}");
    }

    #[test]
    fn what_is_due_may_be_late_but_not_long() {
        let due_since = |minutes| Facts { oldest_due_at: Some(NOW_AT - minutes * MINUTE), ..facts() };
        let late = [(Code::OldestDue, "")];
        check("a minute", &due_since(1), &[], &[]);
        check("two minutes", &due_since(2), &[], &late);
        let woken = Facts { awake: minutes(1), ..due_since(600) };
        check("a program that was off or asleep gets its time", &woken, &[], &[]);
        check("over a restart it lasts", &woken, &[(Code::OldestDue, "", NOW_AT - MINUTE)], &late);
        check("another one that is due", &due_since(1), &[(Code::OldestDue, "", NOW_AT - 5 * MINUTE)], &[]);
    }

    #[test]
    fn a_mailbox_without_a_good_check_is_named() {
        let stale = [(Code::StaleMailbox, "m")];
        check("14 minutes", &mailbox(HealthState::Offline, minutes(14)), &[], &[]);
        check("15 minutes", &mailbox(HealthState::Offline, minutes(15)), &[], &stale);
        check("failing is not better", &mailbox(HealthState::Failing, minutes(15)), &[], &stale);
        check("it starts for ever", &mailbox(HealthState::Starting, minutes(15)), &[], &stale);
        let text = &due(&mailbox(HealthState::Offline, minutes(15)), &[], &Settings::default())[0].text;
        assert!(text.starts_with("o@example.com was not checked since 20") && text.ends_with("not answer"), "{text}");
        let slow = Settings { imap_poll: minutes(30), ..Settings::default() };
        let watching = mailbox(HealthState::Watching, minutes(20));
        assert!(due(&watching, &[], &slow).is_empty(), "the owner's own poll is longer");
        assert!(
            !due(&mailbox(HealthState::Watching, minutes(35)), &[], &slow).is_empty(),
            "that is too long for it too"
        );
        let restarted =
            |checked_at| Facts { mailboxes: vec![Watched { unchecked: minutes(1), ..watched(checked_at) }], ..facts() };
        let open = [(Code::StaleMailbox, "m", NOW_AT - MINUTE)];
        check("over a restart it lasts", &restarted(NOW_AT - 20 * MINUTE), &open, &stale);
        check("until a check succeeds", &restarted(NOW_AT), &open, &[]);
        check("a mailbox that is paused or gone", &facts(), &open, &[]);
    }

    fn watched(checked_at: i64) -> Watched {
        let Some(mailbox) = mailbox(HealthState::Starting, minutes(0)).mailboxes.pop() else { unreachable!() };
        Watched { last_check_at: Some(checked_at), ..mailbox }
    }

    #[test]
    fn a_refused_sign_in_is_named_at_once_and_only_once() {
        check("a mailbox", &mailbox(HealthState::SignIn, minutes(0)), &[], &[(Code::SignIn, "m")]);
        check("not twice", &mailbox(HealthState::SignIn, minutes(60)), &[], &[(Code::SignIn, "m")]);
        let refused = Facts { refused: vec![("d".to_owned(), "phone".to_owned())], ..facts() };
        check("a destination", &refused, &[], &[(Code::SignIn, "d")]);
        check("resumed", &facts(), &[(Code::SignIn, "d", NOW_AT)], &[]);
    }

    #[test]
    fn a_disk_is_well_only_after_a_calm_time() {
        let (full, open) = ([(Code::Disk, "")], [(Code::Disk, "", NOW_AT)]);
        check("it refused", &disk(false, minutes(10)), &[], &full);
        check("it took something at once", &disk(true, Duration::from_secs(1)), &[], &[]);
        check("an open one waits", &disk(true, Duration::from_secs(1)), &open, &full);
        check("and ends", &disk(true, DISK_CALM), &open, &[]);
        check("another run", &facts(), &open, &[]);
    }

    #[test]
    fn copies_that_fail_are_named_until_one_is_made() {
        let with = |copies| Facts { copies, ..facts() };
        let failing = [(Code::Copies, "")];
        check("failed", &with(Copies::Failed("no room".to_owned())), &[], &failing);
        check("untried", &with(Copies::Untried), &[], &[]);
        check("over a restart", &with(Copies::Untried), &[(Code::Copies, "", 1)], &failing);
        check("made", &with(Copies::Good), &[(Code::Copies, "", 1)], &[]);
    }
}
