//! Digest: many mails told as one message. Its words stand here and nowhere else; what a destination may be told of it
//! depends on its privacy, so it is kept line by line.

use crate::decide::reason;
use crate::identity::keys;
use crate::model::destination::Privacy;
use crate::model::ids::{DestinationId, MessageKey};
use crate::model::message::MailFacts;
use crate::model::occasion::Occasion;

/// Mails listed in one digest; the others are counted.
pub const LINES_MAX: usize = 20;
/// Characters of a sender and of a subject in one line: twenty lines stay within what the narrowest channel takes
/// (ntfy: 4,096 bytes) in most scripts; it cuts the rest.
const SENDER_CHARS_MAX: usize = 40;
const SUBJECT_CHARS_MAX: usize = 80;
/// Between sender and subject as kept; it stands in no header for people, where white space is folded.
const SEPARATOR: char = '\t';

/// The mails of a digest, as far as they are listed, and how many more there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Digest {
    lines: Vec<Line>,
    more: usize,
}

/// One mail of a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    sender: String,
    subject: String,
}

impl Line {
    /// Of a mail.
    #[must_use]
    pub fn of(facts: &MailFacts) -> Self {
        let sender = [&facts.from_name, &facts.from_address].into_iter().flatten().find(|name| !name.is_empty());
        Self {
            sender: one_line(sender.map_or("Unknown sender", String::as_str), SENDER_CHARS_MAX),
            subject: match facts.subject.as_deref() {
                None | Some("") => "(no subject)".to_owned(),
                Some(subject) => one_line(subject, SUBJECT_CHARS_MAX),
            },
        }
    }
}

impl Digest {
    /// Of mails, newest first.
    #[must_use]
    pub fn of(mails: impl IntoIterator<Item = Line>) -> Self {
        Self::default().and(Self { lines: mails.into_iter().collect(), more: 0 })
    }

    /// With the mails of an older one.
    #[must_use]
    pub fn and(mut self, older: Self) -> Self {
        self.lines.extend(older.lines);
        let cut = self.lines.len().saturating_sub(LINES_MAX);
        self.lines.truncate(LINES_MAX);
        self.more += older.more + cut;
        self
    }

    /// How many mails it tells of.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lines.len() + self.more
    }

    /// What it says in one line; nothing of any mail.
    #[must_use]
    pub fn subject(&self, occasion: Occasion) -> String {
        let count = self.count();
        let mails = if count == 1 { "new mail" } else { "new mails" };
        match occasion {
            Occasion::CatchUp => format!("{count} {mails} while you were away"),
            Occasion::Rebuild => format!("{count} {mails} in a folder that was rebuilt"),
            Occasion::Restore => format!("{count} {mails}, maybe told before: the history is from a copy"),
            Occasion::Expired => format!("{count} {mails} that could not be told in time"),
        }
    }

    /// As kept: a line a mail; how many more there are stands alone behind them.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut lines: Vec<String> =
            self.lines.iter().map(|line| format!("{}{SEPARATOR}{}", line.sender, line.subject)).collect();
        if self.more > 0 {
            lines.push(format!("{SEPARATOR}{}", self.more));
        }
        lines.join("\n")
    }

    /// From what was kept.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let mut digest = Self::default();
        for line in text.lines() {
            match line.split_once(SEPARATOR) {
                Some(("", more)) => digest.more = more.parse().unwrap_or(0),
                Some((sender, subject)) => {
                    digest.lines.push(Line { sender: sender.to_owned(), subject: subject.to_owned() });
                }
                None => {}
            }
        }
        digest
    }

    /// The text a destination of this privacy gets.
    #[must_use]
    pub fn body(&self, privacy: Privacy) -> String {
        let mut lines: Vec<String> = match privacy {
            Privacy::Full => self.lines.iter().map(|line| format!("{} – {}", line.sender, line.subject)).collect(),
            Privacy::Sender => self.senders(),
            Privacy::None => return String::new(),
        };
        if self.more > 0 {
            lines.push(format!("… and {} more", self.more));
        }
        lines.join("\n")
    }

    /// Each sender once, with how many of the listed mails are of it.
    fn senders(&self) -> Vec<String> {
        let mut senders: Vec<(&str, usize)> = Vec::new();
        for line in &self.lines {
            match senders.iter_mut().find(|(sender, _)| *sender == line.sender) {
                Some((_, count)) => *count += 1,
                None => senders.push((&line.sender, 1)),
            }
        }
        let show = |(sender, count): (&str, usize)| match count {
            1 => sender.to_owned(),
            count => format!("{sender} ({count})"),
        };
        senders.into_iter().map(show).collect()
    }
}

/// Names a digest by its members, in whatever order: the same ones are told once.
#[must_use]
pub fn local_part<'a>(members: impl IntoIterator<Item = &'a str>) -> String {
    let mut members: Vec<&str> = members.into_iter().collect();
    members.sort_unstable();
    format!("{LOCAL_PART}{}", keys::sha256_hex(members.join("\n").as_bytes()))
}

/// Whether a Message-ID of Ringonce's own names a digest.
#[must_use]
pub fn is_digest(message_id: &str) -> bool {
    message_id.starts_with(LOCAL_PART)
}

/// The reason of what is told in a digest and not by itself; `verify` reads it.
#[must_use]
pub fn member_reason(digest: &MessageKey) -> String {
    format!("{}{digest}", reason::IN_DIGEST)
}

/// With what the names of digests begin.
const LOCAL_PART: &str = "digest.";

/// Puts what is told by the same ways together, in the order of the first of each.
#[must_use]
pub fn by_ways<T>(mails: Vec<T>, ways: impl Fn(&T) -> &Vec<Vec<DestinationId>>) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for mail in mails {
        let same = groups.iter_mut().find(|group| group.first().is_some_and(|first| ways(first) == ways(&mail)));
        match same {
            Some(group) => group.push(mail),
            None => groups.push(vec![mail]),
        }
    }
    groups
}

/// At most so many characters, on one line, with an ellipsis where some are missing.
fn one_line(text: &str, chars_max: usize) -> String {
    let clean = |character: char| if character.is_control() { ' ' } else { character };
    let mut line: String = text.chars().map(clean).take(chars_max).collect();
    if text.chars().nth(chars_max).is_some() {
        line.pop();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: Option<&str>, address: Option<&str>, subject: Option<&str>) -> Line {
        Line::of(&MailFacts {
            from_name: name.map(str::to_owned),
            from_address: address.map(str::to_owned),
            subject: subject.map(str::to_owned),
            ..MailFacts::default()
        })
    }

    #[test]
    fn each_privacy_gets_what_it_allows() {
        let digest = Digest::of([
            line(Some("Ada"), Some("ada@example.org"), Some("Invoice – due")),
            line(None, Some("bob@example.org"), None),
            line(Some("Ada"), Some("ada@example.org"), Some("Secret\tplan")),
            line(None, None, Some("x")),
        ]);
        let case = |privacy: Privacy, body: &str| assert_eq!(digest.body(privacy), body, "{privacy:?}");
        case(
            Privacy::Full,
            "Ada – Invoice – due\nbob@example.org – (no subject)\nAda – Secret plan\nUnknown sender – x",
        );
        case(Privacy::Sender, "Ada (2)\nbob@example.org\nUnknown sender");
        case(Privacy::None, "");
        assert_eq!(Digest::from_text(&digest.to_text()), digest, "what is kept is the whole");
    }

    #[test]
    fn what_is_not_listed_is_counted_and_digests_add_up() {
        let mails = |count: usize| (0..count).map(|at| line(Some("Ada"), None, Some(&format!("{at}"))));
        let many = Digest::of(mails(LINES_MAX + 5));
        assert_eq!((many.count(), many.lines.len(), many.more), (25, 20, 5));
        assert!(many.body(Privacy::Full).ends_with("Ada – 19\n… and 5 more"), "{}", many.body(Privacy::Full));
        assert_eq!(many.body(Privacy::Sender), "Ada (20)\n… and 5 more");
        assert_eq!(Digest::from_text(&many.to_text()), many);
        let both = Digest::of(mails(2)).and(many);
        assert_eq!((both.count(), both.lines.len()), (27, 20), "none is forgotten");
    }

    #[test]
    fn the_subject_counts() {
        let case = |count: usize, occasion: Occasion, subject: &str| {
            let digest = Digest::of((0..count).map(|_| line(Some("Ada"), None, Some("Secret"))));
            assert_eq!(digest.subject(occasion), subject);
        };
        case(1, Occasion::CatchUp, "1 new mail while you were away");
        case(12, Occasion::CatchUp, "12 new mails while you were away");
        case(300, Occasion::Rebuild, "300 new mails in a folder that was rebuilt");
        case(2, Occasion::Restore, "2 new mails, maybe told before: the history is from a copy");
        case(7, Occasion::Expired, "7 new mails that could not be told in time");
    }

    #[test]
    fn its_name_is_that_of_its_members_in_any_order() {
        assert_eq!(local_part(["b", "a"]), local_part(["a", "b"]));
        assert_ne!(local_part(["a", "b"]), local_part(["a", "c"]));
        assert_eq!(local_part(["a"]).len(), "digest.".len() + 64);
        assert!(is_digest(&format!("{}@ringonce", local_part(["a"]))) && !is_digest("alarm.x@ringonce"));
    }

    #[test]
    fn a_listed_mail_is_one_short_line() {
        let long = line(Some(&"ä".repeat(60)), None, Some(&format!("a\nb\u{7}{}", "x".repeat(200))));
        assert_eq!((long.sender.chars().count(), long.subject.chars().count()), (40, 80));
        assert!(long.subject.starts_with("a b x") && long.subject.ends_with('…'), "{}", long.subject);
    }

    #[test]
    fn what_goes_the_same_way_goes_together() {
        let way = |id: &str| vec![vec![DestinationId::from(id)]];
        let groups = by_ways(vec![(1, way("a")), (2, way("b")), (3, way("a"))], |mail| &mail.1);
        let numbers: Vec<Vec<i32>> = groups.iter().map(|group| group.iter().map(|mail| mail.0).collect()).collect();
        assert_eq!(numbers, [vec![1, 3], vec![2]]);
    }
}
