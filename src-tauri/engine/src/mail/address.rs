//! Addresses of From, To and Cc (RFC 5322 §3.4 and §4.4), read leniently and in linear time.

use super::words::{Word, one_line};
use crate::limits::SUBJECT_CHARS_MAX;

/// One mailbox of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mailbox {
    /// The addr-spec in lower case; empty where there is none.
    pub(super) address: String,
    /// The name for people, decoded.
    pub(super) name: Option<String>,
}

/// The first author: the first mailbox with an `@`; else the first bare word (a local user); else nobody, but
/// perhaps with a name.
pub(super) fn first(value: &str) -> Mailbox {
    let mut fallback = Mailbox::default();
    for found in List::new(value) {
        if found.address.contains('@') {
            return found;
        }
        if fallback.address.is_empty() && (!found.address.is_empty() || fallback.name.is_none()) {
            fallback = found;
        }
    }
    fallback
}

/// All mailboxes of a value, in order.
pub(super) struct List<'a> {
    rest: &'a str,
    /// Length of `rest` at the last end of an encoded word; before it there may be one.
    words_until: usize,
    /// A comment or quote without an end was seen: later ones are plain characters, so that no tail is searched twice.
    no_comments: bool,
    no_quotes: bool,
}

/// What is collected of one mailbox.
#[derive(Default)]
struct Draft {
    /// All outside `<…>`, quotes taken off.
    phrase: String,
    /// The same with quotes: an address may stand there.
    bare: String,
    angle: Option<String>,
    comment: Option<String>,
}

impl<'a> List<'a> {
    /// Reads an unfolded value, encoded words and all.
    pub(super) fn new(value: &'a str) -> Self {
        let words_until = value.rfind("?=").map_or(usize::MAX, |at| value.len() - at);
        Self { rest: value, words_until, no_comments: false, no_quotes: false }
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (head, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        head
    }

    /// Reads up to the end of a mailbox.
    fn draft(&mut self) -> Draft {
        let mut draft = Draft::default();
        while let Some(first) = self.rest.chars().next() {
            match first {
                ',' | ';' => {
                    self.take(1);
                    break;
                }
                // A group's name ends here; its members follow.
                ':' if !draft.bare.contains('@') => {
                    self.take(1);
                    draft = Draft::default();
                }
                '"' => self.quoted(&mut draft),
                '(' => self.comment(&mut draft),
                '<' => self.angle(&mut draft),
                '=' if self.word(&mut draft) => {}
                _ => {
                    let from = first.len_utf8();
                    let special = self.rest.get(from..).and_then(|rest| rest.find([',', ';', ':', '"', '(', '<', '=']));
                    let text = self.take(special.map_or(self.rest.len(), |at| from + at));
                    draft.push(text);
                }
            }
        }
        draft
    }

    fn quoted(&mut self, draft: &mut Draft) {
        let mut escaped = false;
        let mut ends = |c: char| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        };
        let open = !self.no_quotes;
        let end = open.then(|| self.rest.char_indices().skip(1).find(|&(_, c)| ends(c))).flatten();
        let Some((end, _)) = end else {
            // It would swallow the address: it is no quote, and is left out.
            self.no_quotes = true;
            self.take(1);
            return;
        };
        let quoted = self.take(end + 1);
        draft.bare.push_str(quoted);
        let inner = quoted.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or_default();
        let mut escaped = false;
        for c in inner.chars() {
            escaped = c == '\\' && !escaped;
            if !escaped {
                draft.phrase.push(c);
            }
        }
    }

    fn comment(&mut self, draft: &mut Draft) {
        let mut depth = 0_usize;
        let mut escaped = false;
        let mut ends = |c: char| {
            match c {
                _ if escaped => {}
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            escaped = c == '\\' && !escaped;
            depth == 0
        };
        let open = !self.no_comments;
        match open.then(|| self.rest.char_indices().find(|&(_, c)| ends(c))).flatten() {
            Some((end, _)) => {
                let comment = self.take(end + 1);
                let inner = comment.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or_default();
                draft.comment.get_or_insert_with(|| inner.to_owned());
                // A comment separates words as a blank does, except inside an address.
                draft.phrase.push(' ');
            }
            None => {
                self.no_comments = true;
                draft.phrase.push_str(self.take(1));
            }
        }
    }

    fn angle(&mut self, draft: &mut Draft) {
        let quoted_local = self.rest.get(1..).filter(|inner| inner.starts_with('"'));
        let skip =
            quoted_local.and_then(|inner| inner.get(1..)).and_then(|inner| inner.find('"')).map_or(0, |at| at + 3);
        let end = self.rest.get(skip..).and_then(|rest| rest.find('>')).map(|at| skip + at);
        let taken = self.take(end.map_or(self.rest.len(), |end| end + 1));
        let inner = taken.strip_prefix('<').unwrap_or(taken);
        draft.angle.get_or_insert_with(|| inner.strip_suffix('>').unwrap_or(inner).to_owned());
        draft.phrase.push(' ');
    }

    /// Takes an encoded word whole: careless senders leave commas and colons in them.
    fn word(&mut self, draft: &mut Draft) -> bool {
        let may_end = self.words_until != usize::MAX && self.rest.len() > self.words_until;
        let Some(word) = may_end.then(|| Word::parse(self.rest)).flatten() else { return false };
        draft.push(self.take(word.len));
        true
    }
}

impl Iterator for List<'_> {
    type Item = Mailbox;

    fn next(&mut self) -> Option<Mailbox> {
        while !self.rest.is_empty() {
            let found = self.draft().finish();
            if found != Mailbox::default() {
                return Some(found);
            }
        }
        None
    }
}

impl Draft {
    fn push(&mut self, text: &str) {
        self.phrase.push_str(text);
        self.bare.push_str(text);
    }

    fn finish(self) -> Mailbox {
        let (address, name) = match self.angle {
            Some(angle) => (addr_spec(&angle), Some(self.phrase)),
            None => {
                let (address, is_name) = bare_address(&self.bare);
                (address, is_name.then_some(self.phrase))
            }
        };
        let name = name.map(|name| person(&name)).filter(|name| !name.is_empty());
        let name = name.or_else(|| self.comment.map(|comment| person(&comment)).filter(|name| !name.is_empty()));
        Mailbox { address, name }
    }
}

fn person(text: &str) -> String {
    one_line(text).chars().take(SUBJECT_CHARS_MAX).collect()
}

/// What stands in `<…>`: blanks, comments and an obsolete route (`@relay,@relay:`) taken off, lower case.
fn addr_spec(inner: &str) -> String {
    let inner = inner.trim();
    let inner =
        if inner.starts_with('@') { inner.split_once(':').map_or(inner, |(_, address)| address) } else { inner };
    let mut out = String::with_capacity(inner.len());
    let mut in_quotes = false;
    let mut depth = 0_usize;
    for c in inner.chars() {
        match c {
            '"' if depth == 0 => in_quotes = !in_quotes,
            '(' if !in_quotes => depth += 1,
            _ => {}
        }
        if depth == 0 && (in_quotes || !c.is_whitespace()) {
            out.push(c);
        }
        if c == ')' && !in_quotes {
            depth = depth.saturating_sub(1);
        }
    }
    out.to_lowercase()
}

/// An address without `<…>`: the word with the `@` (blanks around that are of RFC 5322 §4.4), else the only word.
/// True where nothing but a name stands there.
fn bare_address(bare: &str) -> (String, bool) {
    let bare = bare.trim();
    let glued;
    let bare = if bare.contains([' ', '\t']) && bare.contains('@') {
        glued = glue(bare);
        glued.as_str()
    } else {
        bare
    };
    let mut words = words_outside_quotes(bare);
    if let Some(address) = words.iter().find(|word| word.contains('@') && !word.starts_with("=?")) {
        return (address.to_lowercase(), false);
    }
    match (words.pop(), words.is_empty()) {
        (Some(only), true) if !only.starts_with(['"', '=']) => (only.to_lowercase(), false),
        _ => (String::new(), true),
    }
}

/// Takes blanks around `@` away.
fn glue(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, piece) in text.split('@').enumerate() {
        if i > 0 {
            out.truncate(out.trim_end().len());
            out.push('@');
            out.push_str(piece.trim_start());
        } else {
            out.push_str(piece);
        }
    }
    out
}

fn words_outside_quotes(text: &str) -> Vec<&str> {
    let mut in_quotes = false;
    text.split(|c: char| {
        if c == '"' {
            in_quotes = !in_quotes;
        }
        !in_quotes && c.is_whitespace()
    })
    .filter(|word| !word.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, address: &str, name: &str) {
        let found = first(value);
        assert_eq!(found.address, address, "address of {value:?}");
        assert_eq!(found.name.as_deref().unwrap_or_default(), name, "name of {value:?}");
    }

    #[test]
    fn the_first_author() {
        check("Billing <Billing@SHOP.example>", "billing@shop.example", "Billing");
        check("a@b.example", "a@b.example", "");
        check("<a@b.example>", "a@b.example", "");
        check("A <a@b>, B <c@d>", "a@b", "A");
        check("a@b, c@d", "a@b", "");
        check("a@b (Al (the) Person)", "a@b", "Al (the) Person");
        check("Al (comment) Person <a@b>", "a@b", "Al Person");
        check("\"Doe, John\" <j@d>", "j@d", "Doe, John");
        check("\"say \\\"hi\\\"\" <j@d>", "j@d", "say \"hi\"");
        check("\"john doe\"@Example.com", "\"john doe\"@example.com", "");
        check("X <\"john doe\"@Example.com>", "\"john doe\"@example.com", "X");
        check("X <\"a>b\"@c>", "\"a>b\"@c", "X");
        check("undisclosed:;", "", "");
        check("Team: a@b, c@d;", "a@b", "");
        check("undisclosed:;, x <a@b>", "a@b", "x");
        check("<@relay,@other:a@b>", "a@b", "");
        check("a @ b", "a@b", "");
        check("< a (c) @ b >", "a@b", "");
        check("Billing a@b", "a@b", "");
        check("root", "root", "");
        check("root, x <a@b>", "a@b", "x");
        check("Billing Department", "", "Billing Department");
        check("", "", "");
        check("<>", "", "");
        check("\"\" <>", "", "");
        check(",,;, a@b", "a@b", "");
        check("a@b.com <real@x>", "real@x", "a@b.com");
    }

    #[test]
    fn encoded_names() {
        check("=?UTF-8?B?0KHRh9GR0YI=?= <a@b>", "a@b", "Счёт");
        check("\"=?UTF-8?B?0KHRh9GR0YI=?=\" <a@b>", "a@b", "Счёт");
        check("=?utf-8?Q?Doe,_John:?= <a@b>", "a@b", "Doe, John:");
        check("=?utf-8?Q?a?= =?utf-8?Q?b?=\t<a@b>", "a@b", "ab");
        check("=?utf-8?Q?x@y?= <a@b>", "a@b", "x@y");
        check("=?utf-8?Q?only=20a=20name?=", "", "only a name");
        check("Счёт, Иван <A@b>", "a@b", "Иван");
    }

    #[test]
    fn broken_ones() {
        check("\"Billing <a@b>", "a@b", "Billing");
        check("Billing <a@b", "a@b", "Billing");
        check("Smile ( <a@b>", "a@b", "Smile (");
        check("é\"<a@b>", "a@b", "é");
        check("\u{0}<a@b>", "a@b", "\u{0}");
        check("=?utf-8?Q?open <a@b>", "a@b", "=?utf-8?Q?open");
    }

    #[test]
    fn long_lists_take_linear_time() {
        let many: String = (0..10_000).map(|i| format!("\"P, {i}\" <P{i}@x.example>, ")).collect();
        assert_eq!(List::new(&many).count(), 10_000);
        for piece in ["(", "\"", "<", "=?u?q?x", ":", ",", "\\", "(a\\", "é<", "a@b "] {
            let hostile = piece.repeat(100_000 / piece.len());
            let _ = first(&hostile);
        }
    }
}
