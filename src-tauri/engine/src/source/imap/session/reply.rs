//! What a server says, as owned values, and the ways in which saying it can fail. NO, BAD, BYE and the end of the line
//! are four different things (imap.md rule 1).

use std::time::Duration;

use async_imap::imap_proto::{
    AttributeValue, Capability, MailboxDatum, NameAttribute, Outcome, Response, ResponseCode, SectionPath, Status,
    StatusAttribute,
};

use crate::model::mailbox::FolderRole;
use crate::model::sighting::ProviderId;
use crate::net::guard::Violation;

/// Characters of a server's own words that are shown.
const WORDS_CHARS_MAX: usize = 200;
/// A wait that a server asks for is obeyed up to this.
const SUGGESTED_WAIT_MAX: Duration = Duration::from_secs(300);

/// One response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The end of a command.
    Done { tag: String, ended: Ended, words: Words },
    /// It waits for more of the command, or IDLE has begun.
    Continue,
    /// An untagged OK, NO (a warning), BAD or PREAUTH.
    Note(Note),
    /// It is about to close.
    Bye(Words),
    /// So many mails are in the folder.
    Exists(u32),
    /// One fewer, at this place.
    Expunged(u32),
    /// So many fewer.
    Vanished(u32),
    /// Something of a mail.
    Fetch(FetchData),
    /// UIDs found.
    Search(Vec<u32>),
    /// Numbers of a folder that is not selected.
    Status { uid_next: Option<u32>, uid_validity: Option<u32>, messages: Option<u32> },
    /// A folder.
    List(Listed),
    /// What the server can do, upper case.
    Capabilities(Vec<String>),
    /// Anything else.
    Other,
}

/// An untagged OK, NO, BAD or PREAUTH, and what its code tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Note {
    /// Signing in is not needed.
    pub(crate) preauth: bool,
    /// Its words.
    pub(crate) words: Words,
    /// UIDNEXT.
    pub(crate) uid_next: Option<u32>,
    /// UIDVALIDITY.
    pub(crate) uid_validity: Option<u32>,
    /// What the server can do, upper case.
    pub(crate) capabilities: Option<Vec<String>>,
}

/// A folder as LIST tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its name on the wire.
    pub(crate) name: String,
    /// What parts the levels of its name; `None`: it has none.
    pub(crate) delimiter: Option<String>,
    /// It can be opened.
    pub(crate) selectable: bool,
    /// What it is for.
    pub(crate) role: Option<FolderRole>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was done.
    Ok,
    /// It was refused.
    No,
    /// It was not understood.
    Bad,
}

/// A server's own words: code and text, fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Words {
    /// Response code in upper case, without its arguments; empty where there is none.
    pub(crate) code: String,
    /// The text, without control characters.
    pub(crate) text: String,
}

/// What one FETCH response says of a mail. Everything may be missing (imap.md P14).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FetchData {
    /// Its UID.
    pub(crate) uid: Option<u32>,
    /// INTERNALDATE as sent.
    pub(crate) internal_date: Option<String>,
    /// The provider's ids.
    pub(crate) provider_ids: Vec<ProviderId>,
    /// Its first octets.
    pub(crate) prefix: Option<Vec<u8>>,
    /// Its header.
    pub(crate) header: Option<Vec<u8>>,
}

/// Why a command brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImapError {
    /// Refused; the session lives.
    #[error("the server refused: {0}")]
    No(Words),
    /// Not understood; the session lives.
    #[error("the server did not understand: {0}")]
    Bad(Words),
    /// The server said good-bye.
    #[error("the server ended the session: {0}")]
    Bye(Words),
    /// The line ended without a word.
    #[error("the server closed the connection")]
    Eof,
    /// Nothing came for too long.
    #[error("the server did not answer in time")]
    Timeout,
    /// Reading or writing failed.
    #[error("the connection broke: {0}")]
    Io(String),
    /// The server broke a limit.
    #[error("the server sent {0}")]
    Guard(Violation),
    /// An earlier command was left unfinished: what comes next would be its answer (imap.md P15).
    #[error("the session was left in the middle of a command")]
    Unfinished,
}

impl ImapError {
    /// The session can still be used.
    pub(crate) fn session_lives(&self) -> bool {
        matches!(self, Self::No(_) | Self::Bad(_))
    }

    /// The server's own words, where it said any.
    pub(crate) fn words(&self) -> Option<&Words> {
        match self {
            Self::No(words) | Self::Bad(words) | Self::Bye(words) => Some(words),
            _ => None,
        }
    }
}

impl Words {
    fn of(outcome: &Outcome<'_>) -> Self {
        let information = outcome.information.as_deref().unwrap_or_default();
        let known = match &outcome.code {
            Some(ResponseCode::Alert) => "ALERT",
            Some(ResponseCode::TryCreate) => "TRYCREATE",
            Some(ResponseCode::Parse) => "PARSE",
            _ => "",
        };
        // The parser leaves a code it does not know in the text.
        let (code, text) = match information.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((code, text)) if outcome.code.is_none() => (code.split(' ').next().unwrap_or_default(), text),
            _ => (known, information),
        };
        Self { code: clean(code).to_ascii_uppercase(), text: clean(text) }
    }

    /// Whether a refusal without a code is about how much is going on rather than about a password. Cyrus has no code
    /// for it ("Too many open connections (2 of 2 for ada)").
    pub(crate) fn is_about_load(&self) -> bool {
        let text = self.text.to_ascii_lowercase();
        let signs =
            ["too many", "connections", "try again", "temporar", "rate limit", "unavailable", "overload", "busy"];
        self.code.is_empty() && signs.iter().any(|sign| text.contains(sign))
    }

    /// How long the server asks to wait (Microsoft 365 writes "Suggested Backoff Time: 92415 milliseconds").
    pub(crate) fn suggested_wait(&self) -> Option<Duration> {
        let rest = self.text.split_once("Backoff Time: ")?.1;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let wait = Duration::from_millis(digits.parse().ok()?);
        Some(wait.min(SUGGESTED_WAIT_MAX))
    }
}

impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code.is_empty(), self.text.is_empty()) {
            (true, true) => f.write_str("without a reason"),
            (true, false) => write!(f, "\"{}\"", self.text),
            (false, true) => write!(f, "[{}]", self.code),
            (false, false) => write!(f, "\"[{}] {}\"", self.code, self.text),
        }
    }
}

/// A text of the server without control characters, cut to what is shown.
pub(crate) fn clean(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(WORDS_CHARS_MAX).collect()
}

impl Reply {
    /// From what the parser found; `raw` begins with the octets it was found in.
    pub(crate) fn of(response: &Response<'_>, raw: &[u8]) -> Self {
        match response {
            Response::Done { tag, status, outcome } => {
                let ended = match status {
                    Status::Ok | Status::PreAuth => Ended::Ok,
                    Status::No => Ended::No,
                    Status::Bad | Status::Bye => Ended::Bad,
                };
                Self::Done { tag: tag.0.clone(), ended, words: Words::of(outcome) }
            }
            Response::Continue(_) => Self::Continue,
            Response::Data { status: Status::Bye, outcome } => Self::Bye(Words::of(outcome)),
            Response::Capabilities(list) => Self::Capabilities(capabilities(list)),
            Response::Data { status, outcome } => Self::Note(Note::of(status, outcome)),
            Response::Expunge(place) => Self::Expunged(*place),
            Response::Vanished { earlier: false, uids } => {
                let count = uids.iter().map(|range| range.end().saturating_sub(*range.start()).saturating_add(1));
                Self::Vanished(count.fold(0, u32::saturating_add))
            }
            Response::Fetch(_, attributes) => Self::Fetch(FetchData::of(attributes, raw)),
            Response::MailboxData(datum) => Self::of_folder(datum),
            _ => Self::Other,
        }
    }

    fn of_folder(datum: &MailboxDatum<'_>) -> Self {
        match datum {
            MailboxDatum::Exists(count) => Self::Exists(*count),
            MailboxDatum::Search(uids) => Self::Search(uids.clone()),
            MailboxDatum::List(list) => {
                let unquoted = |text: &str| text.replace("\\\"", "\"").replace("\\\\", "\\");
                let name = unquoted(&list.name);
                // The one name that is never case-sensitive (RFC 3501 section 5.1).
                let inbox = name.eq_ignore_ascii_case("INBOX").then_some(FolderRole::Inbox);
                Self::List(Listed {
                    role: inbox.or_else(|| list.name_attributes.iter().find_map(role)),
                    selectable: !list.name_attributes.iter().any(is_closed),
                    delimiter: list.delimiter.as_deref().map(unquoted).filter(|text| !text.is_empty()),
                    name,
                })
            }
            MailboxDatum::Status { status, .. } => Self::Status {
                messages: status
                    .iter()
                    .find_map(|s| if let StatusAttribute::Messages(n) = s { Some(*n) } else { None }),
                uid_next: status.iter().find_map(|s| if let StatusAttribute::UidNext(n) = s { Some(*n) } else { None }),
                uid_validity: status
                    .iter()
                    .find_map(|s| if let StatusAttribute::UidValidity(n) = s { Some(*n) } else { None }),
            },
            _ => Self::Other,
        }
    }
}

fn role(attribute: &NameAttribute<'_>) -> Option<FolderRole> {
    Some(match attribute {
        NameAttribute::Junk => FolderRole::Junk,
        NameAttribute::Sent => FolderRole::Sent,
        NameAttribute::Drafts => FolderRole::Drafts,
        NameAttribute::Trash => FolderRole::Trash,
        NameAttribute::Archive => FolderRole::Archive,
        NameAttribute::All => FolderRole::All,
        NameAttribute::Flagged => FolderRole::Flagged,
        _ => return None,
    })
}

/// Only a level of the names of others (`\NonExistent`: RFC 5258 section 3).
fn is_closed(attribute: &NameAttribute<'_>) -> bool {
    match attribute {
        NameAttribute::NoSelect => true,
        NameAttribute::Extension(word) => word.eq_ignore_ascii_case("\\NonExistent"),
        _ => false,
    }
}

impl Note {
    fn of(status: &Status, outcome: &Outcome<'_>) -> Self {
        let mut note = Self { preauth: *status == Status::PreAuth, words: Words::of(outcome), ..Self::default() };
        match &outcome.code {
            Some(ResponseCode::UidNext(number)) => note.uid_next = Some(*number),
            Some(ResponseCode::UidValidity(number)) => note.uid_validity = Some(*number),
            Some(ResponseCode::Capabilities(list)) => note.capabilities = Some(capabilities(list)),
            _ => {}
        }
        note
    }
}

fn capabilities(list: &[Capability<'_>]) -> Vec<String> {
    list.iter().map(capability).collect()
}

fn capability(capability: &Capability<'_>) -> String {
    match capability {
        Capability::Imap4rev1 => "IMAP4REV1".to_owned(),
        Capability::Auth(mechanism) => format!("AUTH={}", mechanism.to_ascii_uppercase()),
        Capability::Atom(atom) => atom.to_ascii_uppercase(),
    }
}

impl FetchData {
    fn of(attributes: &[AttributeValue<'_>], raw: &[u8]) -> Self {
        let mut data = Self::default();
        let (mut gmail, mut emailid) = (None, None);
        for attribute in attributes {
            match attribute {
                AttributeValue::Uid(uid) => data.uid = Some(*uid),
                AttributeValue::InternalDate(date) => data.internal_date = Some(date.clone().into_owned()),
                AttributeValue::GmailMsgId(id) => gmail = Some(ProviderId::new("gmail", id.to_string())),
                AttributeValue::EmailId(id) => emailid = Some(ProviderId::new("emailid", id.clone().into_owned())),
                AttributeValue::BodySection { section: None, data: Some(octets), .. } => {
                    data.prefix = Some(octets.clone().into_owned());
                }
                AttributeValue::BodySection { section: Some(SectionPath::Full(_)), data: Some(octets), .. } => {
                    data.header = Some(octets.clone().into_owned());
                }
                _ => {}
            }
        }
        data.provider_ids.extend([gmail, emailid, guid(raw)].into_iter().flatten());
        data
    }
}

/// Dovecot's X-GUID, which the parser drops: looked for before the mail's own octets begin (imap.md P14).
fn guid(raw: &[u8]) -> Option<ProviderId> {
    const NAME: &[u8] = b"X-GUID ";
    let own = raw.iter().position(|byte| matches!(byte, b'[' | b'\r' | 0)).unwrap_or(raw.len());
    let head = raw.get(..own)?;
    let at = head.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
    let rest = std::str::from_utf8(head.get(at + NAME.len()..)?).ok()?;
    let value = rest.split([' ', ')']).next()?.trim_matches('"');
    ProviderId::parse(&format!("guid:{value}")).filter(|_| value != "NIL")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(line: &str) -> Reply {
        let (_, response) = Response::parse(line.as_bytes()).unwrap();
        Reply::of(&response, line.as_bytes())
    }

    #[test]
    fn words_have_a_code_and_no_control_characters() {
        let case = |line: &str, code: &str, text: &str| {
            let (Reply::Done { words, .. } | Reply::Note(Note { words, .. }) | Reply::Bye(words)) = reply(line) else {
                panic!("{line}")
            };
            assert_eq!((words.code.as_str(), words.text.as_str()), (code, text), "{line}");
        };
        case("a NO [AUTHENTICATIONFAILED] Wrong\x07 one\r\n", "AUTHENTICATIONFAILED", "Wrong one");
        case("a NO [ALERT] Too many\r\n", "ALERT", "Too many");
        case("a BAD\r\n", "", "");
        case("* BYE [UNAVAILABLE] later\r\n", "UNAVAILABLE", "later");
        case("a NO [SOMETHING else 5] x\r\n", "SOMETHING", "x");
    }

    #[test]
    fn a_wait_the_server_asks_for_is_read_and_capped() {
        let case = |text: &str, wait: Option<u64>| {
            let words = Words { code: String::new(), text: text.to_owned() };
            assert_eq!(words.suggested_wait().map(|wait| wait.as_millis() as u64), wait, "{text}");
        };
        case("Request is throttled. Suggested Backoff Time: 92415 milliseconds", Some(92_415));
        case("Suggested Backoff Time: 999999999 milliseconds", Some(300_000));
        case("Suggested Backoff Time: soon", None);
        case("no", None);
    }

    #[test]
    fn ids_come_best_first_and_the_guid_only_from_before_the_text() {
        let case = |line: &str, ids: &str| {
            let Reply::Fetch(data) = reply(line) else { panic!("{line}") };
            let got: Vec<String> = data.provider_ids.iter().map(ToString::to_string).collect();
            assert_eq!(got.join(" "), ids, "{line}");
        };
        case("* 1 FETCH (UID 7 X-GUID abc BODY[]<0> {3}\r\nabc)\r\n", "guid:abc");
        case("* 1 FETCH (X-GUID \"a b\" UID 7)\r\n", "guid:a");
        case("* 1 FETCH (X-GUID NIL UID 7)\r\n", "");
        case("* 1 FETCH (UID 7 EMAILID (M1) X-GM-MSGID 12345678901234)\r\n", "gmail:12345678901234 emailid:M1");
        case("* 1 FETCH (UID 7 BODY[]<0> {10}\r\nX-GUID abc)\r\n", "");
    }

    #[test]
    fn a_fetch_without_uid_or_with_odd_parts_is_still_a_fetch() {
        let case = |line: &str, uid: Option<u32>, prefix: Option<&str>| {
            let Reply::Fetch(data) = reply(line) else { panic!("{line}") };
            assert_eq!((data.uid, data.prefix.as_deref()), (uid, prefix.map(str::as_bytes)), "{line}");
        };
        case("* 1 FETCH (UID 99999999999 BODY[] {1}\r\nx)\r\n", None, Some("x"));
        case("* 1 FETCH (FLAGS (\\Seen))\r\n", None, None);
        case("* 1 FETCH (UID 5 BODY[]<0> NIL)\r\n", Some(5), None);
        case("* 1 FETCH (UID 5 SAVEDATE \"x\" BODY[] \"y\")\r\n", Some(5), Some("y"));
    }
}
