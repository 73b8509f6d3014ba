//! Developer commands: `cargo xtask setup | build | run | test | bench | bundle`. Standard library only, so that the first of
//! them runs a second after a clone.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a command is for")]

mod bundle;
mod cargo;
mod icons;
mod servers;
mod setup;
mod suite;
mod window;

use std::env;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use setup::Purpose;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  setup             installs what the machine lacks for building and testing
  build [--release] builds the pages, the program `ringonce` and its window
  run [ARGS…]       builds and runs `ringonce` with ARGS; without ARGS: tray and window. Without a screen: the demo
                    while there is no mailbox, else it watches your mailboxes
  test [WORD]       format, lints, documentation, unit and integration tests, the window's pages; with WORD only tests whose
                    name holds it
  types             writes the window's types from the engine's methods
  icons             draws the tray's icons from icons/tray.svg, and sizes of the app's icon
  bench [TABLE…]    prints figures, on a release build
  bundle [--check]  makes .deb and .rpm of a release build (an AppImage where its tool is there); --check looks into
                    them and, as root, installs the .deb, starts it from its entry in the menu, and removes it
";

/// What went wrong, in one line for people.
type Failure = String;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["setup"] => setup::ensure(Purpose::Test).map(|()| println!("Everything is there.")),
        ["build"] => build(&[]),
        ["build", "--release"] => build(&["--release"]),
        ["run", rest @ ..] => run(rest),
        ["test"] => return suite::run(),
        ["test", word] => suite::run_some(word),
        ["types"] => types(),
        ["icons"] => icons::draw(),
        ["bench", tables @ ..] => bench(tables),
        ["bundle"] => bundle::make(),
        ["bundle", "--check"] => bundle::make_and_check(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn build(options: &[&str]) -> Result<(), Failure> {
    build_all(options)?;
    let profile = if options.is_empty() { "debug" } else { "release" };
    println!("{}", built(profile, "ringonce")?.display());
    Ok(())
}

/// Both programs, side by side.
fn build_all(options: &[&str]) -> Result<(), Failure> {
    setup::ensure(Purpose::Window)?;
    window::build()?;
    cargo::run(&[&["build", "--package", "ringonce", "--package", "ringonce-app"], options].concat())
}

/// Runs a debug build: on a new machine it is there in half the time of a release build, and what it waits for is the
/// network, not the processor. `build --release` makes the one to keep.
fn run(args: &[&str]) -> Result<(), Failure> {
    let on_screen =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some_and(|at| !at.is_empty()));
    if on_screen && args.is_empty() {
        build_all(&[])?;
    } else {
        setup::ensure(Purpose::Run)?;
        cargo::run(&["build", "--quiet", "--package", "ringonce"])?;
    }
    let program = built("debug", "ringonce")?;
    let args = match args {
        [] if on_screen => &[],
        [] if has_mailbox(&program)? => ["run", "--headless"].as_slice(),
        [] => &["run", "--demo"],
        given => given,
    };
    // Takes our place, so that signals and the exit code are its own.
    let error = Command::new(&program).args(args).exec();
    Err(format!("{} does not start: {error}", program.display()))
}

/// Whether the owner has added one. What cannot be read is the program's to explain, not to be taken for "none".
fn has_mailbox(program: &Path) -> Result<bool, Failure> {
    let listed = Command::new(program)
        .args(["mailbox", "list", "--json"])
        .output()
        .map_err(|error| format!("{} does not start: {error}", program.display()))?;
    if !listed.status.success() {
        return Err(String::from_utf8_lossy(&listed.stderr).trim_end().to_owned());
    }
    Ok(String::from_utf8_lossy(&listed.stdout).split_whitespace().collect::<String>() != "[]")
}

/// A test compares what is written here with what the engine says.
fn types() -> Result<(), Failure> {
    setup::ensure(Purpose::Run)?;
    cargo::run(&["build", "--quiet", "--package", "ringonce-tests", "--bin", "ringonce-types"])?;
    let printed = Command::new(built("debug", "ringonce-types")?).output();
    let text = printed.map_err(|error| format!("The types cannot be printed: {error}"))?.stdout;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/lib/api/types.ts");
    std::fs::write(&file, text).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

/// Measures what `build --release` makes. The bench is built by itself: it needs more of the engine than the programs.
fn bench(tables: &[&str]) -> Result<(), Failure> {
    setup::ensure(Purpose::Test)?;
    build_all(&["--release"])?;
    cargo::run(&["build", "--release", "--package", "ringonce-tests", "--bin", "ringonce-bench"])?;
    let error = Command::new(built("release", "ringonce-bench")?).args(tables).exec();
    Err(format!("The bench does not start: {error}"))
}

/// Where Cargo put a program. We are one of them: `<target>/debug/xtask`.
fn built(profile: &str, name: &str) -> Result<PathBuf, Failure> {
    let us = env::current_exe().map_err(|error| format!("Cannot find our own place: {error}"))?;
    let target = us.ancestors().nth(2).ok_or("Run this by `cargo xtask`")?;
    let path = target.join(profile).join(name);
    if path.is_file() { Ok(path) } else { Err(format!("{} was not built", path.display())) }
}
