//! Text as a search compares it: words without case, marks and punctuation.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The words of a text in their order, folded. They hold only letters and digits.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match plain(c) {
            Some(letters) => folded.push_str(letters),
            None if c.is_alphanumeric() => folded.push(c),
            // A mark that lower case made of a letter (İ) parts no word.
            None if is_combining_mark(c) => {}
            None => folded.push(' '),
        }
    }
    folded.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Letters that people write without their stroke or as two, and that Unicode does not take apart.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'ł' => "l",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'ı' => "i",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_no_case_marks_or_punctuation() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text:?}");
        };
        check("", &[]);
        check(" — … ", &[]);
        check("Poprawki do umowy – PROSZĘ o podpis", &["poprawki", "do", "umowy", "prosze", "o", "podpis"]);
        check("Łódź, Zażółć gęślą jaźń", &["lodz", "zazolc", "gesla", "jazn"]);
        check("Приём у врача, ещё", &["прием", "у", "врача", "еще"]);
        check("Straße ÆON œuvre", &["strasse", "aeon", "oeuvre"]);
        check("İstanbul ISPARTA", &["istanbul", "isparta"]);
        check("alerts@harbourbank.example.com", &["alerts", "harbourbank", "example", "com"]);
        check("Re: [main] #41-a", &["re", "main", "41", "a"]);
        check("ﬁne Ｆｕｌｌ", &["fine", "full"]);
        check("تم شحن طلبك رقم 20418", &["تم", "شحن", "طلبك", "رقم", "20418"]);
        assert_eq!(words("e\u{301}te\u{301}").collect::<Vec<_>>(), ["ete"], "composed or not is the same");
    }
}
