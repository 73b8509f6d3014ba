//! Bad input: what the owner mistypes, what servers show, what mails and webhooks bring. A clear error of one line or
//! a plain notification; never a dead program, and nothing lost.

mod mail;
mod owner;
mod webhook;

use std::time::Duration;

use crate::support::program::Output;

/// After which something does not happen any more.
const LIMIT: Duration = Duration::from_secs(60);

/// Exit code 1 and one line: consequence, cause, next step; the cause says `words`.
#[track_caller]
fn assert_refused(output: &Output, words: &str) {
    assert_eq!((output.status.code(), output.stdout.as_str()), (Some(1), ""), "refused: {output:?}");
    assert_eq!(output.stderr.lines().count(), 1, "one line: {}", output.stderr);
    let line = output.stderr.trim().strip_prefix("ringonce: ").expect("it says who speaks");
    let (consequence, rest) = line.split_once(": ").unwrap_or_else(|| panic!("no consequence: {line}"));
    let (cause, next_step) = rest.rsplit_once("; ").unwrap_or_else(|| panic!("no next step: {line}"));
    assert!(consequence.starts_with(char::is_uppercase) && !next_step.is_empty(), "three sentences: {line}");
    assert!(cause.contains(words), "{cause:?} does not say {words:?}");
}
