//! Looks into a package: is everything in it, nothing else, and does it fit together?

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::bundle::{METAINFO, VERSION, has_ending, output};
use crate::setup::find_program;

const PROGRAMS: [&str; 2] = ["usr/bin/ringonce", "usr/bin/ringonce-app"];
const ENTRY: &str = "usr/share/applications/ringonce.desktop";
const ICONS: &str = "usr/share/icons/hicolor";
const ICON_SIZES: [u32; 8] = [16, 24, 32, 48, 64, 128, 256, 512];

/// Unpacks a package below `scratch` and looks at everything in it.
pub(super) fn check(package: &Path, scratch: &Path) -> Result<(), Failure> {
    let (kind, unpack, licence) = if has_ending(package, "deb") {
        ("deb", r#"dpkg-deb --extract "$1" ."#, "usr/share/doc/ringonce/copyright")
    } else if has_ending(package, "rpm") {
        ("rpm", r#"rpm2cpio "$1" | cpio --quiet --extract --make-directories"#, "usr/share/licenses/ringonce/LICENSE")
    } else {
        println!("{} is not looked into", package.display());
        return Ok(());
    };
    let root = scratch.join(kind);
    fs::create_dir_all(&root).map_err(|error| format!("{} cannot be made: {error}", root.display()))?;
    output(Command::new("sh").args(["-ec", unpack, "unpack"]).arg(package).current_dir(&root))?;
    let said = [files(&root, licence)?, programs(&root)?, entry(&root)?, icons(&root)?, metainfo(&root)?].concat();
    if said.is_empty() {
        println!("{}: everything is in it", package.display());
        return Ok(());
    }
    Err(format!("{}:\n{}", package.display(), said.join("\n")))
}

/// Files below a folder, by their path in it, in order.
pub(super) fn list(root: &Path) -> Result<Vec<String>, Failure> {
    let said = output(Command::new("find").args([".", "!", "-type", "d", "-printf", "%P\n"]).current_dir(root))?;
    let mut files: Vec<String> = said.lines().map(str::to_owned).collect();
    files.sort();
    Ok(files)
}

/// The list is whole: whatever starts by itself, a service for example, would be one file too many.
fn files(root: &Path, licence: &str) -> Result<Vec<String>, Failure> {
    let name = METAINFO.rsplit('/').next().unwrap_or_default();
    let mut wanted =
        [PROGRAMS.as_slice(), &[ENTRY, licence]].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    wanted.extend(ICON_SIZES.map(icon));
    wanted.extend([format!("{ICONS}/scalable/apps/ringonce.svg"), format!("usr/share/metainfo/{name}")]);
    let found = list(root)?;
    let missing = wanted.iter().filter(|file| !found.contains(file)).map(|file| format!("{file} is missing"));
    let others = found.iter().filter(|file| !wanted.contains(file)).map(|file| format!("{file} does not belong there"));
    let mut said: Vec<String> = missing.chain(others).collect();
    for file in found {
        let mode = fs::metadata(root.join(&file)).map_err(|error| format!("{file}: {error}"))?.permissions().mode();
        let wanted = if file.starts_with("usr/bin/") { 0o755 } else { 0o644 };
        if mode & 0o7777 != wanted {
            said.push(format!("{file} has the mode {:o}, not {wanted:o}", mode & 0o7777));
        }
    }
    Ok(said)
}

fn programs(root: &Path) -> Result<Vec<String>, Failure> {
    let mut said = Vec::new();
    for program in PROGRAMS {
        let printed = output(Command::new(root.join(program)).arg("--version"))?;
        if printed.split_whitespace().last() != Some(VERSION) {
            said.push(format!("{program} --version prints {printed:?}"));
        }
    }
    Ok(said)
}

/// What a menu reads of the entry leads somewhere.
fn entry(root: &Path) -> Result<Vec<String>, Failure> {
    let path = root.join(ENTRY);
    let text = fs::read_to_string(&path).map_err(|error| format!("{ENTRY}: {error}"))?;
    let mut said = judge_entry(&text);
    for key in ["Exec", "TryExec"] {
        let program = value(&text, key).and_then(|value| value.split_whitespace().next()).unwrap_or_default();
        if !root.join("usr/bin").join(program).is_file() {
            said.push(format!("{key} of the entry names {program:?}, which is not there"));
        }
    }
    if find_program("desktop-file-validate").is_some() {
        output(Command::new("desktop-file-validate").arg(path))?;
    }
    Ok(said)
}

/// It starts the resident program, in each language a menu may be in, and the panel knows its window.
fn judge_entry(text: &str) -> Vec<String> {
    let wanted =
        [("Exec", "ringonce"), ("Icon", "ringonce"), ("StartupWMClass", "ringonce-app"), ("Terminal", "false")];
    let wrong = wanted.into_iter().filter(|(key, wanted)| value(text, key) != Some(wanted));
    let mut said: Vec<String> = wrong.map(|(key, wanted)| format!("{key} of the entry is not {wanted}")).collect();
    for key in ["GenericName", "Comment", "Keywords"] {
        let languages = ["", "[pl]", "[ru]"].map(|language| format!("{key}{language}"));
        let absent = languages.into_iter().filter(|key| value(text, key).is_none_or(str::is_empty));
        said.extend(absent.map(|key| format!("The entry has no {key}")));
    }
    if !value(text, "Categories").is_some_and(|categories| categories.split(';').any(|one| one == "Email")) {
        said.push("The entry is not among what has to do with mail".to_owned());
    }
    said
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
}

fn icon(size: u32) -> String {
    format!("{ICONS}/{size}x{size}/apps/ringonce.png")
}

/// Each is of the size of its folder.
fn icons(root: &Path) -> Result<Vec<String>, Failure> {
    let mut said = Vec::new();
    for size in ICON_SIZES {
        let path: PathBuf = root.join(icon(size));
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if png_size(&bytes) != Some([size, size]) {
            said.push(format!("{} is not {size} pixels wide and high", icon(size)));
        }
    }
    Ok(said)
}

/// Width and height stand behind the signature and the name of the first chunk.
fn png_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let is_png = bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.get(12..16) == Some(b"IHDR");
    if is_png { Some([number(16)?, number(20)?]) } else { None }
}

fn metainfo(root: &Path) -> Result<Vec<String>, Failure> {
    if find_program("appstreamcli").is_some() {
        let file = root.join("usr/share/metainfo").join(METAINFO.rsplit('/').next().unwrap_or_default());
        output(Command::new("appstreamcli").args(["validate", "--no-net"]).arg(file))?;
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_starts_the_wrong_program_is_told() {
        let good = include_str!("../../../bundle/ringonce.desktop");
        assert_eq!(judge_entry(good), [""; 0]);
        let bad = good.replace("Exec=ringonce\n", "Exec=ringonce-app\n").replace("Comment[ru]", "Comment[uk]");
        let said = judge_entry(&bad);
        assert!(said.iter().any(|said| said.starts_with("Exec ")), "{said:?}");
        assert!(said.iter().any(|said| said.ends_with("Comment[ru]")), "{said:?}");
    }

    #[test]
    fn the_size_of_a_picture_is_read() {
        assert_eq!(png_size(include_bytes!("../../../../icons/48x48.png")), Some([48, 48]));
        assert_eq!(png_size(b"\x89PNG\r\n\x1a\n"), None);
        assert_eq!(png_size(include_bytes!("../../../../icons/ringonce.svg")), None);
    }
}
