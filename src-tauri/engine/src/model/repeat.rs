//! Why a report is of a mail that was reported before, in words that a front end can say in the owner's language.

/// The reason of a delivery whose mail was known by what it says.
pub const MATCHED_BY_CONTENT: &str = "matched by content";

/// Why a report was suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepeatReason {
    /// Two paths told of it.
    PushAndIdle,
    /// The same event was reported again.
    Reconnect,
    /// It lies in another folder too.
    OtherFolder,
    /// It says the same, and no identifier tells them apart.
    SameContent,
    /// It has the same identifier.
    SameId,
}

/// One report, as far as the reason depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// By which path.
    pub source: &'a str,
    /// At which place.
    pub locator: &'a str,
}

impl RepeatReason {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::PushAndIdle, Self::Reconnect, Self::OtherFolder, Self::SameContent, Self::SameId];

    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PushAndIdle => "push_and_idle",
            Self::Reconnect => "reconnect",
            Self::OtherFolder => "other_folder",
            Self::SameContent => "same_content",
            Self::SameId => "same_id",
        }
    }

    /// From JSON.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }

    /// Why a delivery other than the one that counted was suppressed; `why` is what was recorded with it.
    #[must_use]
    pub fn of_duplicate(kept: Path<'_>, other: Path<'_>, why: &str) -> Self {
        if why == MATCHED_BY_CONTENT {
            return Self::SameContent;
        }
        if kept.source != other.source {
            return Self::PushAndIdle;
        }
        match (folder(kept.locator), folder(other.locator)) {
            (Some(kept), Some(other)) if kept != other => Self::OtherFolder,
            _ => Self::SameId,
        }
    }
}

/// The folder of a place on an IMAP server.
fn folder(locator: &str) -> Option<&str> {
    Some(locator.rsplit_once(";UIDVALIDITY=")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_what_is_different() {
        let check = |source: &'static str, locator: &'static str, why: &str, expected: RepeatReason| {
            let kept = Path { source: "imap", locator: "INBOX;UIDVALIDITY=3;UID=7" };
            let reason = RepeatReason::of_duplicate(kept, Path { source, locator }, why);
            assert_eq!(reason, expected, "{source} {locator} {why}");
        };
        check("webhook", "s1;ID=4", "same Message-ID", RepeatReason::PushAndIdle);
        check("imap", "Lists;UIDVALIDITY=1;UID=7", "same Message-ID", RepeatReason::OtherFolder);
        check("imap", "INBOX;UIDVALIDITY=4;UID=1", "same Message-ID", RepeatReason::SameId);
        check("imap", "INBOX;UIDVALIDITY=3;UID=8", "same id of the provider", RepeatReason::SameId);
        check("imap", "Lists;UIDVALIDITY=1;UID=7", MATCHED_BY_CONTENT, RepeatReason::SameContent);
        check("imap", "ingest 5", "same Message-ID", RepeatReason::SameId);
    }
}
