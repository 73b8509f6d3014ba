//! All watching at once: check now, pause, resume.
//!
//! While it is paused no mailbox is read. What others report is taken all the same, and told when the pause is over,
//! with what the readers find then: singly or as a digest, as after any absence.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

use crate::api::view::{Nothing, time};
use crate::api::{Api, invalid};
use crate::limits::{GATHER_MS, PAUSE_MINUTES_MAX};
use crate::model::error::{Fault, FaultCode};
use crate::model::occasion::Occasion;
use crate::model::topic::Topic;
use crate::store::Tx;
use crate::store::error::StoreError;
use crate::store::table::{mailbox, pause as table};

/// When a pause "until tomorrow" ends, by the owner's own clock.
const MORNING: Time = Time::constant(7, 0, 0, 0);

/// Parameters of `watch.pause`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct PauseParams {
    /// For how long; null: until tomorrow at 07:00.
    #[serde(default)]
    pub minutes: Option<u32>,
}

/// What `watch.pause` gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Paused {
    /// When it ends by itself.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub until: String,
}

/// Every mailbox is looked at now.
///
/// # Errors
/// `not_running`, where nothing runs; `conflict`, while all watching is paused.
pub async fn check_now(api: &Api, _: Nothing) -> Result<Nothing, Fault> {
    let refused = |code, cause: String, next_step| Err(Fault::new(code, "Nothing was checked", cause, next_step));
    let Some(live) = api.live() else {
        return refused(FaultCode::NotRunning, "Ringonce is not running".to_owned(), "start it with `ringonce`");
    };
    if let Some(until_at) = paused_until(api).await? {
        let cause = format!("all watching is paused until {}", time(until_at));
        return refused(FaultCode::Conflict, cause, "resume it first");
    }
    live.poke_all();
    Ok(Nothing {})
}

/// Pauses all watching; a later pause takes the place of an earlier one.
///
/// # Errors
/// `invalid` for a time that is not allowed.
pub async fn pause(api: &Api, params: PauseParams) -> Result<Paused, Fault> {
    let now_at = api.clock.now();
    let until_at = match params.minutes {
        Some(minutes) if (1..=PAUSE_MINUTES_MAX).contains(&minutes) => now_at + i64::from(minutes) * 60_000,
        Some(minutes) => {
            let cause = format!("{minutes} minutes cannot be paused");
            return Err(invalid(cause, format!("give 1 to {PAUSE_MINUTES_MAX}")));
        }
        None => tomorrow(now_at, &TimeZone::system()),
    };
    store(api, Some(until_at)).await?;
    Ok(Paused { until: time(until_at) })
}

/// Watches again.
///
/// # Errors
/// `storage`.
pub async fn resume(api: &Api, _: Nothing) -> Result<Nothing, Fault> {
    store(api, None).await.map(|()| Nothing {})
}

/// Until when all watching is paused, where it is.
pub(super) async fn paused_until(api: &Api) -> Result<Option<i64>, Fault> {
    let now_at = api.clock.now();
    Ok(api.read(table::get).await?.filter(|until_at| *until_at > now_at))
}

async fn store(api: &Api, until_at: Option<i64>) -> Result<(), Fault> {
    let now_at = api.clock.now();
    api.change(&[Topic::Status, Topic::Mailboxes], move |tx| {
        table::set(tx, until_at)?;
        hold(tx, until_at.unwrap_or(now_at))?;
        Ok(Ok(()))
    })
    .await
}

/// What waits for others waits until the watching goes on; where somebody reads, for what is found then as well.
fn hold(tx: Tx<'_>, until_at: i64) -> Result<(), StoreError> {
    for mailbox in mailbox::list(*tx)? {
        let is_read = mailbox.imap.is_some() && !mailbox.paused;
        let until_at = if is_read { until_at.saturating_add(GATHER_MS) } else { until_at };
        table::hold_until(tx, &mailbox.account_id, Occasion::CatchUp.reason(), until_at)?;
    }
    Ok(())
}

/// The next morning but not today's, ms UTC.
fn tomorrow(now_at: i64, zone: &TimeZone) -> i64 {
    let today = zone.to_datetime(Timestamp::from_millisecond(now_at).unwrap_or_default()).date();
    let morning = today.saturating_add(1.day()).to_datetime(MORNING);
    zone.to_timestamp(morning).map_or(now_at, Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tomorrow_is_seven_by_the_owners_clock() {
        let check = |now: &str, zone: &str, expected: &str| {
            let now: Timestamp = now.parse().unwrap();
            let at = tomorrow(now.as_millisecond(), &TimeZone::get(zone).unwrap());
            assert_eq!(time(at), expected, "{now} in {zone}");
        };
        check("2026-06-01T10:00:00Z", "UTC", "2026-06-02T07:00:00.000Z");
        check("2026-06-01T00:30:00Z", "UTC", "2026-06-02T07:00:00.000Z");
        check("2026-06-01T22:30:00Z", "Europe/Warsaw", "2026-06-03T05:00:00.000Z");
        // The night in which the clock is set back is an hour longer.
        check("2026-10-24T12:00:00Z", "Europe/Warsaw", "2026-10-25T06:00:00.000Z");
        check("2026-12-31T12:00:00Z", "Asia/Vladivostok", "2026-12-31T21:00:00.000Z");
    }
}
