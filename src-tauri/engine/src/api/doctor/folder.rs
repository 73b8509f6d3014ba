//! The data folder as the system shows it; works where the database cannot be opened.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::api::doctor::Finding;
use crate::model::error::{Fault, FaultCode};
use crate::store::FILE_NAME;

/// With less room than this a copy of the database may fail soon.
const ROOM_BYTES_LOW: u64 = 200 * 1024 * 1024;
/// With less room than this nothing can be relied on.
const ROOM_BYTES_MIN: u64 = 10 * 1024 * 1024;

/// Who may read the data folder, and how much room there is.
#[must_use]
pub fn folder(data_dir: &Path) -> Vec<Finding> {
    let about = data_dir.display().to_string();
    let metadata = match fs::metadata(data_dir) {
        Ok(metadata) => metadata,
        Err(error) => return vec![Finding::fail("data_folder", &about, &unusable(&error.to_string()))],
    };
    let mut findings = Vec::new();
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        findings.push(Finding::fail("data_folder", &about, &unusable("it belongs to another user")));
    }
    let shown = shell_words::quote(&about).into_owned();
    let database = data_dir.join(FILE_NAME);
    let open = [data_dir, database.as_path()]
        .into_iter()
        .find(|path| fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0));
    if let Some(path) = open {
        let fault = Fault::new(
            FaultCode::Storage,
            "Other users of this computer can read what mail you get",
            format!("they may open {}", path.display()),
            format!("run: chmod -R go= {shown}"),
        );
        findings.push(Finding::warn("data_folder", &about, &fault));
    }
    findings.extend(room(data_dir, &about));
    if findings.is_empty() {
        findings.push(Finding::ok("data_folder", &about, "yours alone, with room"));
    }
    findings
}

fn room(data_dir: &Path, about: &str) -> Option<Finding> {
    let free = match rustix::fs::statvfs(data_dir) {
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
        Err(error) => return Some(Finding::fail("data_folder", about, &unusable(&error.to_string()))),
    };
    let fault = Fault::new(
        FaultCode::Storage,
        "New mail cannot be stored, and so not told, once the disk is full",
        format!("{} MB are free", free / 1_000_000),
        "make room on the disk",
    );
    match free {
        _ if free < ROOM_BYTES_MIN => Some(Finding::fail("data_folder", about, &fault)),
        _ if free < ROOM_BYTES_LOW => Some(Finding::warn("data_folder", about, &fault)),
        _ => None,
    }
}

fn unusable(cause: &str) -> Fault {
    Fault::new(
        FaultCode::Storage,
        "Nothing can be stored",
        cause,
        "check its path and its owner, or use another with --data-dir",
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[track_caller]
    fn check(data_dir: &Path, result: &str, words: &str) {
        let findings = folder(data_dir);
        let found = findings.iter().any(|finding| finding.result == result && finding.detail.contains(words));
        assert!(found, "wanted {result} with {words:?}: {findings:?}");
    }

    #[test]
    fn a_folder_others_may_read_is_named_with_the_way_out() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        check(dir.path(), "ok", "yours alone");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o750)).unwrap();
        check(dir.path(), "warn", "chmod -R go= ");
        check(&dir.path().join("nowhere"), "fail", "--data-dir");
    }
}
