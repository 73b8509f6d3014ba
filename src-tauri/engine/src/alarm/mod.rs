//! Alarms: what the owner has to know. Each is opened once while it lasts, told once by a self message through every
//! healthy destination, and cleared in silence when it is over.
//!
//! [`due`] says what should be open; `supervise` applies that. What only the outbox knows (`uncertain`) it opens itself,
//! in the transaction of the event. No alarm is ever about a self message: an alarm about an alarm could go on for ever.

pub mod due;
pub mod tell;

use std::sync::Mutex;

use tokio::sync::Notify;

use crate::kernel::{Kernel, lock};
use crate::model::happening::{self, Happening};
use crate::model::ids::MessageKey;
use crate::outbox::settle::After;
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::alarm;

/// Kinds of alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// A notification may not have arrived; about its key.
    Uncertain,
    /// Notifications were given up; about nothing in particular.
    DeadLetters,
    /// Notifications wait although they could be sent.
    OldestDue,
    /// A mailbox was not checked for long; about its account.
    StaleMailbox,
    /// A server refuses the sign-in; about an account or a destination.
    SignIn,
    /// Nothing can be stored.
    Disk,
    /// The daily copy cannot be made.
    Copies,
}

impl Code {
    /// As stored and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uncertain => "uncertain",
            Self::DeadLetters => "dead_letters",
            Self::OldestDue => "oldest_due",
            Self::StaleMailbox => "stale_mailbox",
            Self::SignIn => "sign_in",
            Self::Disk => "disk",
            Self::Copies => "copies",
        }
    }

    /// As stored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let all = [
            Self::Uncertain,
            Self::DeadLetters,
            Self::OldestDue,
            Self::StaleMailbox,
            Self::SignIn,
            Self::Disk,
            Self::Copies,
        ];
        all.into_iter().find(|code| code.as_str() == text)
    }

    /// What it means and what to do, the same for every alarm of the kind.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Uncertain => "It was sent and no answer came, so it was not sent again. Open Ringonce to decide.",
            Self::DeadLetters => "`ringonce attention` shows which and why; `ringonce retry` sends one again.",
            Self::OldestDue => "`ringonce status` shows what they wait for.",
            Self::StaleMailbox => "New mail of it is not told meanwhile. What comes is told when it can be read again.",
            Self::SignIn => "Nothing is lost, but nothing comes through until its password or token is given again.",
            Self::Disk => "New mail is not told meanwhile; it is read again later. Make room on the disk.",
            Self::Copies => "Everything works, but a broken disk would cost the history. Make room on the disk.",
        }
    }
}

/// An alarm as it should stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Kind.
    pub code: Code,
    /// What it is about: an id, a key; may be empty.
    pub about: String,
    /// In words, one line.
    pub text: String,
}

/// An alarm that could not be stored yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unstored {
    /// The alarm.
    pub alarm: Alarm,
    /// When it began.
    pub opened_at: i64,
}

/// Whether the daily copies succeed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Copies {
    /// None was tried in this run.
    #[default]
    Untried,
    /// The last one was made, or is not due.
    Good,
    /// The last one failed; in words.
    Failed(String),
}

/// What alarms need in memory.
#[derive(Default)]
pub struct Board {
    /// Something happened that may raise or clear an alarm.
    pub look: Notify,
    copies: Mutex<Copies>,
    unstored: Mutex<Vec<Unstored>>,
}

impl Board {
    /// Notes how the daily copy went.
    pub fn set_copies(&self, copies: Copies) {
        *lock(&self.copies) = copies;
    }

    /// How the daily copy went.
    #[must_use]
    pub fn copies(&self) -> Copies {
        lock(&self.copies).clone()
    }

    /// Alarms that could not be stored yet, oldest first.
    #[must_use]
    pub fn unstored(&self) -> Vec<Unstored> {
        lock(&self.unstored).clone()
    }

    /// Replaces what could not be stored yet.
    pub fn set_unstored(&self, unstored: Vec<Unstored>) {
        *lock(&self.unstored) = unstored;
    }
}

/// Opens an alarm and says so. `false`: it is open already.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn open(
    tx: Tx<'_>,
    kernel: &Kernel,
    new: &Alarm,
    message_key: Option<MessageKey>,
    opened_at: i64,
    after: &mut After,
) -> Result<bool, StoreError> {
    if !alarm::open(tx, new.code.as_str(), &new.about, &new.text, opened_at)? {
        return Ok(false);
    }
    after.alarms = true;
    after.happened.push(Happening {
        event: happening::Event::Alarm,
        message_key,
        subject: new.text.clone(),
        reason: new.code.advice().to_owned(),
        at: kernel.now(),
    });
    Ok(true)
}

/// Clears an alarm that is over.
///
/// # Errors
/// [`StoreError`] of a statement.
pub fn clear(tx: Tx<'_>, code: Code, about: &str, now_at: i64, after: &mut After) -> Result<(), StoreError> {
    after.alarms |= alarm::clear(tx, code.as_str(), about, now_at)?;
    Ok(())
}
