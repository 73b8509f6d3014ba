//! What the body of a webhook says of a mail.

use serde::Deserialize;

use crate::mail::{self, Completeness};
use crate::model::message::MailFacts;
use crate::model::sighting::ProviderId;

/// The two forms a body may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The mail itself, `message/rfc822`.
    Mail,
    /// Values of it, `application/json`.
    Notice,
}

impl Form {
    pub(super) fn of_content_type(value: &str) -> Option<Self> {
        match value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "message/rfc822" => Some(Self::Mail),
            "application/json" => Some(Self::Notice),
            _ => None,
        }
    }
}

/// `{message_id, provider_id?, from?, subject?, date?}`; what else stands there is left alone.
#[derive(Deserialize)]
struct Notice {
    message_id: Option<String>,
    provider_id: Option<String>,
    from: Option<String>,
    subject: Option<String>,
    date: Option<String>,
}

/// The facts and ids in a body. The error says in words what is wrong with it, without repeating any of it.
pub(super) fn read(form: Form, body: &[u8]) -> Result<(MailFacts, Vec<ProviderId>), String> {
    match form {
        Form::Mail => {
            let facts = mail::read(body, Completeness::Mail);
            let says_nothing = facts.message_id.is_none()
                && facts.from_address.is_none()
                && facts.subject.is_none()
                && facts.sent_at.is_none();
            if says_nothing { Err("This is not a mail: it has no header".to_owned()) } else { Ok((facts, Vec::new())) }
        }
        Form::Notice => of_notice(body),
    }
}

fn of_notice(body: &[u8]) -> Result<(MailFacts, Vec<ProviderId>), String> {
    let notice: Notice = serde_json::from_slice(body).map_err(|error| {
        format!("This is not the JSON of a notice (line {}, column {})", error.line(), error.column())
    })?;
    let provider_id = match notice.provider_id.as_deref().filter(|text| !text.is_empty()) {
        None => None,
        Some(text) => Some(ProviderId::parse(text).ok_or("The provider_id is not KIND:VALUE")?),
    };
    let facts = mail::from_values(
        notice.message_id.as_deref(),
        notice.from.as_deref(),
        notice.subject.as_deref(),
        notice.date.as_deref(),
    );
    if facts.message_id.is_none() && provider_id.is_none() {
        return Err("There is neither a usable message_id nor a provider_id".to_owned());
    }
    Ok((facts, provider_id.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_told_apart() {
        let check = |value: &str, expected: Option<Form>| assert_eq!(Form::of_content_type(value), expected, "{value}");
        check("message/rfc822", Some(Form::Mail));
        check("Message/RFC822; charset=utf-8", Some(Form::Mail));
        check("application/json;charset=utf-8", Some(Form::Notice));
        check("text/plain", None);
        check("application/jsonp", None);
        check("", None);
    }

    #[test]
    fn a_notice_names_a_mail() {
        let (facts, ids) = read(
            Form::Notice,
            br#"{"message_id":"<A@Example.COM>","provider_id":"gmail:17","from":"Anna <Anna@example.com>",
                 "subject":"=?utf-8?q?H=C3=A4llo?=","date":"2026-01-02T03:04:05+01:00","more":[1]}"#,
        )
        .unwrap();
        assert_eq!(facts.message_id.as_deref(), Some("A@example.com"));
        assert_eq!(facts.from_address.as_deref(), Some("anna@example.com"));
        assert_eq!(facts.subject.as_deref(), Some("Hällo"));
        assert_eq!(facts.sent_at.map(|sent| sent.text).as_deref(), Some("2026-01-02T02:04:05Z"));
        assert_eq!(ids, [ProviderId::new("gmail", "17")]);
        let (facts, ids) = read(Form::Notice, br#"{"message_id":"<a@b>","subject":null}"#).unwrap();
        assert!(facts.is_headerless() && ids.is_empty(), "only its name is known: {facts:?}");
        let (facts, ids) = read(Form::Notice, br#"{"provider_id":"emailid:M1"}"#).unwrap();
        assert!(facts.message_id.is_none() && ids.len() == 1);
    }

    #[test]
    fn what_cannot_be_read_is_told_without_repeating_it() {
        let check = |form: Form, body: &[u8], words: &str| {
            let error = read(form, body).expect_err("must be refused");
            assert!(error.contains(words) && !error.contains("hidden"), "{error}");
        };
        check(Form::Notice, b"", "not the JSON");
        check(Form::Notice, b"[]", "not the JSON");
        check(Form::Notice, br#"{"message_id":17}"#, "not the JSON");
        check(Form::Notice, br#"{"message_id":"<a@b>","subject":"#, "not the JSON");
        check(Form::Notice, br#"{}"#, "neither");
        check(Form::Notice, br#"{"message_id":"hidden"}"#, "neither");
        check(Form::Notice, br#"{"message_id":"<a@b>","provider_id":"hidden"}"#, "KIND:VALUE");
        check(Form::Mail, b"", "not a mail");
        check(Form::Mail, b"\r\n\r\nhidden", "not a mail");
        check(Form::Mail, &[0, 255, 1, 254, 13], "not a mail");
    }

    #[test]
    fn a_mail_is_read_with_its_body() {
        let (facts, ids) = read(Form::Mail, b"Message-ID: <x@y>\r\nSubject: Hi\r\n\r\nText\r\n").unwrap();
        assert_eq!((facts.message_id.as_deref(), facts.subject.as_deref()), (Some("x@y"), Some("Hi")));
        assert!(facts.body.is_some() && ids.is_empty());
    }
}
