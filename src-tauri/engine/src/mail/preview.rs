//! The first words of a mail, for people, in one line.

use mail_parser::decoders::html::html_to_text;

use crate::limits::PREVIEW_CHARS_MAX;

/// Tags that set words apart; the library only knows `br` and `p`.
const BLOCKS: [&str; 15] =
    ["div", "td", "th", "tr", "table", "li", "ul", "ol", "h1", "h2", "h3", "h4", "blockquote", "hr", "p"];
/// Tags with a content that is not shown.
const HIDDEN: [&str; 4] = ["head", "style", "script", "template"];

/// Of a text; one that is HTML all the same loses its tags. Ciphertext has no preview.
pub(super) fn of_plain(text: &str) -> String {
    let start = text.trim_start();
    if start.starts_with("-----BEGIN PGP MESSAGE-----") {
        return String::new();
    }
    let is_html = start.starts_with('<') && start.contains("</");
    if is_html { of_html(text) } else { one_line(text) }
}

/// Of HTML.
pub(super) fn of_html(html: &str) -> String {
    one_line(&html_to_text(&with_blanks(html)))
}

/// Puts a blank before the tags that end a word, and takes the attributes off those whose content nobody sees, because
/// the library knows them only without.
fn with_blanks(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + html.len() / 8);
    let mut pieces = html.split('<');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let tag = piece.strip_prefix('/').unwrap_or(piece);
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let is_one_of = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
        if is_one_of(&BLOCKS) {
            out.push(' ');
        }
        out.push('<');
        match piece.split_once('>') {
            Some((_, content)) if is_one_of(&HIDDEN) && tag.len() == piece.len() => {
                out.push_str(name);
                out.push('>');
                out.push_str(content);
            }
            _ => out.push_str(piece),
        }
    }
    out
}

/// White space folded, what nobody sees taken off, cut with an ellipsis.
fn one_line(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut blank = false;
    let mut last = ' ';
    for c in text.chars() {
        if c.is_whitespace() || is_blank(c) {
            blank = true;
            continue;
        }
        // Joiners and variation selectors belong to the character before them, and are filler anywhere else.
        let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        if c.is_control() || is_invisible(c) || (joins && (blank || out.is_empty() || last == c)) {
            continue;
        }
        if blank && !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        blank = false;
        if count >= PREVIEW_CHARS_MAX {
            return shortened(&out);
        }
        out.push(c);
        count += 1;
        last = c;
    }
    out
}

fn shortened(text: &str) -> String {
    let kept: String = text.chars().take(PREVIEW_CHARS_MAX - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Characters that are drawn as nothing but take room.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

/// Default-ignorable characters (Unicode's DerivedCoreProperties) other than joiners: fillers of newsletters, and marks
/// that would turn the direction of what stands around them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain() {
        let table = [
            ("Hello\n\n  world\t!", "Hello world !"),
            ("", ""),
            ("\u{feff}a\u{34f} \u{200c}\u{a0}\u{200c}\u{a0}\u{200b}\u{ad}b\0\u{1b}", "a b"),
            ("👩\u{200d}💻 ok \u{2764}\u{fe0f}", "👩\u{200d}💻 ok \u{2764}\u{fe0f}"),
            ("\u{202e}evil", "evil"),
            ("<html><body>Text &amp; more</body></html>", "Text & more"),
            ("<a@b> wrote: x", "<a@b> wrote: x"),
            ("-----BEGIN PGP MESSAGE-----\n\nhQ==", ""),
        ];
        for (text, expected) in table {
            assert_eq!(of_plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn html() {
        let table = [
            ("<p>Total: 10&nbsp;<b>E</b>UR</p>", "Total: 10 EUR"),
            ("<head><title>t</title></head><style>p{a:b}</style><script>x</script><div>a</div><div>b</div>", "a b"),
            ("<style type=\"text/css\">p{}</style><td>a</td><TD class=x>b</TD><br>c", "a b c"),
            ("<!-- hidden --> <p>a</p>", "a"),
            ("a &lt;b&gt; &#8364; &unknown; &", "a <b> € &unknown; &"),
            ("<p>open", "open"),
            ("<", ""),
        ];
        for (html, expected) in table {
            assert_eq!(of_html(html), expected, "{html:?}");
        }
    }

    #[test]
    fn long_ones_are_cut() {
        let exact = "é".repeat(PREVIEW_CHARS_MAX);
        assert_eq!(of_plain(&exact), exact, "what fits is left whole");
        let cut = of_plain(&format!("{exact}x"));
        assert_eq!(cut.chars().count(), PREVIEW_CHARS_MAX);
        assert!(cut.ends_with("é…"), "the cut is shown: {cut}");
        assert!(of_plain(&"word ".repeat(200)).chars().count() <= PREVIEW_CHARS_MAX);
    }
}
