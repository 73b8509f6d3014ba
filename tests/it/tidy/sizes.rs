//! Files are short, and each says first what it is.

use crate::tidy::rust_text::{code, test_lines};

/// Lines of a file without its tests.
const LINES_MAX: usize = 400;
/// Lines of a file with them.
const LINES_WITH_TESTS_MAX: usize = 600;

/// What is wrong with one file.
pub(crate) fn check(path: &str, text: &str) -> Vec<String> {
    let mut said = Vec::new();
    let lines = text.lines().count();
    let own = if is_test(path) { 0 } else { lines - test_lines(&code(text)).min(lines) };
    if own > LINES_MAX {
        said.push(format!("{own} lines without tests: split it (at most {LINES_MAX})"));
    }
    if lines > LINES_WITH_TESTS_MAX {
        said.push(format!("{lines} lines: split it (at most {LINES_WITH_TESTS_MAX} with tests)"));
    }
    if !text.starts_with("//!") {
        said.push("begin with `//!` and what the file is".to_owned());
    }
    said
}

/// Nothing but tests.
pub(crate) fn is_test(path: &str) -> bool {
    let in_it = path.starts_with("tests/it/") && !path.starts_with("tests/it/support/");
    in_it || path.ends_with("/tests.rs") || path.contains("/tests/")
}

#[cfg(test)]
mod tests {
    use super::check;

    #[track_caller]
    fn count(path: &str, text: &str, expected: usize) {
        assert_eq!(check(path, text).len(), expected, "{path}: {:?}", check(path, text));
    }

    #[test]
    fn long_and_nameless_files_are_found() {
        let lines = |count: usize| format!("//! Title.\n{}", "fn f() {}\n".repeat(count));
        let tests = |count: usize| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "fn f() {}\n".repeat(count));
        count("src-tauri/engine/src/a.rs", &lines(399), 0);
        count("src-tauri/engine/src/a.rs", &lines(400), 1);
        count("src-tauri/engine/src/a.rs", &(lines(390) + &tests(190)), 0);
        count("src-tauri/engine/src/a.rs", &(lines(390) + &tests(220)), 1);
        count("src-tauri/engine/src/a.rs", &lines(700), 2);
        count("src-tauri/engine/src/a.rs", "fn f() {}\n", 1);
        count("tests/it/outbox.rs", &lines(590), 0);
        count("tests/it/support/relay.rs", &lines(590), 1);
    }
}
