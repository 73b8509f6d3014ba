//! The window's pages: what `npm run check` in `ui/` checks.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Failure, cargo};

/// Installs what `ui/package-lock.json` names, if that is not there yet, and checks the pages: format, lints, types,
/// contrast, tests, build.
pub(crate) fn check() -> Result<(), Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
    if !is_installed(&folder) {
        npm(&folder, &["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
    }
    npm(&folder, &["run", "check"])
}

/// npm writes this file last.
fn is_installed(folder: &Path) -> bool {
    let written = |path: &str| fs::metadata(folder.join(path)).and_then(|file| file.modified()).ok();
    written("node_modules/.package-lock.json").is_some_and(|installed| Some(installed) >= written("package-lock.json"))
}

fn npm(folder: &Path, args: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("npm");
    command.args(args).current_dir(folder);
    cargo::check(&mut command, &format!("npm {}", args.join(" ")))
        .map_err(|failure| format!("{failure} (it needs Node.js 20.19 or newer, with npm)"))
}
