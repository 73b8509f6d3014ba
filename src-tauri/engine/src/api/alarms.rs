//! Alarms.

use serde::{Deserialize, Serialize};

use crate::alarm::Unstored;
use crate::api::view::{Page, time};
use crate::api::{Api, invalid};
use crate::model::error::Fault;
use crate::store::table::alarm;

/// A row of `alarms.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct AlarmRow {
    /// Its number; the list pages by it.
    pub id: String,
    /// What kind.
    pub code: String,
    /// What it is about.
    pub about: String,
    /// Since when.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Time"))]
    pub opened_at: String,
    /// Until when; null while it lasts.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub cleared_at: Option<String>,
    /// In words.
    pub text: String,
}

/// The id of an alarm that could not be stored yet.
const UNSTORED: &str = "unstored";

/// Alarms, newest first; those that could not be stored yet before all others.
///
/// # Errors
/// `invalid`, where `before` is not the id of an alarm.
pub async fn list(api: &Api, page: Page) -> Result<Vec<AlarmRow>, Fault> {
    let limit = page.rows();
    let mut first = if page.before.is_none() { unstored(api) } else { Vec::new() };
    let before = match page.before.map(|text| text.parse::<i64>().map_err(|_| text)) {
        None => None,
        Some(Err(text)) if text == UNSTORED => None,
        Some(Ok(id)) => Some(id),
        Some(Err(text)) => {
            return Err(invalid(format!("{text:?} is not the id of an alarm"), "give an id as this list shows it"));
        }
    };
    let rows = api.read(move |read| alarm::list(read, before, limit)).await?;
    first.extend(rows.into_iter().map(AlarmRow::from));
    Ok(first)
}

/// Alarms that last, newest first.
///
/// # Errors
/// `storage`.
pub(super) async fn list_open(api: &Api) -> Result<Vec<AlarmRow>, Fault> {
    let mut rows = unstored(api);
    let stored = api.read(alarm::list_open).await?;
    rows.extend(stored.into_iter().rev().map(AlarmRow::from));
    Ok(rows)
}

fn unstored(api: &Api) -> Vec<AlarmRow> {
    let rows = api.running().map(|kernel| kernel.alarms.unstored()).unwrap_or_default();
    let show = |one: Unstored| AlarmRow {
        id: UNSTORED.to_owned(),
        code: one.alarm.code.as_str().to_owned(),
        about: one.alarm.about,
        opened_at: time(one.opened_at),
        cleared_at: None,
        text: one.alarm.text,
    };
    rows.into_iter().rev().map(show).collect()
}

impl From<alarm::AlarmRow> for AlarmRow {
    fn from(row: alarm::AlarmRow) -> Self {
        let alarm::AlarmRow { id, code, about, text, opened_at, cleared_at } = row;
        Self { id: id.to_string(), code, about, opened_at: time(opened_at), cleared_at: cleared_at.map(time), text }
    }
}

impl From<alarm::OpenRow> for AlarmRow {
    fn from(row: alarm::OpenRow) -> Self {
        let alarm::OpenRow { id, code, about, text, opened_at, message_key: _ } = row;
        Self { id: id.to_string(), code, about, opened_at: time(opened_at), cleared_at: None, text }
    }
}
