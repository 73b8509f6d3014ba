//! Alarms.

use serde::{Deserialize, Serialize};

use crate::api::view::{Page, time};
use crate::api::{Api, invalid};
use crate::model::error::Fault;
use crate::store::table::alarm;

/// A row of `alarms.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlarmRow {
    /// Its number; the list pages by it.
    pub id: String,
    /// What kind.
    pub code: String,
    /// What it is about.
    pub about: String,
    /// Since when.
    pub opened_at: String,
    /// Until when; null while it lasts.
    pub cleared_at: Option<String>,
    /// In words.
    pub text: String,
}

/// Alarms, newest first.
///
/// # Errors
/// `invalid`, where `before` is not the id of an alarm.
pub async fn list(api: &Api, page: Page) -> Result<Vec<AlarmRow>, Fault> {
    let limit = page.rows();
    let before = match page.before.map(|text| text.parse::<i64>().map_err(|_| text)) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(text)) => {
            return Err(invalid(format!("{text:?} is not the id of an alarm"), "give an id as this list shows it"));
        }
    };
    let rows = api.read(move |read| alarm::list(read, before, limit)).await?;
    Ok(rows.into_iter().map(AlarmRow::from).collect())
}

impl From<alarm::AlarmRow> for AlarmRow {
    fn from(row: alarm::AlarmRow) -> Self {
        let alarm::AlarmRow { id, code, about, text, opened_at, cleared_at } = row;
        Self { id: id.to_string(), code, about, opened_at: time(opened_at), cleared_at: cleared_at.map(time), text }
    }
}
