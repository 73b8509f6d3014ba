//! The data folder as a whole.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::api::view::{Nothing, time};
use crate::model::error::{Fault, FaultCode};
use crate::model::settings::Settings;
use crate::model::topic::Topic;
use crate::secret::choice::{Choice, Place, effective};
use crate::secret::kept;
use crate::store::Store;
use crate::store::error::StoreErrorKind;
use crate::store::export::Change;
use crate::store::table::setting;
use crate::store::{export, retention, verify};

/// Mails of one transaction of `data.prune`.
const PRUNE_MAILS: i64 = 500;

/// What `data.verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Pruned {
    /// Mails whose text was emptied; their keys stay.
    pub emptied: usize,
    /// Mails forgotten with their keys.
    pub forgotten: usize,
}

/// Parameters of `data.export`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct ExportParams {
    /// Where to; absolute.
    pub path: String,
    /// Replace a file that is there.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub force: bool,
}

/// What `data.export` wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Exported {
    /// The file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
}

/// Writes configuration, keys and history into one file. Secrets are not in it.
///
/// # Errors
/// `conflict` for a file that is there; `storage`.
pub async fn export(api: &Api, params: ExportParams) -> Result<Exported, Fault> {
    let refused = |code: FaultCode, cause: String, next_step: &str| {
        Fault::new(code, "Nothing was exported", cause, next_step.to_owned())
    };
    let path = PathBuf::from(&params.path);
    if !path.is_absolute() {
        let cause = format!("{:?} is not an absolute path", params.path);
        return Err(refused(FaultCode::Invalid, cause, "give one from / on"));
    }
    let (file, now_at, force) = (path.clone(), api.clock.now(), params.force);
    let written = api.kernel()?.store.read_for_copy(move |read| export::export(read, &file, force, now_at)).await;
    written.map_err(|error| match error.kind {
        StoreErrorKind::Refused => {
            refused(FaultCode::Conflict, error.detail, "give another name, or --force to replace it")
        }
        StoreErrorKind::Full => refused(FaultCode::Storage, error.detail, "make room, or export to another disk"),
        _ => refused(FaultCode::Storage, error.detail, "check the path and its folder"),
    })?;
    let bytes = std::fs::metadata(&path).map(|metadata| metadata.len()).unwrap_or_default();
    Ok(Exported { file: params.path, bytes })
}

/// What [`restore`] did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Restored {
    /// When the file was made; null where it does not say.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub from_at: Option<String>,
    /// Where the data is now that was there before.
    pub replaced: Option<String>,
    /// Notifications that were on their way then: whether they arrived, only the owner can know.
    pub uncertain: usize,
}

/// Puts an exported file or a daily copy in the place of a data folder's database. The caller holds its lock. Secrets
/// are looked for where this folder keeps them, else where the owner says, else where the file says.
///
/// # Errors
/// `invalid` for a file that is none of these, `newer`, `storage`, `conflict` where this folder keeps its secrets
/// elsewhere; then everything is as before.
pub fn restore(data_dir: &Path, file: &Path, now_at: i64, secrets: Option<&Choice>) -> Result<Restored, Fault> {
    // A database that cannot be read says nothing of secrets.
    let looked = Store::look(data_dir).ok().flatten();
    let settings = looked.and_then(|readers| readers.read_here(|read| setting::list(*read)).ok()).unwrap_or_default();
    let kept = settings.get(kept::SETTING).map(String::as_str);
    if kept.is_some() {
        effective(kept, secrets)?;
    }
    let place = |in_file: Option<&str>| match (kept, secrets) {
        (Some(kept), _) => Some(kept.to_owned()),
        (None, Some(wanted)) => {
            let same = in_file.and_then(Place::parse).is_some_and(|place| place.choice() == *wanted);
            (!same).then(|| Place::new(wanted).to_string())
        }
        (None, None) => None,
    };
    let refused =
        |code: FaultCode, cause: String, next_step: &str| Fault::new(code, "Nothing was restored", cause, next_step);
    let done =
        export::restore(data_dir, file, now_at, &Change { key: kept::SETTING, value: &place }).map_err(|error| {
            match error.kind {
                StoreErrorKind::Refused => refused(
                    FaultCode::Invalid,
                    error.detail,
                    "give a file that `ringonce export` wrote, or a copy of `copies`",
                ),
                StoreErrorKind::Newer => refused(FaultCode::Newer, error.detail, "install the newer Ringonce first"),
                StoreErrorKind::Full => refused(FaultCode::Storage, error.detail, "make room on the disk"),
                _ => refused(FaultCode::Storage, error.detail, "check the file and the data folder"),
            }
        })?;
    Ok(Restored {
        from_at: (done.from_at > 0).then(|| time(done.from_at)),
        replaced: done.replaced.map(|path| path.display().to_string()),
        uncertain: done.uncertain,
    })
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
    let mut after = Some(0);
    while let Some(from) = after {
        let step = api
            .write(move |tx| {
                let settings = Settings::from_stored(&setting::list(*tx)?);
                let keep = retention::Keep { history_days: settings.history_days, key_days: settings.key_days };
                retention::prune(tx, keep, from, PRUNE_MAILS, now_at)
            })
            .await?;
        total.emptied += step.emptied;
        total.forgotten += step.forgotten;
        after = step.next;
    }
    api.changed(&[Topic::History, Topic::Duplicates]);
    Ok(total)
}

impl From<verify::Broken> for Broken {
    fn from(broken: verify::Broken) -> Self {
        Self { invariant: broken.invariant.to_owned(), count: broken.count, examples: broken.examples }
    }
}
