//! Where a notification goes next: a pure state machine. The store writes only what it returns.
//!
//! ```text
//!  pending ──claim──▶ processing ──accepted──▶ completed
//!    ▲  ▲               │  │  │
//!    │  └──deferred─────┘  │  └──rejected / attempts used up──▶ dead ──owner or ladder: retry──▶ pending
//!    │   (environment      │                                    dead ──owner: delivered──▶ completed · dismiss──▶ cancelled
//!    │    fault: snooze)   └──unknown──▶ uncertain   (class A inside its window: ──▶ pending, same key)
//!    │  lease expired, nothing sent yet      │ reconcile: found ──▶ completed
//!    └───────────────────────────────────────┤ reconcile: surely absent ──▶ pending
//!                                            │ cannot tell, policy "never twice" ──▶ stays; owner: delivered / send again / dismiss
//!                                            └ cannot tell, policy "never lost" ──▶ pending (marked "may be a repeat")
//!  pending | uncertain | dead ──covered by another route member, mailbox removed, owner──▶ cancelled
//! ```

use std::time::Duration;

use crate::channel::Class;
use crate::model::destination::Policy;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode, Status};
use crate::model::settings::Settings;
use crate::outbox::moves::Machine;
use crate::store::table::outbox::{Change, OutboxRow};

/// How long a notification rests when this computer is the cause, ms.
pub const SNOOZE_MS: i64 = 15_000;

/// What happened to a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Its attempt ended.
    Attempt(AttemptOutcome),
    /// Its sender is gone; `marked`: bytes may have left.
    Rescued {
        /// `payload_started_at` was committed.
        marked: bool,
    },
    /// The channel has it.
    Found {
        /// The channel's id of it.
        external_id: Option<String>,
    },
    /// The channel surely does not have it.
    Absent,
    /// The channel will never be able to say.
    CannotTell(ChannelError),
    /// The channel could not be asked now.
    LookupFailed(ChannelError),
    /// Try again: by the owner, or by the ladder of its route.
    Retry {
        /// The owner asked.
        by_owner: bool,
    },
    /// The owner says it arrived.
    MarkDelivered,
    /// Not wanted any more; why.
    Cancel(String),
}

/// What the machine looks at beside the row.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The channel's class as configured.
    pub class: Class,
    /// The destination's policy.
    pub policy: Policy,
    /// Bytes of an earlier attempt may have left, and nobody knows.
    pub any_unknown: bool,
    /// Settings in force.
    pub settings: &'a Settings,
    /// Now, ms UTC.
    pub now_at: i64,
    /// 0.0 to 1.0, for the jitter.
    pub random: f64,
}

/// What else follows from a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// It was told: what waits behind it on its routes is not needed.
    Told,
    /// It failed: the next of its route takes over.
    FailOver,
    /// It waits long: the next of its route is told as well.
    Alongside,
    /// Credentials refused: the destination stops, the next of its route is told as well.
    PauseDestination,
    /// Nobody can say whether it arrived: the owner has to know.
    Alarm,
}

/// Where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The row as it will be.
    pub change: Change,
    /// What else follows.
    pub effect: Effect,
}

/// A move the diagram does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("A {} notification cannot be moved by {event}", from.as_str())]
pub struct Illegal {
    /// Where it stands.
    pub from: Status,
    /// What was tried.
    pub event: &'static str,
}

/// Reason of a dead row that may be tried again by the ladder.
pub const USED_UP: &str = "used up";
/// Reason of a dead row that will be refused as long as it is as it is.
pub const REJECTED: &str = "rejected";
/// Reason of a completed row whose end the owner told.
pub const BY_OWNER: &str = "marked by the owner";
/// Reason of a row the owner sent again although it may have arrived.
pub const AGAIN_BY_OWNER: &str = "sent again by the owner";

/// Where a notification goes.
///
/// # Errors
/// [`Illegal`] for a move the diagram does not have; the row then stays as it is.
pub fn next(row: &OutboxRow, event: &Event, facts: &Facts<'_>) -> Result<Step, Illegal> {
    let machine = Machine { row, facts };
    let illegal = |event| Err(Illegal { from: row.status, event });
    match (row.status, event) {
        (Status::Processing, Event::Attempt(outcome)) => Ok(machine.after_attempt(outcome)),
        (Status::Processing, Event::Rescued { marked }) => Ok(machine.rescued(*marked)),
        (Status::Uncertain, Event::Found { external_id }) => Ok(machine.completed(external_id.clone(), None)),
        (Status::Uncertain, Event::Absent) => {
            let error = ChannelError::new(ErrorCode::NoAnswer, "Sent without an answer; the channel does not have it");
            Ok(machine.counted(&error, Some(0)))
        }
        (Status::Uncertain, Event::CannotTell(error)) => Ok(machine.cannot_tell(error)),
        (Status::Uncertain, Event::LookupFailed(error)) => Ok(machine.ask_later(error)),
        (Status::Dead, Event::Retry { .. }) => Ok(machine.new_round(event)),
        (Status::Uncertain, Event::Retry { by_owner: true }) => Ok(machine.new_round(event)),
        (Status::Pending, Event::Retry { by_owner: true }) => Ok(machine.due_now()),
        (Status::Dead | Status::Uncertain, Event::MarkDelivered) => {
            Ok(machine.completed(row.external_message_id.clone(), Some(BY_OWNER)))
        }
        (Status::Pending | Status::Uncertain | Status::Dead, Event::Cancel(reason)) => Ok(machine.cancelled(reason)),
        (_, Event::Attempt(_)) => illegal("an attempt"),
        (_, Event::Rescued { .. }) => illegal("a rescue"),
        (_, Event::Found { .. } | Event::Absent | Event::CannotTell(_) | Event::LookupFailed(_)) => illegal("a lookup"),
        (_, Event::Retry { .. }) => illegal("a retry"),
        (_, Event::MarkDelivered) => illegal("marking it as delivered"),
        (_, Event::Cancel(_)) => illegal("cancelling it"),
    }
}

/// Whether the channel still drops a repeat of this key: then an unknown attempt may be repeated, and no mark is needed.
#[must_use]
pub fn key_protects(row: &OutboxRow, class: Class, now_at: i64) -> bool {
    let Class::A { window } = class else { return false };
    let begun_at = row.first_attempt_at.unwrap_or(now_at);
    now_at < begun_at.saturating_add(ms(window))
}

/// The wait of a step; past the end the last one repeats.
#[must_use]
pub fn nth(waits: &[i64], step: i64) -> i64 {
    let step = usize::try_from(step).unwrap_or(0);
    waits.get(step).or(waits.last()).copied().unwrap_or(60)
}

pub(super) fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::table::outbox::NEVER_AT;

    const A: Class = Class::A { window: Duration::from_secs(86_400) };
    const B: Class = Class::B { look_back: Duration::from_secs(39_600) };
    const C: Class = Class::C;
    const NOW: i64 = 1_000_000_000;

    fn row(status: Status) -> OutboxRow {
        OutboxRow {
            id: 1,
            dispatch_key: "k".into(),
            operation_key: "o".into(),
            recipient: "r".into(),
            destination_id: "d".into(),
            payload: String::new(),
            status,
            reason: None,
            due_at: NOW - 5,
            wait_ms: 0,
            attempt: 0,
            round: 1,
            lease_token: None,
            first_attempt_at: Some(NOW - 10),
            uncertain_at: (status == Status::Uncertain).then_some(NOW - 7),
            lookups: 0,
            may_be_repeat: false,
            external_message_id: None,
            last_error: None,
            created_at: NOW - 20,
            completed_at: None,
        }
    }

    fn error(code: ErrorCode) -> ChannelError {
        ChannelError::new(code, "x")
    }

    fn deferred(code: ErrorCode, retry_after: Option<u64>, environment: bool) -> Event {
        let retry_after = retry_after.map(Duration::from_secs);
        Event::Attempt(AttemptOutcome::Deferred { error: error(code), retry_after, environment })
    }

    fn rejected(code: ErrorCode) -> Event {
        Event::Attempt(AttemptOutcome::Rejected { error: error(code) })
    }

    fn unknown() -> Event {
        Event::Attempt(AttemptOutcome::Unknown { error: error(ErrorCode::NoAnswer) })
    }

    /// The step of a row changed by `change`, under a policy, with the jitter in the middle.
    fn step(change: impl FnOnce(&mut OutboxRow), status: Status, class: Class, policy: Policy, event: &Event) -> Step {
        let settings = Settings::default();
        let mut row = row(status);
        change(&mut row);
        let facts = Facts { class, policy, any_unknown: false, settings: &settings, now_at: NOW, random: 0.5 };
        next(&row, event, &facts).unwrap()
    }

    /// From `processing`, never twice: status, wait in seconds, attempts that count, what follows.
    fn check(class: Class, attempt: i64, event: &Event, expected: (Status, i64, i64, Effect)) {
        let step = step(|row| row.attempt = attempt, Status::Processing, class, Policy::NeverTwice, event);
        let wait = if step.change.status == Status::Pending { (step.change.due_at - NOW) / 1000 } else { 0 };
        assert_eq!((step.change.status, wait, step.change.attempt, step.effect), expected, "{class:?} {event:?}");
    }

    #[test]
    fn an_attempt_leads_where_the_diagram_says() {
        use ErrorCode::{AuthenticationError, InvalidRecipient, NoNetwork, RateLimit, TemporaryUnavailable};
        let accepted = Event::Attempt(AttemptOutcome::Accepted { external_id: Some("x".to_owned()) });
        let abandoned = Event::Attempt(AttemptOutcome::Abandoned);
        for class in [A, B, C] {
            check(class, 0, &accepted, (Status::Completed, 0, 1, Effect::Told));
            check(class, 2, &abandoned, (Status::Pending, 0, 2, Effect::None));
            for (attempt, wait) in [(0, 5), (1, 20), (2, 60)] {
                let event = deferred(TemporaryUnavailable, None, false);
                check(class, attempt, &event, (Status::Pending, wait, attempt + 1, Effect::None));
            }
            check(class, 3, &deferred(TemporaryUnavailable, None, false), (Status::Dead, 0, 4, Effect::FailOver));
            check(class, 3, &deferred(RateLimit, Some(30), false), (Status::Pending, 30, 3, Effect::None));
            check(class, 3, &deferred(RateLimit, Some(601), false), (Status::Pending, 601, 3, Effect::Alongside));
            check(class, 3, &deferred(NoNetwork, None, true), (Status::Pending, 15, 3, Effect::None));
            check(class, 0, &deferred(InvalidRecipient, None, false), (Status::Dead, 0, 1, Effect::FailOver));
            check(class, 0, &rejected(InvalidRecipient), (Status::Dead, 0, 1, Effect::FailOver));
            check(class, 0, &rejected(TemporaryUnavailable), (Status::Pending, 5, 1, Effect::None));
            check(class, 0, &rejected(AuthenticationError), (Status::Pending, 0, 0, Effect::PauseDestination));
        }
        check(A, 0, &unknown(), (Status::Pending, 5, 1, Effect::None));
        check(A, 3, &unknown(), (Status::Dead, 0, 4, Effect::FailOver));
        check(B, 0, &unknown(), (Status::Uncertain, 0, 1, Effect::None));
        check(C, 0, &unknown(), (Status::Uncertain, 0, 1, Effect::Alarm));
    }

    #[test]
    fn a_rescue_never_makes_a_blind_copy() {
        let rescued = |marked| Event::Rescued { marked };
        check(A, 0, &rescued(false), (Status::Pending, 0, 1, Effect::None));
        for class in [B, C] {
            check(class, 1, &rescued(false), (Status::Pending, 0, 1, Effect::None));
        }
        check(B, 0, &rescued(true), (Status::Uncertain, 0, 1, Effect::None));
        check(C, 0, &rescued(true), (Status::Uncertain, 0, 1, Effect::Alarm));
        for marked in [true, false] {
            let late = |row: &mut OutboxRow| row.first_attempt_at = Some(NOW - 86_400_000);
            let step = step(late, Status::Processing, A, Policy::NeverTwice, &rescued(marked));
            assert_eq!(step.change.status, Status::Uncertain, "past its window the key protects no more");
        }
    }

    #[test]
    fn what_is_uncertain_is_asked_about_and_then_follows_the_policy() {
        let uncertain = |policy, event: &Event| step(|row| row.attempt = 1, Status::Uncertain, B, policy, event);
        let found = uncertain(Policy::NeverTwice, &Event::Found { external_id: Some("x".to_owned()) });
        assert_eq!((found.change.status, found.effect), (Status::Completed, Effect::Told));
        let absent = uncertain(Policy::NeverTwice, &Event::Absent);
        assert_eq!((absent.change.status, absent.change.due_at, absent.change.attempt), (Status::Pending, NOW, 1));
        let failed = uncertain(Policy::NeverTwice, &Event::LookupFailed(error(ErrorCode::NoAnswer)));
        assert_eq!((failed.change.status, failed.change.lookups), (Status::Uncertain, 1));
        assert_eq!(failed.change.due_at, NOW + 5000, "a lookup that failed is repeated by the backoff");
        let silent = Event::CannotTell(error(ErrorCode::NoAnswer));
        let held = uncertain(Policy::NeverTwice, &silent);
        assert_eq!((held.change.status, held.change.due_at, held.effect), (Status::Uncertain, NEVER_AT, Effect::Alarm));
        assert_eq!(held.change.uncertain_at, Some(NOW - 7), "since when it is uncertain stays");
        let again = uncertain(Policy::NeverLost, &silent);
        assert_eq!((again.change.status, again.change.may_be_repeat), (Status::Pending, true));
    }

    #[test]
    fn a_new_round_begins_anew_unless_it_could_be_a_copy() {
        let settings = Settings::default();
        let case = |class, policy, by_owner, any_unknown, first_at: i64| {
            let row = OutboxRow { attempt: 4, first_attempt_at: Some(first_at), ..row(Status::Dead) };
            let facts = Facts { class, policy, any_unknown, settings: &settings, now_at: NOW, random: 0.5 };
            let change = next(&row, &Event::Retry { by_owner }, &facts).unwrap().change;
            (change.status, change.attempt, change.round, change.may_be_repeat)
        };
        let (fresh, old) = (NOW - 1000, NOW - 90_000_000);
        let twice = Policy::NeverTwice;
        assert_eq!(case(A, twice, false, true, fresh), (Status::Pending, 0, 2, false), "the key still protects");
        assert_eq!(case(A, twice, false, true, old).0, Status::Uncertain, "the ladder makes no copy");
        assert_eq!(case(A, twice, true, true, old), (Status::Pending, 0, 2, false), "the owner may");
        assert_eq!(case(A, Policy::NeverLost, false, true, old), (Status::Pending, 0, 2, true));
        assert_eq!(case(B, twice, false, true, old), (Status::Pending, 0, 2, false), "it was asked before");
        assert_eq!(case(C, twice, false, false, old), (Status::Pending, 0, 2, false));
    }

    #[test]
    fn every_arrow_of_the_diagram_and_no_other() {
        let settings = Settings::default();
        let facts = Facts {
            class: B,
            policy: Policy::NeverTwice,
            any_unknown: false,
            settings: &settings,
            now_at: NOW,
            random: 0.5,
        };
        let events: [(&str, Event, &[Status]); 9] = [
            ("attempt", Event::Attempt(AttemptOutcome::Abandoned), &[Status::Processing]),
            ("rescue", Event::Rescued { marked: false }, &[Status::Processing]),
            ("found", Event::Found { external_id: None }, &[Status::Uncertain]),
            ("absent", Event::Absent, &[Status::Uncertain]),
            ("cannot tell", Event::CannotTell(error(ErrorCode::NoAnswer)), &[Status::Uncertain]),
            ("ladder", Event::Retry { by_owner: false }, &[Status::Dead]),
            ("owner", Event::Retry { by_owner: true }, &[Status::Dead, Status::Uncertain, Status::Pending]),
            ("delivered", Event::MarkDelivered, &[Status::Dead, Status::Uncertain]),
            ("cancel", Event::Cancel("x".to_owned()), &[Status::Dead, Status::Uncertain, Status::Pending]),
        ];
        for (name, event, allowed) in &events {
            for status in Status::ALL {
                let legal = next(&row(status), event, &facts).is_ok();
                assert_eq!(legal, allowed.contains(&status), "{name} from {}", status.as_str());
            }
        }
    }

    #[test]
    fn waits_are_jittered_by_a_fifth_and_the_last_one_repeats() {
        assert_eq!([0, 1, 2, 3, 9].map(|step| nth(&[5, 20, 60], step)), [5, 20, 60, 60, 60]);
        let settings = Settings::default();
        for (random, expected) in [(0.0, 4000), (0.5, 5000), (1.0, 6000)] {
            let facts = Facts {
                class: C,
                policy: Policy::NeverTwice,
                any_unknown: false,
                settings: &settings,
                now_at: NOW,
                random,
            };
            let event = deferred(ErrorCode::ConnectionReset, None, false);
            let change = next(&row(Status::Processing), &event, &facts).unwrap().change;
            assert_eq!((change.wait_ms, change.due_at - NOW), (expected, expected));
        }
    }
}
