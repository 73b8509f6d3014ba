//! Encoded words of RFC 2047, and text for people in one line.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::decoding;

/// A subject or a name: words decoded, NFC, runs of white space one space, trimmed.
pub(super) fn one_line(value: &str) -> String {
    let decoded = decode(value);
    let normal = nfc(decoded);
    if !normal.contains(|c: char| c.is_whitespace() && c != ' ') && !normal.contains("  ") {
        return normal.trim_matches(' ').to_owned();
    }
    let mut out = String::with_capacity(normal.len());
    for word in normal.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Unicode NFC, at no cost where it is that already.
pub(super) fn nfc(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        text
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// Decodes the encoded words of an unfolded value. Blanks between two of them fall away, neighbours of one charset
/// are joined as octets (senders cut between the octets of a character), and text may touch a word.
pub(super) fn decode(value: &str) -> Cow<'_, str> {
    if !value.contains("=?") {
        return Cow::Borrowed(value);
    }
    // Behind the last end nothing can be a word, so a value full of beginnings is not searched again and again.
    let ends = value.rfind("?=").unwrap_or_default();
    let mut out = String::with_capacity(value.len());
    let mut run: Option<Run> = None;
    let mut rest = value;
    while let Some(at) = rest.find("=?") {
        let (before, from) = rest.split_at(at);
        let may_end = value.len() - from.len() < ends;
        let Some(word) = may_end.then(|| Word::parse(from)).flatten() else {
            let (mark, after) = from.split_at(2);
            end_run(&mut run, &mut out);
            out.push_str(before);
            out.push_str(mark);
            rest = after;
            continue;
        };
        if run.is_none() || !before.chars().all(char::is_whitespace) {
            end_run(&mut run, &mut out);
            out.push_str(before);
        }
        add(&mut run, &word, &mut out);
        rest = from.get(word.len..).unwrap_or_default();
    }
    end_run(&mut run, &mut out);
    out.push_str(rest);
    Cow::Owned(out)
}

/// Octets of adjacent words of one charset.
struct Run {
    charset: &'static Encoding,
    octets: Vec<u8>,
}

fn add(run: &mut Option<Run>, word: &Word<'_>, out: &mut String) {
    let octets = word.octets();
    match run {
        // An empty word joins its neighbours and says nothing of their charset.
        Some(_) if octets.is_empty() => {}
        Some(open) if open.charset == word.charset => {
            // Two escape sequences in a row are an error in the Encoding Standard; each word begins and ends with one.
            if open.charset == ISO_2022_JP && octets.starts_with(b"\x1b") && open.octets.ends_with(b"\x1b(B") {
                open.octets.truncate(open.octets.len() - 3);
            }
            open.octets.extend_from_slice(&octets);
        }
        Some(open) if open.octets.is_empty() => *open = Run { charset: word.charset, octets },
        _ => {
            end_run(run, out);
            *run = Some(Run { charset: word.charset, octets });
        }
    }
}

fn end_run(run: &mut Option<Run>, out: &mut String) {
    if let Some(run) = run.take() {
        out.push_str(&decoding::word_to_text(run.charset, &run.octets));
    }
}

/// One encoded word at the beginning of a text.
pub(super) struct Word<'a> {
    charset: &'static Encoding,
    is_base64: bool,
    encoded: &'a str,
    /// Bytes it takes, with `=?` and `?=`.
    pub(super) len: usize,
}

impl<'a> Word<'a> {
    /// `=?charset?B or Q?text?=`; `None` where the text does not begin with one. The charset may have a language
    /// behind it (RFC 2231 §5). Blanks inside the encoded text are taken: a sender folded there.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let inner = text.strip_prefix("=?")?;
        let (label, inner) = inner.split_once('?')?;
        let mut letters = inner.chars();
        let is_base64 = match letters.next()? {
            'b' | 'B' => true,
            'q' | 'Q' => false,
            _ => return None,
        };
        let inner = letters.as_str().strip_prefix('?')?;
        let end = inner.find("?=")?;
        let encoded = inner.get(..end)?;
        let label = label.split('*').next().unwrap_or_default();
        let len = text.len() - inner.len() + end + 2;
        Some(Self { charset: decoding::charset(label), is_base64, encoded, len })
    }

    fn octets(&self) -> Vec<u8> {
        let encoded = self.encoded.as_bytes();
        if self.is_base64 { decoding::base64(encoded) } else { decoding::q_word(encoded) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects() {
        let table = [
            ("Invoice 41", "Invoice 41"),
            ("  a \t b\u{a0}\u{2003}c\u{3000}", "a b c"),
            ("Invoice\u{1f}41\u{0}", "Invoice\u{1f}41\u{0}"),
            ("e\u{301}", "é"),
            ("=?UTF-8?B?0KHRh9GR0YIgNDE=?=", "Счёт 41"),
            ("=?utf-8?q?=D0=A1_a=5Fb?=", "С a_b"),
            ("=?utf-8*en?Q?caf=C3=A9?=", "café"),
            ("=?UTF-8?B?0KHR?= \t =?utf8?B?h9GR0YI=?=", "Счёт"),
            ("=?UTF-8?Q?a?= =?UTF-8?Q?b?= c =?UTF-8?Q?d?=", "ab c d"),
            ("=?UTF-8?Q?a_?= =?KOI8-R?Q?=F3?= =?iso-8859-1?Q?=E4?=", "a Сä"),
            ("Re:=?UTF-8?Q?=C3=A9?=t=?UTF-8?Q?=C3=A9?=", "Re:été"),
            ("=?UTF-8?Q??= =?UTF-8?B?0KHRh9GR0YI=?=", "Счёт"),
            ("=?UTF-8?Q?=D0?= =?KOI8-R?Q??= =?UTF-8?Q?=A1?=", "С"),
            ("=?x-nonsense?Q?=C3=A9?=", "é"),
            ("=??Q?=C3=A9?=", "é"),
            ("=?UTF-8?Q?a b?c?=", "a b?c"),
            ("=?UTF-8?X?abc?= =?UTF-8?Q?abc", "=?UTF-8?X?abc?= =?UTF-8?Q?abc"),
            ("=?=?UTF-8?Q?a?=", "=?a"),
            ("a =? b ?= c", "a =? b ?= c"),
            ("=?UTF-8?Q?a=0D=0Ab?=", "a b"),
            ("=?UTF-8?Q?=ff=41=4?=", "\u{fffd}A=4"),
            ("=?utf-8?B?SGVs*bG8?=", "Hello"),
            ("=?iso-2022-jp?B?GyRCJCIbKEI=?= =?iso-2022-jp?B?GyRCJCQbKEI=?=", "あい"),
            ("=?gb2312?B?sGzGsSA0MQ==?=", "發票 41"),
        ];
        for (value, expected) in table {
            assert_eq!(one_line(value), expected, "{value:?}");
        }
    }

    #[test]
    fn beginnings_without_an_end_take_linear_time() {
        let value = "=?u?q?x".repeat(37_000);
        assert_eq!(one_line(&value), value, "left as it is");
    }
}
