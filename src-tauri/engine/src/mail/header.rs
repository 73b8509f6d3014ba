//! The header of a mail or of one of its parts, split into the few fields that are needed.

use std::borrow::Cow;

/// The first field of each needed name, with its folds, and where the header ends.
#[derive(Default)]
pub(super) struct Header<'a> {
    pub(super) message_id: Option<&'a [u8]>,
    pub(super) from: Option<&'a [u8]>,
    pub(super) to: Option<&'a [u8]>,
    pub(super) cc: Option<&'a [u8]>,
    pub(super) subject: Option<&'a [u8]>,
    pub(super) date: Option<&'a [u8]>,
    pub(super) list_id: Option<&'a [u8]>,
    pub(super) content_type: Option<&'a [u8]>,
    pub(super) content_disposition: Option<&'a [u8]>,
    pub(super) content_transfer_encoding: Option<&'a [u8]>,
    /// Offset of the first octet that is not of the header.
    pub(super) end: usize,
}

impl<'a> Header<'a> {
    /// Reads a header. It ends after the first empty line, or before a line that is neither a field nor a fold of one
    /// (the empty line is missing) or for which `ends` is true. `cut`: the data may break off anywhere; a field
    /// that does is dropped.
    pub(super) fn read(data: &'a [u8], cut: bool, ends: impl Fn(&[u8]) -> bool) -> Self {
        let mut header = Self::default();
        let mut open: Option<(&[u8], usize)> = None;
        let mut at = 0;
        for line in data.split_inclusive(|&octet| octet == b'\n') {
            let content = without_line_end(line);
            let is_fold = content.first().is_some_and(|&first| first == b' ' || first == b'\t');
            if cut && !line.ends_with(b"\n") {
                // Of recipients the first are enough, and they are not part of any identity.
                let whole = open.take().filter(|(name, _)| !is_fold || name.len() == 2);
                header.close(data, whole, at);
                at = data.len();
                break;
            }
            if content.is_empty() {
                header.close(data, open.take(), at);
                at += line.len();
                break;
            }
            if !is_fold {
                header.close(data, open.take(), at);
                if ends(content) {
                    break;
                }
                match field_name(content) {
                    Some((name, value)) => open = Some((name, at + value)),
                    // A mailbox file's separator, left by a careless exporter.
                    None if at == 0 && (content.starts_with(b"From ") || content.starts_with(b">From ")) => {}
                    None => break,
                }
            }
            at += line.len();
        }
        header.close(data, open, at);
        header.end = at;
        header
    }

    /// Of a repeated field the first counts.
    fn close(&mut self, data: &'a [u8], open: Option<(&[u8], usize)>, end: usize) {
        let Some((name, start)) = open else { return };
        if let Some(slot) = self.slot(name)
            && slot.is_none()
        {
            *slot = data.get(start..end);
        }
    }

    fn slot(&mut self, name: &[u8]) -> Option<&mut Option<&'a [u8]>> {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        match name.len() {
            2 if is("to") => Some(&mut self.to),
            2 if is("cc") => Some(&mut self.cc),
            4 if is("from") => Some(&mut self.from),
            4 if is("date") => Some(&mut self.date),
            7 if is("subject") => Some(&mut self.subject),
            7 if is("list-id") => Some(&mut self.list_id),
            10 if is("message-id") => Some(&mut self.message_id),
            12 if is("content-type") => Some(&mut self.content_type),
            19 if is("content-disposition") => Some(&mut self.content_disposition),
            25 if is("content-transfer-encoding") => Some(&mut self.content_transfer_encoding),
            _ => None,
        }
    }
}

/// A value as text: UTF-8 where that is valid, else Latin-1; unfolded.
pub(super) fn text(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(text) => unfold(text),
        Err(_) => {
            let latin1: String = value.iter().copied().map(char::from).collect();
            Cow::Owned(unfold(&latin1).into_owned())
        }
    }
}

/// Takes line ends out (RFC 5322 §2.2.3); where one is not followed by white space, as may be in a value that did
/// not come from a header, a space takes its place.
pub(super) fn unfold(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_matches(['\r', '\n']);
    if !trimmed.contains(['\r', '\n']) {
        return Cow::Borrowed(trimmed);
    }
    let mut out = String::with_capacity(trimmed.len());
    for line in trimmed.split(['\r', '\n']).filter(|line| !line.is_empty()) {
        if !out.is_empty() && !line.starts_with([' ', '\t']) {
            out.push(' ');
        }
        out.push_str(line);
    }
    Cow::Owned(out)
}

/// A line without its CRLF (or the CR left of one at the cut).
pub(super) fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The name, without the blanks RFC 5322 §4.5 allows before the colon, and where the value begins.
fn field_name(line: &[u8]) -> Option<(&[u8], usize)> {
    let colon = line.iter().position(|&octet| octet == b':')?;
    let name = line.get(..colon)?.trim_ascii_end();
    name.iter().all(u8::is_ascii_graphic).then_some((name, colon + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data: &str, subject: Option<&str>, rest: &str) {
        let header = Header::read(data.as_bytes(), false, |line| line == b"--b");
        let found = header.subject.map(|value| text(value).trim().to_owned());
        assert_eq!(found.as_deref(), subject, "subject of {data:?}");
        assert_eq!(data.get(header.end..), Some(rest), "what follows the header of {data:?}");
    }

    #[test]
    fn fields_folds_and_ends() {
        check("", None, "");
        check("\r\nbody", None, "body");
        check("Subject: a\r\n\r\nbody", Some("a"), "body");
        check("Subject: a", Some("a"), "");
        check("SUBJECT : a\r\n b\r\n\tc\r\nTo: x\r\n\r\n", Some("a b\tc"), "");
        check("Subject:\r\n a\r\n \r\n b\r\n\r\nbody", Some("a  b"), "body");
        check("Subject: first\r\nSubject: second\r\n\r\n", Some("first"), "");
        check("Subject:\r\nSubject: second\r\n\r\n", Some(""), "");
        check(" fold of nothing\r\nSubject: a\r\n\r\n", Some("a"), "");
        check("From a@b Tue Dec  1 10:00:00 2026\r\nSubject: a\r\n\r\n", Some("a"), "");
        check("Subject: a\r\nno field\r\nSubject: b\r\n", Some("a"), "no field\r\nSubject: b\r\n");
        check("Subject: a\r\n--b\r\nX: y\r\n", Some("a"), "--b\r\nX: y\r\n");
        check("X-Subject: a\r\nSubjec: b\r\n: c\r\n\r\n", None, "");
    }

    #[test]
    fn a_field_broken_at_the_cut_is_dropped() {
        for data in
            ["Subject: a\r\nFrom: b@c", "Subject: a\r\nFrom: b@c\r\n d", "Subject: a\r\nFro", "Subject: a\r\nX: y\r"]
        {
            let header = Header::read(data.as_bytes(), true, |_| false);
            assert!(header.subject.is_some(), "whole fields stay: {data:?}");
            assert!(header.from.is_none(), "the broken field is dropped: {data:?}");
            assert_eq!(header.end, data.len(), "nothing of it becomes body: {data:?}");
        }
        let header = Header::read(b"To: a@b,\r\n c@d,\r\n e@", true, |_| false);
        assert_eq!(header.to, Some(&b" a@b,\r\n c@d,\r\n"[..]), "of many recipients the whole ones stay");
    }

    #[test]
    fn octets_are_utf8_or_latin1() {
        assert_eq!(text("Счёт".as_bytes()), "Счёт");
        assert_eq!(text(b"M\xe4rz\r\n \x93"), "M\u{e4}rz \u{93}");
        assert_eq!(unfold("a\nb\r\n c\rd"), "a b c d");
    }
}
