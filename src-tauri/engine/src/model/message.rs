//! The mail itself, as far as anything here needs it.

/// Scope of keys of messages made by Ringonce itself.
pub const SELF_MAILBOX: &str = "ringonce";

/// What one sighting tells of a mail. Every part may be missing: a push may name only an id.
///
/// All text is already normalized as identity.md says (unfolded, decoded, NFC, white space folded).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MailFacts {
    /// Usable Message-ID without angle brackets, domain in lower case.
    pub message_id: Option<String>,
    /// Address of the first author, lower case; `None` where the sighting has no From at all.
    pub from_address: Option<String>,
    /// Display name of the first author, for people.
    pub from_name: Option<String>,
    /// Addresses of To and Cc, lower case, at most `limits::RECIPIENTS_MAX`.
    pub to: Vec<String>,
    /// Decoded subject; `None` where the sighting has none.
    pub subject: Option<String>,
    /// Date header.
    pub sent_at: Option<SentAt>,
    /// Content of List-Id between the angle brackets, lower case, or the whole.
    pub list_id: Option<String>,
    /// The text; `None`: this sighting brought no body (then it has no fingerprint).
    pub body: Option<BodyFacts>,
}

/// The Date header, as it goes into the fingerprint and as an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentAt {
    /// `YYYY-MM-DDThh:mm:ssZ`, or the header's own text where it cannot be parsed.
    pub text: String,
    /// The instant in ms UTC; `None` where it cannot be parsed.
    pub at: Option<i64>,
}

/// What is kept of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyFacts {
    /// SHA-256 of the canonical body, lower-case hex.
    pub sha256: String,
    /// First characters for people, one line, at most `limits::PREVIEW_CHARS_MAX`.
    pub preview: String,
}

impl MailFacts {
    /// True where the sighting names a mail without saying anything of it.
    #[must_use]
    pub fn is_headerless(&self) -> bool {
        self.from_address.is_none() && self.subject.is_none() && self.sent_at.is_none() && self.body.is_none()
    }
}
