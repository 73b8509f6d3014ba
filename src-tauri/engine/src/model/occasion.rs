//! Occasions on which much comes at once, so that it is told together.

use crate::model::ids::AccountId;

/// Why mails are told together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// They came while nobody looked.
    CatchUp,
    /// Their folder was numbered anew.
    Rebuild,
    /// The history was taken from a copy, which cannot know whether they rang.
    Restore,
    /// They waited longer than their destination wants.
    Expired,
}

impl Occasion {
    /// Every occasion.
    pub const ALL: [Self; 4] = [Self::CatchUp, Self::Rebuild, Self::Restore, Self::Expired];

    /// The reason of an operation that waits for the others, and of the digest that tells of them.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::CatchUp => "catching up",
            Self::Rebuild => "folder rebuilt",
            Self::Restore => "history restored from a copy",
            Self::Expired => "waited too long",
        }
    }

    /// From the reason of an operation.
    #[must_use]
    pub fn of_reason(reason: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|occasion| occasion.reason() == reason)
    }
}

/// Nothing more of an occasion is to come in a mailbox: what was held for it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The account.
    pub account_id: AccountId,
    /// What is over.
    pub occasion: Occasion,
}
