//! The fixed reasons of operations, each with a stable word for it.

use crate::model::occasion::Occasion;

/// It was there before its mailbox was watched.
pub const BASELINE: &str = "there before the watching began";
/// It came long before the last check of its folder.
pub const OLD: &str = "much older than the last check of its folder";
/// It was in the folder before that was numbered anew.
pub const BEFORE_REBUILD: &str = "there before the folder was rebuilt";
/// The source could not read it.
pub const UNREADABLE: &str = "a mail that could not be read";
/// Only a name of it is known yet.
pub const AWAITING_MAIL: &str = "awaiting the mail";
/// Junk that no rule asks for.
pub const JUNK: &str = "in the junk folder";
/// Sent mail that no rule asks for.
pub const SENT: &str = "in the folder of sent mail";
/// The last rule.
pub const EVERYTHING_ELSE: &str = "everything else";
/// The last rule, without anybody to tell.
pub const NO_DESTINATION: &str = "no destination";
/// The owner's wish.
pub const OWNER_AGAIN: &str = "the owner asked to be told again";
/// It was held when its mailbox was removed.
pub const MAILBOX_REMOVED: &str = "its mailbox was removed";
/// A message of Ringonce itself that the owner asked for.
pub const TEST: &str = "a test";
/// A message of Ringonce itself about trouble.
pub const ALARM: &str = "alarm";
/// Invented mail that rings on this computer.
pub const DEMO: &str = "a demo mail";
/// Invented mail where this computer is told nothing.
pub const DEMO_SILENT: &str = "a demo mail rings only on this computer";
/// Begins the reason of what is told in a digest.
pub const IN_DIGEST: &str = "in digest ";

/// The word of each fixed reason.
const CODES: [(&str, &str); 19] = [
    (BASELINE, "baseline"),
    (OLD, "old"),
    (BEFORE_REBUILD, "before_rebuild"),
    (UNREADABLE, "unreadable"),
    (AWAITING_MAIL, "awaiting_mail"),
    (JUNK, "junk"),
    (SENT, "sent"),
    (EVERYTHING_ELSE, "everything_else"),
    (NO_DESTINATION, "no_destination"),
    (OWNER_AGAIN, "owner_again"),
    (MAILBOX_REMOVED, "mailbox_removed"),
    (TEST, "test"),
    (ALARM, "alarm"),
    (DEMO, "demo"),
    (DEMO_SILENT, "demo_silent"),
    (Occasion::CatchUp.reason(), "catch_up"),
    (Occasion::Rebuild.reason(), "rebuilt"),
    (Occasion::Restore.reason(), "restored"),
    (Occasion::Expired.reason(), "expired"),
];
const IN_DIGEST_CODE: &str = "in_digest";

/// The stable word of a fixed reason.
#[must_use]
pub fn code(reason: &str) -> Option<&'static str> {
    if reason.starts_with(IN_DIGEST) {
        return Some(IN_DIGEST_CODE);
    }
    CODES.iter().find(|(known, _)| *known == reason).map(|(_, code)| *code)
}

/// Every word there is.
#[must_use]
pub fn codes() -> Vec<&'static str> {
    CODES.iter().map(|(_, code)| *code).chain([IN_DIGEST_CODE]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::decide::digest::member_reason;

    #[test]
    fn each_fixed_reason_has_a_word_of_its_own() {
        assert_eq!(code(EVERYTHING_ELSE), Some("everything_else"));
        assert_eq!(code(&member_reason(&"ab12".into())), Some("in_digest"));
        assert_eq!(code("subject contains \"x\""), None, "a rule's own");
        let reasons: BTreeSet<&str> = CODES.iter().map(|(reason, _)| *reason).collect();
        let words: BTreeSet<&str> = codes().into_iter().collect();
        assert_eq!((reasons.len(), words.len()), (CODES.len(), CODES.len() + 1), "none stands there twice");
    }
}
