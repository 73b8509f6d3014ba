//! The data folder as a whole.

use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::api::view::Nothing;
use crate::model::error::Fault;
use crate::model::settings::Settings;
use crate::model::topic::Topic;
use crate::store::table::setting;
use crate::store::{retention, verify};

/// Mails of one transaction of `data.prune`.
const PRUNE_MAILS: i64 = 500;

/// What `data.verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Every invariant holds.
    pub ok: bool,
    /// How many were checked.
    pub checks: usize,
    /// What is broken.
    pub broken: Vec<Broken>,
}

/// One broken invariant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// Which, in words.
    pub invariant: String,
    /// How many rows break it.
    pub count: i64,
    /// Some of them.
    pub examples: Vec<String>,
}

/// What `data.prune` removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Mails whose text was emptied; their keys stay.
    pub emptied: usize,
    /// Mails forgotten with their keys.
    pub forgotten: usize,
}

/// Checks every invariant that the data can show.
///
/// # Errors
/// `storage`, where the check could not be made.
pub async fn verify(api: &Api, _: Nothing) -> Result<Verified, Fault> {
    let broken: Vec<Broken> = api.read(verify::verify).await?.into_iter().map(Broken::from).collect();
    Ok(Verified { ok: broken.is_empty(), checks: verify::checks(), broken })
}

/// Forgets what the settings say need not be kept any longer.
///
/// # Errors
/// `storage`.
pub async fn prune(api: &Api, _: Nothing) -> Result<Pruned, Fault> {
    let now_at = api.clock.now();
    let mut total = Pruned::default();
    loop {
        let step = api
            .write(move |tx| {
                let settings = Settings::from_stored(&setting::list(*tx)?);
                retention::prune(tx, settings.history_days, settings.key_days, PRUNE_MAILS, now_at)
            })
            .await?;
        total.emptied += step.emptied;
        total.forgotten += step.forgotten;
        if step == retention::Pruned::default() {
            api.changed(&[Topic::History, Topic::Duplicates]);
            return Ok(total);
        }
    }
}

impl From<verify::Broken> for Broken {
    fn from(broken: verify::Broken) -> Self {
        Self { invariant: broken.invariant.to_owned(), count: broken.count, examples: broken.examples }
    }
}
