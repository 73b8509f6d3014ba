//! Rust source as far as the checks need it: without comments and the insides of strings, and without test code.

use std::ops::Range;

/// The same text with comments, and what stands in strings and characters, made blank. Lines stay where they are.
pub(crate) fn code(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let mut out = String::with_capacity(text.len());
    let mut index = 0;
    while index < chars.len() {
        let end = match (at(index), at(index + 1)) {
            ('/', '/') => line_end(&chars, index),
            ('/', '*') => comment_end(&chars, index),
            ('"', _) => string_end(&chars, index + 1),
            ('r', '"' | '#') if index == 0 || !is_word(at(index - 1)) || at(index - 1) == 'b' => raw_end(&chars, index),
            ('\'', '\\') => character_end(&chars, index + 2),
            ('\'', _) if at(index + 2) == '\'' => index + 3,
            _ => {
                out.push(at(index));
                index += 1;
                continue;
            }
        };
        out.extend(chars[index..end.min(chars.len())].iter().map(|char| if *char == '\n' { '\n' } else { ' ' }));
        index = end.max(index + 1);
    }
    out
}

/// `code` without items under `#[cfg(test)]`, which become blank lines.
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    for range in test_ranges(code).into_iter().rev() {
        let blank = "\n".repeat(code[range.clone()].matches('\n').count());
        out.replace_range(range, &blank);
    }
    out
}

/// Lines of items under `#[cfg(test)]`.
pub(crate) fn test_lines(code: &str) -> usize {
    test_ranges(code).into_iter().map(|range| code[range].lines().count()).sum()
}

/// Where items under `#[cfg(test)]` stand: each up to its `;` or the end of its block.
fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(length) = code[from..].find("#[cfg(test)]") {
        let start = from + length;
        let rest = &code[start..];
        let end = match rest.find([';', '{']) {
            Some(end) if rest[end..].starts_with('{') => end + block_length(&rest[end..]),
            Some(end) => end + 1,
            None => rest.len(),
        };
        from = start + end;
        ranges.push(start..from);
    }
    ranges
}

/// Length of the block at the start of `text`, braces included.
fn block_length(text: &str) -> usize {
    let mut depth = 0;
    for (index, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 1 => return index + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

pub(crate) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn line_end(chars: &[char], start: usize) -> usize {
    chars[start..].iter().position(|char| *char == '\n').map_or(chars.len(), |length| start + length)
}

/// Comments nest in Rust.
fn comment_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut index = start;
    while index + 1 < chars.len() {
        match (chars[index], chars[index + 1]) {
            ('/', '*') => {
                depth += 1;
                index += 2;
            }
            ('*', '/') => {
                depth -= 1;
                index += 2;
                if depth == 0 {
                    return index;
                }
            }
            _ => index += 1,
        }
    }
    chars.len()
}

fn string_end(chars: &[char], mut index: usize) -> usize {
    while index < chars.len() && chars[index] != '"' {
        index += if chars[index] == '\\' { 2 } else { 1 };
    }
    index + 1
}

/// End of `r"…"` or `r#"…"#`; of a raw identifier (`r#type`) only its first letter.
fn raw_end(chars: &[char], start: usize) -> usize {
    let hashes = chars[start + 1..].iter().take_while(|char| **char == '#').count();
    if chars.get(start + 1 + hashes) != Some(&'"') {
        return start + 1;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let inside = start + 2 + hashes;
    let found = chars[inside..].windows(close.len()).position(|window| window == close);
    found.map_or(chars.len(), |length| inside + length + close.len())
}

fn character_end(chars: &[char], escaped: usize) -> usize {
    chars[escaped + 1..].iter().position(|char| *char == '\'').map_or(chars.len(), |length| escaped + length + 2)
}

#[cfg(test)]
mod tests {
    use super::{code, test_lines, without_tests};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let words: Vec<String> = code(text).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), expected, "{text}");
    }

    #[test]
    fn comments_and_strings_are_blank() {
        check("a // b", "a");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"a("b \" // c") d"#, "a( ) d");
        check("a(r#\"b \" c\"#) d", "a( ) d");
        check("a('\"') b('\\'') 'x: loop", "a( ) b( ) 'x: loop");
        check("fn f<'a>(x: &'a str) -> &'a str", "fn f<'a>(x: &'a str) -> &'a str");
        check("r#type b", "#type b");
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "a\n/* b\n c */\n\"d\ne\"\nf";
        assert_eq!(code(text).lines().count(), text.lines().count());
    }

    #[test]
    fn test_code_is_left_out() {
        let text =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { if x { } }\n}\nfn c() {}\n#[cfg(test)]\nmod d;\n";
        let left = without_tests(&code(text));
        assert!(
            left.contains("fn a") && left.contains("fn c") && !left.contains("fn b") && !left.contains("mod d"),
            "{left}"
        );
        assert_eq!(test_lines(&code(text)), 6, "two items, six lines");
        assert_eq!(test_lines("fn a() {}"), 0);
    }
}
