//! What went wrong, in the words a front end chooses by.

use std::fmt;

/// An error for people: consequence, cause, next step, in one line each.
///
/// `code` is stable and is the only part a program may look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Stable word, e.g. `not_found`.
    pub code: FaultCode,
    /// What this means for the owner.
    pub consequence: String,
    /// Why it happened.
    pub cause: String,
    /// What to do next.
    pub next_step: String,
}

/// The kinds of fault a front end treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultCode {
    /// What was named does not exist.
    NotFound,
    /// A value is not of the right form.
    Invalid,
    /// It exists already.
    Conflict,
    /// A server, a name or a port could not be reached.
    Unreachable,
    /// The program that watches does not run, or has just ended.
    NotRunning,
    /// The server's certificate is not trusted, or not for this name.
    Tls,
    /// User name, password or token were refused.
    SignIn,
    /// The other side answered, but not as it should.
    Protocol,
    /// The keyring or the secrets file cannot be used.
    Secret,
    /// Another program holds the data folder.
    Busy,
    /// The database cannot be read or written.
    Storage,
    /// The data folder is of a newer program.
    Newer,
    /// A test of a destination or mailbox failed.
    TestFailed,
    /// A bug of ours.
    Internal,
}

impl FaultCode {
    /// Every code.
    pub const ALL: [Self; 14] = [
        Self::NotFound,
        Self::Invalid,
        Self::Conflict,
        Self::Unreachable,
        Self::NotRunning,
        Self::Tls,
        Self::SignIn,
        Self::Protocol,
        Self::Secret,
        Self::Busy,
        Self::Storage,
        Self::Newer,
        Self::TestFailed,
        Self::Internal,
    ];

    /// The code as it stands in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::Conflict => "conflict",
            Self::Unreachable => "unreachable",
            Self::NotRunning => "not_running",
            Self::Tls => "tls",
            Self::SignIn => "sign_in",
            Self::Protocol => "protocol",
            Self::Secret => "secret",
            Self::Busy => "busy",
            Self::Storage => "storage",
            Self::Newer => "newer",
            Self::TestFailed => "test_failed",
            Self::Internal => "internal",
        }
    }

    /// From JSON.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }
}

impl Fault {
    /// A fault with all three sentences.
    pub fn new(
        code: FaultCode,
        consequence: impl Into<String>,
        cause: impl Into<String>,
        next_step: impl Into<String>,
    ) -> Self {
        Self { code, consequence: consequence.into(), cause: cause.into(), next_step: next_step.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.consequence, self.cause, self.next_step)
    }
}

impl std::error::Error for Fault {}
