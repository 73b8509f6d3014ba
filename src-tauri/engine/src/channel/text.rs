//! Text for people, cut to what a channel takes.

/// Marks a message that may have arrived before.
pub(crate) const MAY_BE_REPEAT: &str = "May be a repeat: ";

const ELLIPSIS: char = '…';

/// At most so many bytes of UTF-8, cut at a character, with an ellipsis where something is missing.
pub(crate) fn cut_bytes(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let room = bytes_max.saturating_sub(ELLIPSIS.len_utf8());
    let mut cut = String::with_capacity(bytes_max);
    for character in text.chars() {
        if cut.len() + character.len_utf8() > room {
            break;
        }
        cut.push(character);
    }
    if bytes_max >= ELLIPSIS.len_utf8() {
        cut.push(ELLIPSIS);
    }
    cut
}

/// The first line with something in it, without control characters, at most so many characters.
pub(crate) fn first_line(bytes: &[u8], chars_max: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|character| !character.is_control()).take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_a_character_within_the_bytes() {
        let check = |text: &str, max: usize, expected: &str| {
            let cut = cut_bytes(text, max);
            assert_eq!(cut, expected, "{text:?} to {max} bytes");
            assert!(cut.len() <= max, "{text:?}: {} bytes of {max}", cut.len());
        };
        check("abc", 3, "abc");
        check("abcd", 3, "…");
        check("abcdef", 5, "ab…");
        check("äöü", 6, "äöü");
        check("äöüa", 6, "ä…");
        check("👍👍", 7, "👍…");
        check("👍👍", 6, "…");
        check("ab", 1, "");
        check("", 0, "");
    }

    #[test]
    fn the_first_line_is_one_clean_line() {
        let check = |bytes: &[u8], expected: &str| assert_eq!(first_line(bytes, 5), expected, "{bytes:?}");
        check(b"", "");
        check(b"\n  \nabc\ndef", "abc");
        check(b"\x1b[1mabcdef", "[1mab");
        check(b"a\xffb", "a\u{fffd}b");
    }
}
