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
use crate::store::table::outbox::{Change, NEVER_AT, OutboxRow};

/// A wait longer than this hands the mail to the route's fallback as well.
const LONG_WAIT: Duration = Duration::from_secs(600);
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

struct Machine<'a> {
    row: &'a OutboxRow,
    facts: &'a Facts<'a>,
}

impl Machine<'_> {
    fn after_attempt(&self, outcome: &AttemptOutcome) -> Step {
        match outcome {
            AttemptOutcome::Accepted { external_id } => self.completed(external_id.clone(), None),
            AttemptOutcome::Abandoned => self.step(Change { due_at: self.facts.now_at, wait_ms: 0, ..self.keep() }),
            AttemptOutcome::Rejected { error } if error.code == ErrorCode::AuthenticationError => self.refused(error),
            AttemptOutcome::Rejected { error } if self.facts.settings.retry_on.contains(&error.code) => {
                self.counted(error, None)
            }
            AttemptOutcome::Rejected { error } => self.dead(error, REJECTED),
            AttemptOutcome::Deferred { error, .. } if error.code == ErrorCode::AuthenticationError => {
                self.refused(error)
            }
            AttemptOutcome::Deferred { error, retry_after, environment } => {
                self.deferred(error, *retry_after, *environment)
            }
            AttemptOutcome::Unknown { error } => self.unknown(error),
        }
    }

    fn deferred(&self, error: &ChannelError, retry_after: Option<Duration>, environment: bool) -> Step {
        if self.facts.settings.stop_on.contains(&error.code) {
            return self.dead(error, REJECTED);
        }
        if environment {
            return self.wait(error, self.jittered(SNOOZE_MS), Effect::None);
        }
        match retry_after {
            None => self.counted(error, None),
            Some(wait) if wait > LONG_WAIT => self.wait(error, ms(wait), Effect::Alongside),
            Some(wait) => self.wait(error, ms(wait), Effect::None),
        }
    }

    fn refused(&self, error: &ChannelError) -> Step {
        self.wait(error, 0, Effect::PauseDestination)
    }

    fn unknown(&self, error: &ChannelError) -> Step {
        if key_protects(self.row, self.facts.class, self.facts.now_at) {
            return self.counted(error, None);
        }
        self.uncertain(error)
    }

    fn rescued(&self, marked: bool) -> Step {
        let error = ChannelError::new(ErrorCode::Interrupted, "The program ended in the middle of the attempt");
        if key_protects(self.row, self.facts.class, self.facts.now_at) {
            // No mark is made inside the window: bytes may have left, and the key protects.
            return self.counted(&error, Some(0));
        }
        // Class A past its window: the attempt may have begun inside it, without a mark.
        if marked || matches!(self.facts.class, Class::A { .. }) {
            return self.uncertain(&error);
        }
        self.step(Change { due_at: self.facts.now_at, wait_ms: 0, ..self.keep() })
    }

    /// Bytes left and nobody knows: ask where one can ask, else follow the owner's policy.
    fn uncertain(&self, error: &ChannelError) -> Step {
        let now_at = self.facts.now_at;
        if let Class::B { .. } = self.facts.class {
            let wait_ms = ms(self.facts.settings.lookup_settle);
            let change = Change {
                status: Status::Uncertain,
                due_at: now_at.saturating_add(wait_ms),
                wait_ms,
                uncertain_at: Some(now_at),
                lookups: 0,
                last_error: text(error),
                ..self.keep()
            };
            return self.step(change);
        }
        self.by_policy(error)
    }

    fn cannot_tell(&self, error: &ChannelError) -> Step {
        self.by_policy(error)
    }

    fn by_policy(&self, error: &ChannelError) -> Step {
        match self.facts.policy {
            Policy::NeverLost => {
                let mut step = self.counted(error, None);
                step.change.may_be_repeat = step.change.status == Status::Pending;
                step
            }
            Policy::NeverTwice => {
                let change = Change {
                    status: Status::Uncertain,
                    due_at: NEVER_AT,
                    wait_ms: 0,
                    uncertain_at: self.row.uncertain_at.or(Some(self.facts.now_at)),
                    last_error: text(error),
                    ..self.keep()
                };
                Step { change, effect: Effect::Alarm }
            }
        }
    }

    /// A lookup that failed is repeated by the backoff, then by the ladder.
    fn ask_later(&self, error: &ChannelError) -> Step {
        let settings = self.facts.settings;
        let waits: Vec<i64> = settings.backoff_seconds.iter().chain(&settings.ladder_seconds).copied().collect();
        let wait_ms = self.jittered(nth(&waits, self.row.lookups) * 1000);
        let change = Change {
            status: Status::Uncertain,
            due_at: self.facts.now_at.saturating_add(wait_ms),
            wait_ms,
            uncertain_at: self.row.uncertain_at,
            lookups: self.row.lookups + 1,
            last_error: text(error),
            ..self.keep()
        };
        self.step(change)
    }

    /// One more attempt of this round is spent: again after the backoff (or `wait_ms`), or given up.
    fn counted(&self, error: &ChannelError, wait_ms: Option<i64>) -> Step {
        let settings = self.facts.settings;
        let attempt = self.row.attempt + 1;
        if attempt >= settings.max_attempts {
            let mut step = self.dead(error, USED_UP);
            step.change.attempt = attempt;
            return step;
        }
        let wait_ms = wait_ms.unwrap_or_else(|| self.jittered(nth(&settings.backoff_seconds, self.row.attempt) * 1000));
        let mut step = self.wait(error, wait_ms, Effect::None);
        step.change.attempt = attempt;
        step
    }

    fn wait(&self, error: &ChannelError, wait_ms: i64, effect: Effect) -> Step {
        let due_at = self.facts.now_at.saturating_add(wait_ms);
        Step { change: Change { due_at, wait_ms, last_error: text(error), ..self.keep() }, effect }
    }

    fn dead(&self, error: &ChannelError, reason: &str) -> Step {
        let change = Change {
            status: Status::Dead,
            reason: Some(reason.to_owned()),
            attempt: self.row.attempt + 1,
            last_error: text(error),
            ..self.keep()
        };
        Step { change, effect: Effect::FailOver }
    }

    fn new_round(&self, event: &Event) -> Step {
        let by_owner = matches!(event, Event::Retry { by_owner: true });
        // Class B asked before it was given up; of the others an earlier attempt may have arrived.
        let may_be_copy = self.facts.any_unknown
            && !matches!(self.facts.class, Class::B { .. })
            && !key_protects(self.row, self.facts.class, self.facts.now_at);
        if may_be_copy && !by_owner && self.facts.policy == Policy::NeverTwice {
            let error = ChannelError::new(ErrorCode::NoAnswer, "An earlier attempt may have arrived");
            return self.by_policy(&error);
        }
        let change = Change {
            reason: (may_be_copy && by_owner).then(|| AGAIN_BY_OWNER.to_owned()),
            due_at: self.facts.now_at,
            wait_ms: 0,
            attempt: 0,
            round: self.row.round + 1,
            may_be_repeat: self.row.may_be_repeat || (may_be_copy && self.facts.policy == Policy::NeverLost),
            ..self.keep()
        };
        self.step(change)
    }

    fn due_now(&self) -> Step {
        self.step(Change { due_at: self.facts.now_at, wait_ms: 0, ..self.keep() })
    }

    fn completed(&self, external_id: Option<String>, reason: Option<&str>) -> Step {
        let change = Change {
            status: Status::Completed,
            reason: reason.map(str::to_owned).or_else(|| self.keep().reason),
            attempt: self.row.attempt + i64::from(self.row.status == Status::Processing),
            external_message_id: external_id,
            last_error: None,
            ..self.keep()
        };
        Step { change, effect: Effect::Told }
    }

    fn cancelled(&self, reason: &str) -> Step {
        self.step(Change { status: Status::Cancelled, reason: Some(reason.to_owned()), ..self.keep() })
    }

    fn step(&self, change: Change) -> Step {
        Step { change, effect: Effect::None }
    }

    /// The row as it is, back in `pending`.
    fn keep(&self) -> Change {
        let row = self.row;
        Change {
            status: Status::Pending,
            reason: row.reason.clone().filter(|reason| reason == AGAIN_BY_OWNER),
            due_at: row.due_at,
            wait_ms: row.wait_ms,
            attempt: row.attempt,
            round: row.round,
            uncertain_at: None,
            lookups: row.lookups,
            may_be_repeat: row.may_be_repeat,
            external_message_id: row.external_message_id.clone(),
            last_error: row.last_error.clone(),
        }
    }

    /// ±20 %, so that what failed together does not come back together.
    fn jittered(&self, wait_ms: i64) -> i64 {
        let fifth = wait_ms / 5;
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
        let part = (self.facts.random.clamp(0.0, 1.0) * (2 * fifth) as f64) as i64;
        wait_ms - fifth + part
    }
}

/// The wait of a step; past the end the last one repeats.
#[must_use]
pub fn nth(waits: &[i64], step: i64) -> i64 {
    let step = usize::try_from(step).unwrap_or(0);
    waits.get(step).or(waits.last()).copied().unwrap_or(60)
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn text(error: &ChannelError) -> Option<String> {
    serde_json::to_string(error).ok()
}
