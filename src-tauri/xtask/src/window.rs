//! The window's pages: built and checked by npm in `ui/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::{Failure, cargo};

/// Checks the pages: format, lints, types, contrast, tests, build.
pub(crate) fn check() -> Result<(), Failure> {
    npm(&installed()?, &["run", "check"])
}

/// Builds the pages, which the app holds. Quick when nothing changed since.
pub(crate) fn build() -> Result<(), Failure> {
    let folder = installed()?;
    let built = modified(&folder.join("dist/index.html"));
    let sources = ["src", "index.html", "package-lock.json", "vite.config.ts"].map(|path| newest(&folder.join(path)));
    if built.is_some() && built >= sources.into_iter().max().flatten() {
        return Ok(());
    }
    npm(&folder, &["run", "build"])
}

/// The folder of the pages, with what its `package-lock.json` names.
fn installed() -> Result<PathBuf, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
    if !is_installed(&folder) {
        npm(&folder, &["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
    }
    Ok(folder)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// When a file or the newest in a folder was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    let Ok(entries) = fs::read_dir(path) else { return modified(path) };
    entries.flatten().map(|entry| newest(&entry.path())).max().flatten()
}

/// npm writes this file last.
fn is_installed(folder: &Path) -> bool {
    modified(&folder.join("node_modules/.package-lock.json"))
        .is_some_and(|installed| Some(installed) >= modified(&folder.join("package-lock.json")))
}

fn npm(folder: &Path, args: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("npm");
    command.args(args).current_dir(folder);
    cargo::check(&mut command, &format!("npm {}", args.join(" ")))
        .map_err(|failure| format!("{failure} (it needs Node.js 20.19 or newer, with npm)"))
}
