//! `cargo xtask bundle`: packages with both programs, the entry of the menu and the icons.
//!
//! Tauri's bundler makes them. What stands in them is in `src-tauri/tauri.bundle.conf.json`, but for what only the
//! built programs can tell: where they are, and which libraries they need.

mod check;
mod install;
mod needs;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::check as succeed;
use crate::setup::{self, Purpose, find_program};
use crate::{Failure, build_all, built};

/// Of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const METAINFO: &str = "bundle/io.github.ringonce.Ringonce.metainfo.xml";
/// What makes an AppImage; Tauri's bundler would download it.
const APPIMAGE_TOOL: &str = "tauri/linuxdeploy-x86_64.AppImage";

/// Makes the packages and prints where they are.
pub(crate) fn make() -> Result<(), Failure> {
    setup::ensure(Purpose::Window)?;
    make_all().map(drop)
}

/// Makes them, looks into them, and installs, starts and removes one.
pub(crate) fn make_and_check() -> Result<(), Failure> {
    setup::ensure(Purpose::Package)?;
    let packages = make_all()?;
    let scratch = packages.folder.join("check");
    for package in &packages.files {
        check::check(package, &scratch)?;
    }
    match packages.files.iter().find(|file| has_ending(file, "deb")) {
        Some(package) => install::check(package, &scratch.join("deb")),
        None => Ok(()),
    }
}

/// What was made.
struct Packages {
    folder: PathBuf,
    files: Vec<PathBuf>,
}

fn make_all() -> Result<Packages, Failure> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    know_version(&sources)?;
    build_all(&["--release"])?;
    let resident = built("release", "ringonce")?;
    let folder = resident.with_file_name("bundle");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{} cannot be emptied: {error}", folder.display()))?;
    }
    let kinds = kinds();
    let sidecar = sidecar(&resident)?;
    let config = config(&sidecar, &[resident, built("release", "ringonce-app")?], kinds.contains(&"deb"))?;
    let mut tauri = Command::new(sources.join("../ui/node_modules/.bin/tauri"));
    tauri.args(["bundle", "--ci", "--bundles", &kinds.join(",")]);
    tauri.arg("--config").arg(sources.join("tauri.bundle.conf.json")).arg("--config").arg(config);
    succeed(tauri.current_dir(&sources), "tauri bundle")?;
    let mut files = Vec::new();
    for kind in kinds {
        let made = files_of(&folder.join(kind), if kind == "appimage" { "AppImage" } else { kind });
        files.push(made.ok_or_else(|| format!("Tauri's bundler made no {kind}"))?);
    }
    files.iter().for_each(|file| println!("{}", file.display()));
    Ok(Packages { folder, files })
}

/// The kinds that can be made here; says why another cannot.
fn kinds() -> Vec<&'static str> {
    let mut kinds = vec!["rpm"];
    if find_program("dpkg-shlibdeps").is_some() {
        kinds.push("deb");
    } else {
        println!("No .deb: only Debian's own tools (dpkg-dev) know which packages the programs need");
    }
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    if cache.is_some_and(|cache| cache.join(APPIMAGE_TOOL).is_file()) {
        kinds.push("appimage");
    } else {
        println!("No AppImage: its tool is not on this machine (~/.cache/{APPIMAGE_TOOL})");
    }
    kinds
}

/// What software centres show as the newest version has to be the one that is packed.
fn know_version(sources: &Path) -> Result<(), Failure> {
    let text = fs::read_to_string(sources.join(METAINFO)).map_err(|error| format!("{METAINFO}: {error}"))?;
    let newest = text.split("<release version=\"").nth(1).and_then(|rest| rest.split('"').next());
    if newest == Some(VERSION) {
        return Ok(());
    }
    Err(format!("{METAINFO} names {} as the newest version; this is {VERSION}", newest.unwrap_or("none")))
}

/// A copy of `ringonce` under the name that the bundler looks for; without its ending.
fn sidecar(program: &Path) -> Result<PathBuf, Failure> {
    let asked = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc does not run: {error}"))?;
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let triple = said.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not name its target")?;
    let folder = program.with_file_name("sidecar");
    let name = folder.join("ringonce");
    let copied = fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(program, folder.join(format!("ringonce-{triple}"))))
        .map_err(|error| format!("{} cannot be written: {error}", name.display()));
    copied.map(|_| name)
}

/// What the programs tell, as a configuration that is laid over the others.
fn config(sidecar: &Path, programs: &[PathBuf], with_deb: bool) -> Result<String, Failure> {
    let sonames = list(&needs::for_rpm(programs)?);
    let packages = if with_deb { list(&needs::for_deb(programs)?) } else { "[]".to_owned() };
    let sidecar = list(&[sidecar.display().to_string()]);
    Ok(format!(
        r#"{{"bundle":{{"externalBin":{sidecar},"linux":{{"deb":{{"depends":{packages}}},"rpm":{{"depends":{sonames}}}}}}}}}"#
    ))
}

/// Texts as JSON.
fn list(texts: &[String]) -> String {
    let quoted = texts.iter().map(|text| format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")));
    format!("[{}]", quoted.collect::<Vec<_>>().join(","))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

fn files_of(folder: &Path, ending: &str) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(|path| has_ending(path, ending))
}

/// Runs a program to its end; gives what it printed.
fn output(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} does not run: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_json() {
        assert_eq!(list(&[r#"a "b" \c"#.to_owned(), "d".to_owned()]), r#"["a \"b\" \\c","d"]"#);
        assert_eq!(list(&[]), "[]");
    }

    #[test]
    fn the_newest_version_is_told() {
        know_version(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    }
}
