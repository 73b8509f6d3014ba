//! Ids and keys as newtypes, so that two of them cannot be swapped.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// One account at one provider: random, made when the mailbox is added.
    AccountId
);
text_id!(
    /// The scope of keys: by default the account's address in lower case.
    MailboxId
);
text_id!(
    /// Names one event of one source. It counts, it never suppresses.
    DeliveryKey
);
text_id!(
    /// Which mail it is, whatever path brought it: 64 hex digits.
    MessageKey
);
text_id!(
    /// One action on one message: 64 hex digits.
    OperationKey
);
text_id!(
    /// One action to one recipient: 64 hex digits; the channel's idempotency key.
    DispatchKey
);
text_id!(
    /// A configured target of the owner.
    DestinationId
);
text_id!(
    /// The real target behind a destination, whatever it is called: `kind:` and 16 hex digits.
    Recipient
);
text_id!(
    /// A primary destination and its fallbacks.
    RouteId
);
text_id!(
    /// A rule of the owner.
    RuleId
);
text_id!(
    /// A configured source beside IMAP; for a webhook the endpoint id in its URL.
    SourceId
);
text_id!(
    /// Makes one sender the owner of one notification; begins with the run's id.
    LeaseToken
);
