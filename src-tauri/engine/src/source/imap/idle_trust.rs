//! Whether IDLE is to be trusted at a server: not where it was refused, not answered, or proven silent.

use tokio::time::Instant;

use crate::limits;
use crate::source::imap::session::reply::ImapError;

/// So many silences or misses in a row prove it: one may be a dead line, or mail that came just then.
const PROVEN_BY: u32 = 2;

/// What IDLE has shown so far. It outlives a session.
#[derive(Debug, Default)]
pub(super) struct IdleTrust {
    /// Refused or proven silent; not tried before this.
    not_before: Option<Instant>,
    /// Safety polls in a row that found what IDLE did not tell.
    missed: u32,
    /// So often in a row it was not answered at all.
    silences: u32,
}

impl IdleTrust {
    /// Whether it may be tried now.
    pub(super) fn holds(&self) -> bool {
        self.not_before.is_none_or(|until| Instant::now() >= until)
    }

    /// It was answered.
    pub(super) fn answered(&mut self) {
        self.silences = 0;
    }

    /// It told of mail.
    pub(super) fn told(&mut self) {
        self.missed = 0;
    }

    /// A safety poll found what it did not tell, or did not. `true`: it is now proven silent (imap.md rule 8).
    pub(super) fn polled(&mut self, missed: bool) -> bool {
        self.missed = if missed { self.missed + 1 } else { 0 };
        let proven = self.missed >= PROVEN_BY;
        if proven {
            self.refused();
        }
        proven
    }

    /// It failed with the session.
    pub(super) fn failed(&mut self, error: &ImapError) {
        if *error == ImapError::Timeout {
            self.silences += 1;
            if self.silences >= PROVEN_BY {
                self.refused();
            }
        }
    }

    /// The server is asked instead, and IDLE tried again in a day.
    pub(super) fn refused(&mut self) {
        *self = Self { not_before: Some(Instant::now() + limits::IMAP_IDLE_RETRY_AFTER), ..Self::default() };
    }
}
