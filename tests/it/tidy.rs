//! Rules of this code base that a program can check. Each check is a function on text, with tests that it can fail;
//! the tests here run them on the tree.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod borders;
mod licences;
mod manifest;
mod points;
mod rust_text;
mod sizes;
mod words;

/// Folders that are not ours to judge.
const SKIPPED: [&str; 6] = [".git", "target", "node_modules", "dist", "fixtures", "gen"];

/// Files that are text, by their ending.
const TEXT: [&str; 16] = [
    "rs", "toml", "md", "sql", "sh", "conf", "json", "yml", "yaml", "ts", "svelte", "css", "html", "mjs", "svg", "run",
];

/// The top folder of the tree.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the tree")
}

/// Every text file, by its path from the top with `/`, in order.
fn texts() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the tree").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if entry.file_type().expect("an entry has a type").is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if is_text(&path) {
                let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let relative = path.strip_prefix(root()).expect("found below the top");
                found.push((relative.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 20, "the walk found only {} files: it looks in the wrong place", found.len());
    found
}

fn is_text(path: &Path) -> bool {
    let ending = path.extension().or(path.file_name()).and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| TEXT.contains(&ending))
}

fn sources() -> Vec<(String, String)> {
    texts().into_iter().filter(|(path, _)| path.ends_with(".rs")).collect()
}

/// Runs a check on each text and fails with everything it found.
#[track_caller]
fn hold(texts: &[(String, String)], check: impl Fn(&str, &str) -> Vec<String>) {
    let mut found = String::new();
    for (path, text) in texts {
        for said in check(path, text) {
            let _ = writeln!(found, "{path}: {said}");
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn files_are_short_and_say_what_they_are() {
    hold(&sources(), sizes::check);
}

#[test]
fn imports_go_up_the_list_of_layers() {
    hold(&sources(), borders::check_layers);
}

#[test]
fn each_library_stays_in_its_folder() {
    hold(&sources(), borders::check_libraries);
}

#[test]
fn nothing_is_left_to_do_and_no_machine_is_named() {
    hold(&texts(), words::check);
}

#[test]
fn the_window_has_the_types_of_the_engine() {
    let committed = fs::read_to_string(root().join("ui/src/lib/api/types.ts")).expect("the window's types");
    assert!(committed == ringonce_engine::api::types::text(), "the types are out of date: run `cargo xtask types`");
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let folder = root().join("src-tauri/engine/migrations");
    let names = fs::read_dir(&folder).expect("a folder of migrations").flatten();
    let names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let said = manifest::check_migrations(names);
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn each_crash_point_is_placed_and_listed() {
    let engine = sources().into_iter().filter(|(path, _)| path.starts_with("src-tauri/"));
    let placed = engine.flat_map(|(_, text)| points::placed(&text).map(str::to_owned).collect::<Vec<_>>()).collect();
    let said = points::check(ringonce_engine::crash::POINTS, &placed);
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn each_dependency_has_its_reason() {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    let mut said = manifest::check_reasons(&text);
    for (path, text) in texts().iter().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        said.extend(manifest::check_member(text).into_iter().map(|said| format!("{path}: {said}")));
    }
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn each_library_may_be_shipped() {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &target])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).expect("JSON");
    let said = licences::check(&metadata);
    assert!(said.is_empty(), "{said:?}");
}
