//! Notifications, attempts and what came of them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::ids::{DispatchKey, MailboxId, MessageKey, OperationKey};

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationStatus {
    /// Waits for a time or for the mail itself.
    Held,
    /// Has open notifications.
    Processing,
    /// Nothing is open.
    Completed,
}

impl OperationStatus {
    /// As in SQL and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Processing => "processing",
            Self::Completed => "completed",
        }
    }
}

/// Where a notification stands (the diagram is in `outbox/status.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// To be sent when due.
    Pending,
    /// A sender holds a lease on it.
    Processing,
    /// The channel accepted it, or the owner says it arrived.
    Completed,
    /// Refused, or given up.
    Dead,
    /// Bytes left and nobody can say yet whether it arrived.
    Uncertain,
    /// Not wanted any more.
    Cancelled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Processing, Self::Completed, Self::Dead, Self::Uncertain, Self::Cancelled];

    /// As in SQL and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Dead => "dead",
            Self::Uncertain => "uncertain",
            Self::Cancelled => "cancelled",
        }
    }

    /// From SQL.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Open: the operation is not over.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Processing | Self::Uncertain)
    }
}

/// What is told, frozen when it was decided: every attempt of one key sends the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// One line.
    pub title: String,
    /// The text, maybe empty.
    pub body: String,
    /// Author as the privacy level allows.
    pub from: String,
    /// Subject as the privacy level allows.
    pub subject: String,
    /// Scope of keys.
    pub mailbox_id: MailboxId,
    /// RFC 3339, or empty.
    pub sent_at: String,
    /// Where a click leads, or empty.
    pub link: String,
    /// The mail.
    pub message_key: MessageKey,
    /// The action.
    pub operation_key: OperationKey,
    /// The idempotency key.
    pub dispatch_key: DispatchKey,
}

/// What came of one attempt. A row is written before the call and settled after it, never overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The channel took it.
    Accepted {
        /// The channel's id of it.
        external_id: Option<String>,
    },
    /// Surely not taken; later it may be.
    Deferred {
        /// What went wrong.
        error: ChannelError,
        /// When the channel wants to be asked again; such a wait is not counted as an attempt.
        retry_after: Option<Duration>,
        /// This computer is the cause (no network, locked keyring): not counted either.
        environment: bool,
    },
    /// Surely not taken, and never will be as it is.
    Rejected {
        /// What went wrong; `AuthenticationError` stops the whole destination.
        error: ChannelError,
    },
    /// Bytes left and no proper answer came.
    Unknown {
        /// What went wrong.
        error: ChannelError,
    },
    /// The lease was lost before anything was sent.
    Abandoned,
}

impl AttemptOutcome {
    /// As in SQL and JSON.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Accepted { .. } => "accepted",
            Self::Deferred { .. } => "deferred",
            Self::Rejected { .. } => "rejected",
            Self::Unknown { .. } => "unknown",
            Self::Abandoned => "abandoned",
        }
    }

    /// The error, where there is one.
    #[must_use]
    pub fn error(&self) -> Option<&ChannelError> {
        match self {
            Self::Accepted { .. } | Self::Abandoned => None,
            Self::Deferred { error, .. } | Self::Rejected { error } | Self::Unknown { error } => Some(error),
        }
    }
}

/// What a channel says went wrong. `detail` never holds a secret, a path or a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelError {
    /// What kind.
    pub code: ErrorCode,
    /// One sentence for people.
    pub detail: String,
}

impl ChannelError {
    /// An error of a kind.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.detail, self.code.as_str())
    }
}

/// Kinds of channel error; the settings `retry.retry_on` and `retry.stop_on` name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The connection failed or broke before a byte of the message left.
    ConnectionReset,
    /// The other side cannot now.
    TemporaryUnavailable,
    /// Asked too often.
    RateLimit,
    /// No such topic, room, chat, command.
    InvalidRecipient,
    /// Credentials refused.
    AuthenticationError,
    /// The channel does not take such a message.
    InvalidPayload,
    /// No answer after bytes left.
    NoAnswer,
    /// A 2xx without what the channel promises in it.
    BadAnswer,
    /// A server error of which nobody can say what it did before.
    ServerError,
    /// This computer has no network.
    NoNetwork,
    /// The secret cannot be read now.
    SecretUnavailable,
    /// The program ended in the middle.
    Interrupted,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [Self; 12] = [
        Self::ConnectionReset,
        Self::TemporaryUnavailable,
        Self::RateLimit,
        Self::InvalidRecipient,
        Self::AuthenticationError,
        Self::InvalidPayload,
        Self::NoAnswer,
        Self::BadAnswer,
        Self::ServerError,
        Self::NoNetwork,
        Self::SecretUnavailable,
        Self::Interrupted,
    ];

    /// As in SQL, JSON and the settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConnectionReset => "connection_reset",
            Self::TemporaryUnavailable => "temporary_unavailable",
            Self::RateLimit => "rate_limit",
            Self::InvalidRecipient => "invalid_recipient",
            Self::AuthenticationError => "authentication_error",
            Self::InvalidPayload => "invalid_payload",
            Self::NoAnswer => "no_answer",
            Self::BadAnswer => "bad_answer",
            Self::ServerError => "server_error",
            Self::NoNetwork => "no_network",
            Self::SecretUnavailable => "secret_unavailable",
            Self::Interrupted => "interrupted",
        }
    }

    /// From SQL or the settings.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }
}
