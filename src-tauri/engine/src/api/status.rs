//! How everything is doing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::api::alarms::AlarmRow;
use crate::api::destination::DestinationStatus;
use crate::api::mailbox::{MailboxStatus, MailboxView};
use crate::api::view::{Nothing, time};
use crate::kernel::day_of;
use crate::model::error::Fault;
use crate::store::figures::{self, counts, to_do};
use crate::store::table::day;
use crate::supervise::live::Live;
use crate::supervise::windows::TrayState;

/// State of a mailbox that was checked and whose next event will be heard.
const WATCHING: &str = "watching";

/// What `status.get` gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Status {
    /// Somebody watches; else this was read from the data folder alone.
    pub running: bool,
    /// A row per mailbox.
    pub mailboxes: Vec<MailboxStatus>,
    /// A row per destination.
    pub destinations: Vec<DestinationStatus>,
    /// Notifications to be sent, now or later.
    pub pending: i64,
    /// When the oldest of those that could be sent now fell due.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub oldest_due_at: Option<String>,
    /// Notifications given up.
    pub dead: i64,
    /// Notifications of which nobody can say whether they arrived.
    pub uncertain: i64,
    /// Mails that wait for a time or for the mail itself.
    pub held: i64,
    /// Alarms that last, newest first.
    pub alarms: Vec<AlarmRow>,
    /// What happened since midnight, local time.
    pub today: Today,
    /// What is to be done for a destination, by its id; those with nothing to do are not there.
    pub by_destination: BTreeMap<String, ToDo>,
    /// All watching is paused until then; null: it is not.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub paused_until: Option<String>,
    /// This computer has no network since then; null: it has one, or nothing runs.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub offline_since: Option<String>,
    /// Why secrets cannot be read; null: they can.
    #[serde(default)]
    pub keychain_error: Option<String>,
    /// Whether the owner sees a tray icon.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::TrayState"))]
    pub tray: String,
}

/// What is to be done for a destination.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ToDo {
    /// Notifications given up.
    pub dead: i64,
    /// Notifications of which nobody can say whether they arrived.
    pub uncertain: i64,
    /// Notifications to be sent, now or later, those in hand too.
    pub pending: i64,
    /// When the next that has to wait is sent; null: none waits.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub retry_at: Option<String>,
    /// Attempts made of that one.
    pub attempt: i64,
}

/// What happened since midnight, local time. Ringonce's own messages are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Today {
    /// Reports of mails, repeats included.
    pub sightings: i64,
    /// Mails of which the owner was told.
    pub rings: i64,
    /// Mails of which nobody was to be told.
    pub silent: i64,
    /// Reports that were repeats or duplicates.
    pub duplicates: i64,
}

/// How everything is doing.
///
/// # Errors
/// `storage`.
pub async fn get(api: &Api, _: Nothing) -> Result<Status, Fault> {
    let now_at = api.clock.now();
    let today = day_of(now_at);
    let (counts, to_do, day) =
        api.read(move |read| Ok((counts(read, now_at)?, to_do(read)?, day::get(read, &today)?))).await?;
    let mailboxes = crate::api::mailbox::list(api, Nothing {}).await?;
    let destinations = crate::api::destination::list(api, Nothing {}).await?;
    // Whoever reads mail has a network, if only one inside this computer.
    let reads = |mailbox: &MailboxView| mailbox.host.is_some() && mailbox.status.state == WATCHING;
    let offline_since = if mailboxes.iter().any(reads) { None } else { api.live().and_then(Live::offline_since) };
    Ok(Status {
        running: api.live.is_some(),
        mailboxes: mailboxes.into_iter().map(|mailbox| mailbox.status).collect(),
        destinations: destinations.into_iter().map(|destination| destination.status).collect(),
        pending: counts.pending,
        oldest_due_at: counts.oldest_due_at.map(time),
        dead: counts.dead,
        uncertain: counts.uncertain,
        held: counts.held,
        alarms: crate::api::alarms::list_open(api).await?,
        today: Today { sightings: day.sightings, rings: day.rings, silent: day.silent, duplicates: day.duplicates },
        by_destination: to_do.into_iter().map(|(id, to_do)| (id.0, show(to_do, now_at))).collect(),
        paused_until: crate::api::watch::paused_until(api).await?.map(time),
        offline_since: offline_since.map(time),
        keychain_error: api.secrets.trouble(),
        tray: api.live().map_or(TrayState::None, |live| *live.windows().tray().borrow()).as_str().to_owned(),
    })
}

fn show(to_do: figures::ToDo, now_at: i64) -> ToDo {
    // One that was never tried and is due is about to be sent.
    let waiting = to_do.next.filter(|next| next.attempt > 0 || next.due_at > now_at);
    ToDo {
        dead: to_do.dead,
        uncertain: to_do.uncertain,
        pending: to_do.pending,
        retry_at: waiting.map(|next| time(next.due_at)),
        attempt: waiting.map_or(0, |next| next.attempt),
    }
}
