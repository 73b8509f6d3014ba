//! Mail: octets to facts. The only user of mail-parser, and the only place that knows what a mail looks like.
//!
//! What goes into identity is read exactly as that is defined, by own code over raw fields and parts; the library
//! helps with MIME parameters and HTML. Whatever the octets are, reading ends, in time that grows with
//! their number, and gives the same facts for the same octets.

mod address;
mod body;
mod date;
mod decoding;
pub mod fold;
mod header;
mod message_id;
mod parts;
mod prefix;
mod preview;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use self::header::Header;
use crate::limits::RECIPIENTS_MAX;
use crate::model::message::{BodyFacts, MailFacts};

/// What the octets are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// A mail from its beginning on, or as much of it as was fetched.
    Mail,
    /// Only the header of one: nothing is known of its body.
    Header,
}

/// Reads a mail. Line ends may be CRLF, LF or CR; only what counts for identity is looked at
/// (`limits::IDENTITY_PREFIX_BYTES`), however long it is. Never fails and never panics: what cannot be read is missing.
#[must_use]
pub fn read(raw: &[u8], completeness: Completeness) -> MailFacts {
    let prefix = prefix::of(raw);
    // Some exporters put a byte order mark before the first field.
    let data = prefix.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&prefix.bytes);
    let header = Header::read(data, prefix.cut, |_| false);
    let mut facts = unless_it_panics(|| facts_of(&header)).unwrap_or_default();
    // Where the header fills all that is looked at nothing is known of the body: two such mails are not one.
    let body_begins = !prefix.cut || header.end < data.len();
    if completeness == Completeness::Mail && body_begins {
        facts.body = Some(body_of(data, &header, |data, header| body::read(data, header, prefix.cut)));
    }
    facts
}

/// Facts from single values, as a notice of a provider gives them: as in the header, raw or decoded; `date` also as
/// RFC 3339. An empty value is none.
#[must_use]
pub fn from_values(
    message_id: Option<&str>,
    from: Option<&str>,
    subject: Option<&str>,
    date: Option<&str>,
) -> MailFacts {
    let message_id = message_id.and_then(|value| message_id::message_id(&header::unfold(value)));
    let sent_at = date.and_then(|value| date::sent_at_any(&header::unfold(value)));
    let facts = MailFacts { message_id, sent_at, ..MailFacts::default() };
    with_people_and_subject(facts, from.map(header::unfold), subject.map(header::unfold))
}

fn facts_of(header: &Header<'_>) -> MailFacts {
    let message_id = header.message_id.and_then(|value| message_id::message_id(&header::text(value)));
    let sent_at = header.date.and_then(|value| date::sent_at(&header::text(value)));
    let list_id = header.list_id.and_then(|value| message_id::list_id(&header::text(value)));
    let mut to = Vec::new();
    for value in [header.to, header.cc].into_iter().flatten() {
        let value = header::text(value);
        let room = RECIPIENTS_MAX - to.len();
        to.extend(address::List::new(&value).map(|found| found.address).filter(|found| found.contains('@')).take(room));
    }
    let facts = MailFacts { message_id, sent_at, list_id, to, ..MailFacts::default() };
    with_people_and_subject(facts, header.from.map(header::text), header.subject.map(header::text))
}

fn with_people_and_subject(facts: MailFacts, from: Option<Cow<'_, str>>, subject: Option<Cow<'_, str>>) -> MailFacts {
    let author = from.map(|value| address::first(&value)).unwrap_or_default();
    let subject = subject.map(|value| words::one_line(&value));
    MailFacts {
        from_address: Some(author.address).filter(|address| !address.is_empty()),
        from_name: author.name,
        subject: subject.filter(|subject| !subject.is_empty()),
        ..facts
    }
}

/// The text by `read`, and where that panics, of what follows the header.
fn body_of(data: &[u8], header: &Header<'_>, read: impl Fn(&[u8], &Header<'_>) -> BodyFacts) -> BodyFacts {
    unless_it_panics(|| read(data, header)).unwrap_or_else(|| body::unread(data, header))
}

/// A mail that makes a parser panic is still a mail that arrived.
fn unless_it_panics<T>(read: impl FnOnce() -> T) -> Option<T> {
    // What `read` borrows is not changed by it, so nothing can be left half done.
    catch_unwind(AssertUnwindSafe(read)).inspect_err(|_| tracing::warn!("A mail made the parser panic")).ok()
}
