//! The moves of the state machine: each gives the row as it will be.

use std::time::Duration;

use crate::channel::Class;
use crate::model::destination::Policy;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode, Status};
use crate::outbox::status::{
    AGAIN_BY_OWNER, Effect, Event, Facts, REJECTED, SNOOZE_MS, Step, USED_UP, key_protects, ms, nth,
};
use crate::store::table::outbox::{Change, NEVER_AT, OutboxRow};

/// A wait longer than this hands the mail to the route's fallback as well.
const LONG_WAIT: Duration = Duration::from_secs(600);

/// A row and what is known beside it.
pub(super) struct Machine<'a> {
    pub(super) row: &'a OutboxRow,
    pub(super) facts: &'a Facts<'a>,
}

impl Machine<'_> {
    pub(super) fn after_attempt(&self, outcome: &AttemptOutcome) -> Step {
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

    pub(super) fn rescued(&self, marked: bool) -> Step {
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
                attempt: self.spent(),
                uncertain_at: Some(now_at),
                lookups: 0,
                last_error: text(error),
                ..self.keep()
            };
            return self.step(change);
        }
        self.by_policy(error)
    }

    pub(super) fn cannot_tell(&self, error: &ChannelError) -> Step {
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
                    attempt: self.spent(),
                    uncertain_at: self.row.uncertain_at.or(Some(self.facts.now_at)),
                    last_error: text(error),
                    ..self.keep()
                };
                Step { change, effect: Effect::Alarm }
            }
        }
    }

    /// A lookup that failed is repeated by the backoff, then by the ladder.
    pub(super) fn ask_later(&self, error: &ChannelError) -> Step {
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
    pub(super) fn counted(&self, error: &ChannelError, wait_ms: Option<i64>) -> Step {
        let settings = self.facts.settings;
        let attempt = self.spent();
        if attempt >= settings.max_attempts {
            return self.dead(error, USED_UP);
        }
        let wait_ms = wait_ms.unwrap_or_else(|| self.jittered(nth(&settings.backoff_seconds, attempt - 1) * 1000));
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
            attempt: self.spent(),
            last_error: text(error),
            ..self.keep()
        };
        Step { change, effect: Effect::FailOver }
    }

    pub(super) fn new_round(&self, event: &Event) -> Step {
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

    pub(super) fn due_now(&self) -> Step {
        self.step(Change { due_at: self.facts.now_at, wait_ms: 0, ..self.keep() })
    }

    pub(super) fn completed(&self, external_id: Option<String>, reason: Option<&str>) -> Step {
        let change = Change {
            status: Status::Completed,
            reason: reason.map(str::to_owned).or_else(|| self.keep().reason),
            attempt: self.spent(),
            external_message_id: external_id,
            last_error: None,
            ..self.keep()
        };
        Step { change, effect: Effect::Told }
    }

    pub(super) fn cancelled(&self, reason: &str) -> Step {
        self.step(Change { status: Status::Cancelled, reason: Some(reason.to_owned()), ..self.keep() })
    }

    fn step(&self, change: Change) -> Step {
        Step { change, effect: Effect::None }
    }

    /// Attempts of this round, with the one in hand; an uncertain one was counted when it became so.
    fn spent(&self) -> i64 {
        self.row.attempt + i64::from(self.row.status == Status::Processing)
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

fn text(error: &ChannelError) -> Option<String> {
    serde_json::to_string(error).ok()
}
