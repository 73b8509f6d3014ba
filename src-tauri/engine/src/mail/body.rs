//! The text of a mail: canonical for identity, one line for people.

use super::header::Header;
use super::parts::{Kind, Parts};
use super::{preview, words};
use crate::identity::keys::sha256_hex;
use crate::limits::CANONICAL_BODY_BYTES_MAX;
use crate::model::message::BodyFacts;

/// The first text/plain part that is not an attachment, else the first text/html one, else nothing.
pub(super) fn read(data: &[u8], header: &Header<'_>, cut: bool) -> BodyFacts {
    let mut parts = Parts::of(data, header, cut);
    let mut html = None;
    let mut plain = None;
    for part in parts.by_ref() {
        match part.kind {
            Kind::Plain => {
                plain = Some(canonical(&part.text()));
                break;
            }
            Kind::Html if html.is_none() => html = Some(part),
            Kind::Html | Kind::Other => {}
        }
    }
    let html = |parts: &mut Parts<'_>| {
        html.or_else(|| parts.find(|part| part.kind == Kind::Html)).map(|part| canonical(&part.text()))
    };
    match plain {
        Some(text) => {
            let mut shown = preview::of_plain(&text);
            // Some senders put a blank text beside the real one.
            if shown.is_empty() {
                shown = html(&mut parts).map(|html| preview::of_html(&html)).unwrap_or_default();
            }
            facts(&text, shown)
        }
        None => {
            let text = html(&mut parts).unwrap_or_default();
            facts(&text, preview::of_html(&text))
        }
    }
}

/// For a mail whose parts cannot be read: all that follows its header stands for its text, so that two such mails
/// are two.
pub(super) fn unread(data: &[u8], header: &Header<'_>) -> BodyFacts {
    let rest = data.get(header.end..).unwrap_or_default();
    facts(&canonical(&String::from_utf8_lossy(rest)), String::new())
}

fn facts(canonical: &str, preview: String) -> BodyFacts {
    BodyFacts { sha256: sha256_hex(canonical.as_bytes()), preview }
}

/// Line ends LF, blanks at line ends and empty lines at the end off, NFC, at most
/// `limits::CANONICAL_BODY_BYTES_MAX` bytes.
fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut line_ends = 0;
    let lines = text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'));
    for line in lines {
        let line = line.trim_end_matches([' ', '\t']);
        if !line.is_empty() {
            out.extend(std::iter::repeat_n('\n', line_ends));
            line_ends = 0;
            out.push_str(line);
        }
        line_ends += 1;
    }
    let mut out = words::nfc(out.into()).into_owned();
    out.truncate(out.floor_char_boundary(CANONICAL_BODY_BYTES_MAX.min(out.len())));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mail: &str, expected: &str) {
        let raw = mail.replace('\n', "\r\n");
        let header = Header::read(raw.as_bytes(), false, |_| false);
        let found = read(raw.as_bytes(), &header, false);
        assert_eq!(found.sha256, sha256_hex(expected.as_bytes()), "expected {expected:?} as text of {mail:?}");
    }

    #[test]
    fn canonical_text() {
        let table = [
            ("", ""),
            ("Hello", "Hello"),
            ("Hello  \t\r\n\r\n \r\n", "Hello"),
            ("\r\n\r\na\r\n", "\n\na"),
            ("a\rb\r\rc\r\n", "a\nb\n\nc"),
            ("a \rb", "a\nb"),
            ("a\u{a0}\r\nb\u{2003}", "a\u{a0}\nb\u{2003}"),
            ("a\u{85}b\u{c}\u{2028}", "a\u{85}b\u{c}\u{2028}"),
            (" \t a", " \t a"),
            ("e\u{301}", "é"),
            ("\0", "\0"),
        ];
        for (text, expected) in table {
            assert_eq!(canonical(text), expected, "{text:?}");
        }
        let long = "é".repeat(40_000);
        assert_eq!(canonical(&long).len(), CANONICAL_BODY_BYTES_MAX, "cut");
        let odd = format!("x{long}");
        assert_eq!(canonical(&odd).len(), CANONICAL_BODY_BYTES_MAX - 1, "cut at a character");
    }

    #[test]
    fn one_part() {
        check("Subject: a\n\nHello\n", "Hello");
        check("Subject: a\n\n", "");
        check("Subject: a\n", "");
        check("", "");
        check("\nHello", "Hello");
        check("Content-Type: garbage\n\nHello", "Hello");
        check("Content-Type: text\n\nHello", "Hello");
        check("Content-Type: text/plain/x\n\nHello", "Hello");
        check("Content-Type:\n\nHello", "Hello");
        check("Content-Type: TEXT/Plain; Charset = \"utf-8\"\n\nHello", "Hello");
        check("Content-Type: text/plain (what) ; charset= \"utf-8 \"\n\nН", "Н");
        check("Content-Type: text/html\n\n<p>a&nbsp;b</p>\n", "<p>a&nbsp;b</p>");
        check("Content-Type: application/pdf\n\nHello", "");
        check("Content-Type: text/calendar\n\nHello", "");
        check("Content-Disposition: attachment\n\nHello", "");
        check("Content-Disposition: inline; filename=a.txt\n\nHello", "Hello");
        check("Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a\n", "begin 644 a");
        check("Content-Type: multipart/mixed\n\n--b\n\nHello\n--b--\n", "");
        check("Content-Type: multipart/mixed; boundary=x\n\n--b\n\nHello\n--b--\n", "");
        check("Content-Type: text/plain\nContent-Type: text/html; charset=x\n\nHello", "Hello");
    }

    fn multipart(kind: &str, inner: &str) -> String {
        format!("Content-Type: multipart/{kind}; boundary=\"b 1\"\n\npreamble\n{inner}")
    }

    #[test]
    fn several_parts() {
        let mixed = |inner: &str| multipart("mixed", inner);
        check(&mixed("--b 1\n\none\n--b 1\n\ntwo\n--b 1--\nepilogue\n"), "one");
        check(&mixed("--b 1  \n\none\n\n--b 1-- \n"), "one");
        check(&mixed("--b 1\n\nno end\n"), "no end");
        check(&mixed("--b 1\n\nx --b 1\n--b 12\n--b\n --b 1\n--b 1--\n"), "x --b 1\n--b 12\n--b\n --b 1");
        check(&mixed("--b 1\nContent-Type: text/html\n\n<p>\n--b 1\n\nplain\n--b 1--\n"), "plain");
        check(&mixed("--b 1\nContent-Type: text/html\n\n<1>\n--b 1\nContent-Type: text/html\n\n<2>\n--b 1--\n"), "<1>");
        check(&mixed("--b 1\n\n\n--b 1\nContent-Type: text/html\n\n<p>\n--b 1--\n"), "");
        check(&mixed("--b 1\nContent-Disposition: ATTACHMENT; filename=x\n\nfile\n--b 1\n\ntext\n--b 1--\n"), "text");
        check(&mixed("--b 1\nContent-Type: text/plain; name=x.txt\n\nnamed\n--b 1--\n"), "named");
        check(&mixed("--b 1--\n\n--b 1\n\nafter the end\n"), "");
        check(&mixed("--b 1\nX: no empty line\n--b 1\n\ntext\n--b 1--\n"), "");
        check(&mixed("--b 1\n--b 1\n\ntext\n--b 1--\n"), "");
    }

    #[test]
    fn parts_inside_parts() {
        let mixed = |inner: &str| multipart("mixed", inner);
        let alternative =
            "--b 1\nContent-Type: multipart/alternative; boundary=b2\n\n--b2\nContent-Type: text/html\n\n<p>\n";
        check(&mixed(&format!("{alternative}--b2\n\ntext\n--b2--\n--b 1\n\nlast\n--b 1--\n")), "text");
        check(&mixed(&format!("{alternative}--b 1\n\nafter a missing end\n--b 1--\n")), "after a missing end");
        check(&mixed(&format!("{alternative}--b2--\n--b2\n\nepilogue\n--b 1--\n")), "<p>");
        check(&mixed("--b 1\nContent-Type: message/rfc822\n\nSubject: x\n\ninner\n--b 1\n\nouter\n--b 1--\n"), "outer");
        let prefix =
            "--b 1\nContent-Type: multipart/related; boundary=\"b 1-2\"\n\n--b 1-2\n\ninner\n--b 1-2--\n--b 1--\n";
        check(&mixed(prefix), "inner");
        check(&multipart("digest", "--b 1\n\nSubject: x\n\nenclosed\n--b 1--\n"), "");
        check(&multipart("digest", "--b 1\nContent-Type: text/plain\n\ntext\n--b 1--\n"), "text");
    }
}
