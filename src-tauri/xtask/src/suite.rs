//! `cargo xtask test`: everything a change has to pass, and one closing line.

use std::io::{BufRead as _, BufReader};
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use crate::Failure;
use crate::cargo::{self, EVERYTHING};
use crate::setup::{self, Purpose};
use crate::window;

/// Tests counted over all test programs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs all of it. A failed step does not hide what later ones find; it counts as one that failed.
pub(crate) fn run() -> ExitCode {
    let mut count = Count::default();
    let ready = step(&mut count, "setup", || setup::ensure(Purpose::Test));
    // The app holds the built pages: they come before everything that compiles it.
    step(&mut count, "pages", window::check);
    step(&mut count, "format", || cargo::run(&["fmt", "--all", "--", "--check"]));
    step(&mut count, "lints", || {
        cargo::run(&[&["clippy"], EVERYTHING.as_slice(), &["--", "--deny", "warnings"]].concat())
    });
    step(&mut count, "documentation", documentation);
    let built = step(&mut count, "build", || cargo::run(&[&["build"], EVERYTHING.as_slice()].concat()));
    if ready && built {
        let mut tests = Count::default();
        step(&mut count, "tests", || run_tests(&[], &mut tests));
        // A test that failed is not counted a second time as a step.
        count.failed -= count.failed.min(u64::from(tests.failed > 0));
        count.passed += tests.passed;
        count.failed += tests.failed;
        count.ignored += tests.ignored;
    }
    if count.ignored > 0 {
        println!("{} ignored", count.ignored);
    }
    println!("{} passed, {} failed", count.passed, count.failed);
    if count.failed == 0 && count.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs only tests whose name holds `word`.
pub(crate) fn run_some(word: &str) -> Result<(), Failure> {
    setup::ensure(Purpose::Test)?;
    window::build()?;
    cargo::run(&[&["build"], EVERYTHING.as_slice()].concat())?;
    run_tests(&["--", word], &mut Count::default())
}

fn step(count: &mut Count, name: &str, work: impl FnOnce() -> Result<(), Failure>) -> bool {
    println!("--- {name}");
    let start = Instant::now();
    let done = work();
    match &done {
        Ok(()) => println!("--- {name}: good, {:.1} s", start.elapsed().as_secs_f64()),
        Err(failure) => {
            println!("--- {name}: FAILED. {failure}");
            count.failed += 1;
        }
    }
    done.is_ok()
}

/// Links in comments that lead nowhere are errors, private items included.
fn documentation() -> Result<(), Failure> {
    let args = ["doc", "--no-deps", "--document-private-items", "--workspace", "--features", "ringonce/crash-points"];
    let mut doc = cargo::command();
    doc.args(args).env("RUSTDOCFLAGS", "--deny warnings");
    cargo::check(&mut doc, "cargo doc")
}

/// Runs the test programs, shows what they print, and adds up their result lines.
fn run_tests(more: &[&str], count: &mut Count) -> Result<(), Failure> {
    let mut tests = cargo::command();
    tests.arg("test").args(EVERYTHING).arg("--no-fail-fast").args(more).stdout(Stdio::piped());
    let mut running = tests.spawn().map_err(|error| format!("cargo test does not start: {error}"))?;
    let stdout = running.stdout.take().ok_or("cargo test has no output")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.map_err(|error| format!("Cannot read what the tests print: {error}"))?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        count.add(&line);
    }
    let status = running.wait().map_err(|error| format!("Cannot wait for cargo test: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo test ended with {status}")) }
}

impl Count {
    /// Adds a line such as `test result: ok. 25 passed; 0 failed; 1 ignored; …`; others are nothing.
    fn add(&mut self, line: &str) {
        let Some((_, numbers)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for part in numbers.split("; ") {
            let Some((Ok(number), word)) = part.split_once(' ').map(|(number, word)| (number.parse::<u64>(), word))
            else {
                continue;
            };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[track_caller]
    fn check(lines: &[&str], passed: u64, failed: u64, ignored: u64) {
        let mut count = Count::default();
        lines.iter().for_each(|line| count.add(line));
        assert_eq!(count, Count { passed, failed, ignored }, "{lines:?}");
    }

    #[test]
    fn result_lines_are_added_up() {
        let good = "test result: ok. 25 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 6.24s";
        let bad = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s";
        check(&[good], 25, 0, 1);
        check(&[good, "test a ... ok", bad], 28, 2, 1);
        check(&["running 25 tests", "test result", "thread says: 9 passed; 9 failed"], 0, 0, 0);
    }
}
