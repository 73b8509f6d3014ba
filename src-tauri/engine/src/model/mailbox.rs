//! Mailboxes and their folders.

use crate::model::ids::{AccountId, MailboxId};

/// Scope of keys of the demo: invented mail that rings on this computer only and is in no figure.
pub const DEMO_MAILBOX: &str = "ringonce-demo";

/// One account at one provider, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    /// Random id of this account.
    pub account_id: AccountId,
    /// Scope of keys.
    pub mailbox_id: MailboxId,
    /// The owner's address there.
    pub email: String,
    /// How to read it; `None`: only other sources report mail of it.
    pub imap: Option<ImapServer>,
    /// Wire names of the folders to watch, in the owner's order.
    pub folders: Vec<String>,
    /// What a press on a notification opens; `None`: its history.
    pub link_template: Option<String>,
    /// The owner paused it.
    pub paused: bool,
}

impl Mailbox {
    /// Its mail is invented.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        self.mailbox_id.is_demo()
    }
}

impl MailboxId {
    /// Its mail is invented.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        self.as_str() == DEMO_MAILBOX
    }
}

/// Where and how the mailbox is read. The password is in the secret store, under the account id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImapServer {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Protection of the connection.
    pub tls: Tls,
    /// Name to log in with.
    pub username: String,
    /// PEM file with the authorities to trust instead of the system's.
    pub ca_file: Option<String>,
    /// SHA-256 of the one certificate to trust, 64 lower-case hex digits.
    pub pin: Option<String>,
    /// The owner accepted an unprotected connection to another machine.
    pub allow_plaintext: bool,
}

/// Protection of an IMAP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// TLS from the first byte (RFC 8314).
    Implicit,
    /// Plain, then STARTTLS before anything else is said.
    StartTls,
    /// None: loopback only, unless the owner allows it.
    None,
}

impl Tls {
    /// As on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Implicit => "implicit",
            Self::StartTls => "starttls",
            Self::None => "none",
        }
    }

    /// From the command line.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "implicit" => Some(Self::Implicit),
            "starttls" => Some(Self::StartTls),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

/// What a folder is for, by SPECIAL-USE (RFC 6154).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpecialUse {
    /// Nothing special, or the server does not say.
    #[default]
    None,
    /// `\Junk`: silent unless the owner asks.
    Junk,
    /// `\Sent`: silent.
    Sent,
}

impl SpecialUse {
    /// What the role of a folder means for its mail.
    #[must_use]
    pub fn of(role: Option<FolderRole>) -> Self {
        match role {
            Some(FolderRole::Junk) => Self::Junk,
            Some(FolderRole::Sent) => Self::Sent,
            _ => Self::None,
        }
    }
}

/// What a folder is for, as its owner is shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderRole {
    /// Where new mail comes.
    Inbox,
    /// `\\Sent`.
    Sent,
    /// `\\Drafts`.
    Drafts,
    /// `\\Junk`.
    Junk,
    /// `\\Trash`.
    Trash,
    /// `\\Archive`.
    Archive,
    /// `\\All`: every mail once more.
    All,
    /// `\\Flagged`: marked mails once more.
    Flagged,
}

impl FolderRole {
    /// Every role.
    pub const ALL: [Self; 8] =
        [Self::Inbox, Self::Sent, Self::Drafts, Self::Junk, Self::Trash, Self::Archive, Self::All, Self::Flagged];

    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Sent => "sent",
            Self::Drafts => "drafts",
            Self::Junk => "junk",
            Self::Trash => "trash",
            Self::Archive => "archive",
            Self::All => "all",
            Self::Flagged => "flagged",
        }
    }
}

/// Where we stand in one folder. Written only together with what was read up to there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderCursor {
    /// UIDVALIDITY of the folder these numbers belong to.
    pub uid_validity: u32,
    /// The lowest UID not yet looked at.
    pub next_uid: u32,
    /// UIDNEXT at first sight: below it mail is `baseline` or left alone (imap.md rule 13).
    pub floor_uid: u32,
    /// UIDs still to look through in the background, both ends included.
    pub backfill: Option<Backfill>,
    /// Newest INTERNALDATE known before the current numbering.
    pub newest_known_at: Option<i64>,
    /// When the last check of this folder was finished.
    pub last_check_at: Option<i64>,
}

/// A range of UIDs worked off page by page, newest first, that goes on after a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backfill {
    /// Lowest UID of the range.
    pub from_uid: u32,
    /// Highest UID not yet done.
    pub to_uid: u32,
    /// What it is for.
    pub purpose: BackfillPurpose,
    /// Mails left until the window (2,000 mails) is full.
    pub mails_left: u32,
}

/// Why old mail is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackfillPurpose {
    /// First sight: recorded so that a later move finds known keys; silent.
    Baseline,
    /// The numbering changed: what is unknown and new enough rings.
    Rebuild,
}

impl BackfillPurpose {
    /// As stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Rebuild => "rebuild",
        }
    }

    /// As stored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "baseline" => Some(Self::Baseline),
            "rebuild" => Some(Self::Rebuild),
            _ => None,
        }
    }
}
