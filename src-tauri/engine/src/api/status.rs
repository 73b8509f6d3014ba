//! How everything is doing.

use serde::{Deserialize, Serialize};

use crate::api::destination::DestinationStatus;
use crate::api::mailbox::MailboxStatus;

/// What `status.get` gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Somebody watches; else this was read from the data folder alone.
    pub running: bool,
    /// A row per mailbox.
    pub mailboxes: Vec<MailboxStatus>,
    /// A row per destination.
    pub destinations: Vec<DestinationStatus>,
    /// Notifications to be sent, now or later.
    pub pending: u64,
    /// When the oldest of those that could be sent now fell due.
    pub oldest_due_at: Option<String>,
    /// Notifications given up.
    pub dead: u64,
    /// Notifications of which nobody can say whether they arrived.
    pub uncertain: u64,
    /// Mails that wait for a time or for the mail itself.
    pub held: u64,
    /// What happened since midnight, local time.
    pub today: Today,
}

/// What happened since midnight, local time. Ringonce's own messages are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Today {
    /// Reports of mails, repeats included.
    pub sightings: u64,
    /// Mails of which the owner was told.
    pub rings: u64,
    /// Mails of which nobody was to be told.
    pub silent: u64,
    /// Reports that were repeats or duplicates.
    pub duplicates: u64,
}
