//! The text of a notification, rendered once when it is decided, as the destination's privacy allows.

use crate::decide::digest::{self, Digest};
use crate::identity::keys;
use crate::model::destination::{Destination, Privacy};
use crate::model::ids::OperationKey;
use crate::model::message;
use crate::model::notification::Payload;
use crate::store::table::message::MessageRow;
use crate::words::{self, Language};

/// Scope of keys of messages made by Ringonce itself.
pub const SELF_MAILBOX: &str = message::SELF_MAILBOX;
/// Their author.
pub const SELF_NAME: &str = "Ringonce";

/// What a destination is told of a mail, in the owner's language.
#[must_use]
pub fn render(
    message: &MessageRow,
    operation_key: &OperationKey,
    destination: &Destination,
    language: Language,
) -> Payload {
    let facts = &message.facts;
    let address = for_people(facts.from_address.as_deref()).unwrap_or_default();
    let sender = for_people(facts.from_name.as_deref())
        .or_else(|| Some(address.clone()).filter(|address| !address.is_empty()))
        .unwrap_or_else(|| words::unknown_sender(language).to_owned());
    let subject = for_people(facts.subject.as_deref());
    let preview = facts.body.as_ref().map(|body| body.preview.clone()).filter(|preview| !preview.is_empty());
    let is_self = message.mailbox_id.as_str() == SELF_MAILBOX;
    let (title, body, from, subject) = match destination.privacy {
        privacy if is_self && digest::is_digest(facts.message_id.as_deref().unwrap_or_default()) => {
            let lines = Digest::from_text(&preview.unwrap_or_default());
            let subject = subject.unwrap_or_default();
            let (from, told) = if privacy == Privacy::Full { (address, subject.clone()) } else { Default::default() };
            (subject, lines.body(privacy), from, told)
        }
        Privacy::Full if is_self => {
            (subject.clone().unwrap_or_default(), preview.unwrap_or_default(), address, subject.unwrap_or_default())
        }
        Privacy::Full => {
            let head = subject.clone().unwrap_or_else(|| words::no_subject(language).to_owned());
            let body = preview.map_or_else(|| head.clone(), |preview| format!("{head}\n{preview}"));
            (sender, body, address, subject.unwrap_or_default())
        }
        _ if is_self => (SELF_NAME.to_owned(), words::see_more(language).to_owned(), String::new(), String::new()),
        Privacy::Sender => (sender, words::new_mail(language).to_owned(), address, String::new()),
        Privacy::None => (words::new_mail(language).to_owned(), String::new(), String::new(), String::new()),
    };
    Payload {
        title,
        body,
        from,
        subject,
        mailbox_id: message.mailbox_id.clone(),
        sent_at: facts.sent_at.as_ref().and_then(|sent| sent.at).map(rfc3339).unwrap_or_default(),
        link: String::new(),
        message_key: message.message_key.clone(),
        operation_key: operation_key.clone(),
        dispatch_key: keys::dispatch_key(operation_key, &destination.recipient),
    }
}

/// Without control characters, which some receivers do not survive; `None`: nothing is left.
fn for_people(text: Option<&str>) -> Option<String> {
    let text: String = text?.chars().filter(|c| !c.is_control()).collect();
    Some(text).filter(|text| !text.trim().is_empty())
}

/// An instant as RFC 3339 UTC with milliseconds.
#[must_use]
pub fn rfc3339(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(|_| String::new(), |at| format!("{at:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_left_out_and_nothing_is_no_text() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(for_people(Some(text)).as_deref(), expected);
        check("N\0U\u{80}L\u{1b}", Some("NUL"));
        check("Grüße 🎉", Some("Grüße 🎉"));
        check("\0", None);
        check(" ", None);
        assert_eq!(for_people(None), None);
    }
}
