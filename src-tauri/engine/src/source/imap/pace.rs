//! How soon to try again: growing, jittered pauses, and a budget of sign-ins (imap.md rule 9).

use std::time::Duration;

use tokio::time::Instant;

use crate::limits;

/// The pause before the next connection.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// The pause now; the next one is longer.
    pub(super) fn next(&mut self) -> Duration {
        // A server that is started anew or a network that fails for a moment is back within half a minute: until then
        // the pauses stay short. A connection costs nobody anything; for sign-ins there is the budget.
        let doublings = match self.tries {
            0..2 => 0,
            2..7 => 1,
            tries => tries.saturating_sub(5),
        };
        let base = limits::IMAP_RECONNECT_WAIT_MIN.saturating_mul(1_u32 << doublings.min(16));
        self.tries += 1;
        let capped = base.min(limits::IMAP_RECONNECT_WAIT_MAX);
        capped.mul_f64(1.0 + fastrand::f64() / 4.0).min(limits::IMAP_RECONNECT_WAIT_MAX)
    }

    /// All is well again.
    pub(super) fn reset(&mut self) {
        self.tries = 0;
    }
}

/// Sign-ins that may still be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoginBudget {
    /// When the budget is full again.
    full_at: Instant,
}

impl LoginBudget {
    /// A full one.
    pub(super) fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// How long until one more may be made.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let allowed = now + limits::IMAP_LOGIN_EVERY * (limits::IMAP_LOGINS_BURST - 1);
        self.full_at.saturating_duration_since(allowed)
    }

    /// One was made.
    pub(super) fn spend(&mut self, now: Instant) {
        self.full_at = self.full_at.max(now) + limits::IMAP_LOGIN_EVERY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_limit_and_begin_anew() {
        let mut backoff = Backoff::default();
        let lows = [2.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0, 8.0, 16.0, 32.0, 64.0, 80.0, 80.0];
        let pauses = lows.map(|_| backoff.next().as_secs_f64());
        for (try_, (pause, low)) in pauses.iter().zip(lows).enumerate() {
            assert!((low..=(low * 1.25_f64).min(80.0)).contains(pause), "try {try_} waits {pause} s");
        }
        backoff.reset();
        assert!(backoff.next() < Duration::from_secs(3), "after a good session the pause is short again");
    }

    #[test]
    fn some_sign_ins_at_once_then_one_a_minute() {
        let start = Instant::now();
        let mut budget = LoginBudget::new(start);
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let wait = |budget: &LoginBudget, seconds: u64| budget.wait(at(seconds)).as_secs();
        for number in 1..=limits::IMAP_LOGINS_BURST {
            assert_eq!(wait(&budget, 0), 0, "number {number} may follow at once");
            budget.spend(at(0));
        }
        assert_eq!(wait(&budget, 0), 60, "the next has to wait");
        assert_eq!(wait(&budget, 60), 0);
        budget.spend(at(60));
        assert_eq!(wait(&budget, 60), 60);
        assert_eq!(wait(&budget, 1000), 0, "the budget fills up again");
    }
}
