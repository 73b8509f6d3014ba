//! Transfer encodings and charsets, decoded without ever giving up.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{Encoding, UTF_8};

/// Content-Transfer-Encoding, as far as it changes anything (RFC 2045 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// 7bit, 8bit, binary, and whatever is not known.
    Identity,
    /// base64.
    Base64,
    /// quoted-printable.
    QuotedPrintable,
}

impl Transfer {
    /// From the value of the field.
    pub(super) fn parse(value: &str) -> Self {
        let word = value.trim().split([' ', '\t', ';', '(']).next().unwrap_or_default();
        if word.eq_ignore_ascii_case("base64") {
            Self::Base64
        } else if word.eq_ignore_ascii_case("quoted-printable") {
            Self::QuotedPrintable
        } else {
            Self::Identity
        }
    }

    /// The octets meant. `cut`: the end may be broken.
    pub(super) fn decode(self, bytes: &[u8], cut: bool) -> Cow<'_, [u8]> {
        match self {
            Self::Identity => Cow::Borrowed(bytes),
            Self::Base64 => Cow::Owned(base64(bytes)),
            Self::QuotedPrintable => Cow::Owned(quoted_printable(bytes, cut)),
        }
    }
}

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// Ignores foreign characters, ends at the padding that completes a group (RFC 2045 §6.8), and decodes an
/// incomplete last group as far as it goes.
pub(super) fn base64(bytes: &[u8]) -> Vec<u8> {
    let mut digits = Vec::with_capacity(bytes.len());
    let mut pads = 0;
    for &octet in bytes {
        match octet {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                pads = 0;
                digits.push(octet);
            }
            b'=' => {
                pads += 1;
                let in_group = digits.len() % 4;
                if in_group >= 2 && in_group + pads >= 4 {
                    break;
                }
            }
            _ => {}
        }
    }
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    LENIENT.decode(&digits).unwrap_or_default()
}

/// RFC 2045 §6.7: blanks at the end of a line are transport's, `=` there joins lines, and what is no escape stays.
fn quoted_printable(bytes: &[u8], cut: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&octet| octet == b'\n') {
        let content = super::header::without_line_end(line);
        let ended = content.len() < line.len();
        let mut content = content.trim_ascii_end();
        if cut && !ended {
            content = match content {
                [head @ .., b'=', _] => head,
                whole => whole,
            };
        }
        match content.strip_suffix(b"=") {
            Some(joined) => escapes(joined, &mut out, |octet| octet),
            None => {
                escapes(content, &mut out, |octet| octet);
                if ended {
                    out.extend_from_slice(b"\r\n");
                }
            }
        }
    }
    out
}

/// The Q encoding of RFC 2047 §4.2.
pub(super) fn q_word(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    escapes(bytes, &mut out, |octet| if octet == b'_' { b' ' } else { octet });
    out
}

fn escapes(mut bytes: &[u8], out: &mut Vec<u8>, plain: impl Fn(u8) -> u8) {
    while let Some((&octet, rest)) = bytes.split_first() {
        bytes = rest;
        if octet == b'='
            && let [high, low, rest @ ..] = rest
            && let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low))
        {
            out.push(high << 4 | low);
            bytes = rest;
        } else {
            out.push(plain(octet));
        }
    }
}

fn hex_digit(octet: u8) -> Option<u8> {
    match octet {
        b'0'..=b'9' => Some(octet - b'0'),
        b'a'..=b'f' => Some(octet - b'a' + 10),
        b'A'..=b'F' => Some(octet - b'A' + 10),
        _ => None,
    }
}

/// The charset of a label, as in the Encoding Standard; UTF-8 where it has none.
///
/// Labels the standard maps to `replacement` (iso-2022-kr, hz-gb-2312) count as unknown: all their texts would
/// become one and the same U+FFFD, and two mails one.
pub(super) fn charset(label: &str) -> &'static Encoding {
    Encoding::for_label_no_replacement(label.as_bytes()).unwrap_or(UTF_8)
}

/// Octets to text, with U+FFFD for what is malformed; a byte order mark is taken off. `cut`: a character that is
/// incomplete at the end is dropped.
pub(super) fn to_text<'a>(charset: &'static Encoding, bytes: &'a [u8], cut: bool) -> Cow<'a, str> {
    if charset.is_ascii_compatible()
        && bytes.is_ascii()
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    decode(charset.new_decoder(), bytes, !cut)
}

/// As [`to_text`] for the octets of encoded words: no byte order mark is looked for, nothing is cut.
pub(super) fn word_to_text<'a>(charset: &'static Encoding, bytes: &'a [u8]) -> Cow<'a, str> {
    decode(charset.new_decoder_without_bom_handling(), bytes, true)
}

fn decode<'a>(mut decoder: encoding_rs::Decoder, bytes: &[u8], last: bool) -> Cow<'a, str> {
    let mut out = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len()));
    // The capacity is the decoder's own worst case, so one call takes all.
    let _ = decoder.decode_to_string(bytes, &mut out, last);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(transfer: &str, input: &str, cut: bool, expected: &str) {
        let found = Transfer::parse(transfer).decode(input.as_bytes(), cut).into_owned();
        assert_eq!(String::from_utf8_lossy(&found), expected, "{transfer} {input:?} cut={cut}");
    }

    #[test]
    fn lenient_base64() {
        check("base64", "SGVsbG8=", false, "Hello");
        check(" BASE64 ", "SGVs\r\nbG8=\r\n", false, "Hello");
        check("base64", "SG-V!s b*G8", false, "Hello");
        check("base64", "SGVsbG8", false, "Hello");
        check("base64", "SGVsbG8gd", false, "Hello ");
        check("base64", "SGVsbG8gdw", true, "Hello w");
        check("base64", "SGVsbG8=V29ybGQ=", false, "Hello");
        check("base64", "====", false, "");
        check("base64", "SGVs=bG8=", false, "Hello");
        check("base64", "S", false, "");
    }

    #[test]
    fn lenient_quoted_printable() {
        let qp = "quoted-printable";
        check(qp, "a=3Db=20c", false, "a=b c");
        check(qp, "soft=\r\n break=  \r\n s", false, "soft break s");
        check(qp, "lower =c3=a9", false, "lower é");
        check(qp, "end=", false, "end");
        check(qp, "bad =ZZ =4 = x", false, "bad =ZZ =4 = x");
        check(qp, "line  \r\nline\t\r\n", false, "line\r\nline\r\n");
        check(qp, "=20\r\n", false, " \r\n");
        check(qp, "a=4", false, "a=4");
        check(qp, "a=4", true, "a");
        check(qp, "a=", true, "a");
        check(qp, "a=41", true, "aA");
    }

    #[test]
    fn other_transfer_encodings_are_left_as_they_are() {
        for label in ["7bit", "8bit", "binary", "x-uuencode", "", "garbage base64"] {
            check(label, "a=20b SGVsbG8=", false, "a=20b SGVsbG8=");
        }
        check("base64 (comment)", "SGVsbG8=", false, "Hello");
    }

    #[test]
    fn charset_labels() {
        let table: &[(&str, &[u8], &str)] = &[
            ("utf-8", b"\xd0\x90\xff", "А\u{fffd}"),
            ("", b"\xd0\x90", "А"),
            ("x-nonsense", b"\xd0\x90", "А"),
            ("utf-7", b"+BBA-", "+BBA-"),
            ("iso-8859-1", b"\x93a\x94\xe4", "\u{201c}a\u{201d}ä"),
            (" US-ASCII ", b"\x80", "€"),
            ("gb2312", b"\xb0l\xc6\xb1", "發票"),
            ("GBK", b"\x81\x30\x81\x30", "\u{80}"),
            ("koi8-r", b"\xf3", "С"),
            ("iso-2022-jp", b"\x1b$B$\"\x1b(B", "あ"),
            ("utf-16", b"\xff\xfea\0", "a"),
            ("utf-16", b"\xfe\xff\0a", "a"),
            ("utf-16", b"a\0b\0", "ab"),
            ("utf-8", b"\xef\xbb\xbfa", "a"),
            ("hz-gb-2312", b"~{VPND~}", "~{VPND~}"),
        ];
        for (label, bytes, expected) in table {
            assert_eq!(to_text(charset(label), bytes, false), *expected, "{label} {}", bytes.escape_ascii());
        }
        assert_eq!(to_text(UTF_8, b"a\xd0", true), "a", "half a character at the cut is dropped");
        assert_eq!(to_text(UTF_8, b"a\xd0", false), "a\u{fffd}", "half a character elsewhere is malformed");
    }
}
