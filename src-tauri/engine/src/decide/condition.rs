//! Conditions of rules: `FIELD [not] contains|is|starts|matches "VALUE"`, never by case.

use crate::model::error::{Fault, FaultCode};
use crate::model::message::MailFacts;
use crate::model::rule::{Condition, Field, Test};

const FIELDS: &[(&str, Field)] = &[
    ("folder", Field::Folder),
    ("from", Field::From),
    ("to", Field::To),
    ("subject", Field::Subject),
    ("list-id", Field::ListId),
];
const TESTS: &[(&str, Test)] =
    &[("contains", Test::Contains), ("is", Test::Is), ("starts", Test::Starts), ("matches", Test::Matches)];

/// Reads a condition as the command line takes it. The quotes may be left out.
///
/// # Errors
/// `invalid`, naming the part that is not understood and what may stand there.
pub fn parse(text: &str) -> Result<Condition, Fault> {
    let refused = |cause: String, allowed: String| {
        Fault::new(FaultCode::Invalid, format!("The condition {text:?} is not understood"), cause, allowed)
    };
    let (field, rest) = word(text);
    let field = lookup(FIELDS, field)
        .ok_or_else(|| refused(format!("there is no field {field:?}"), format!("give one of {}", names(FIELDS))))?;
    let (first, after_first) = word(rest);
    let not = first.eq_ignore_ascii_case("not");
    let (test, value) = if not { word(after_first) } else { (first, after_first) };
    let test = lookup(TESTS, test)
        .ok_or_else(|| refused(format!("there is no test {test:?}"), format!("give one of {}", names(TESTS))))?;
    let value = unquote(value.trim()).ok_or_else(|| {
        refused("the value is not closed by a quote".to_owned(), "write the value as \"VALUE\"".to_owned())
    })?;
    if value.is_empty() {
        return Err(refused("the value is empty".to_owned(), "write the value as \"VALUE\"".to_owned()));
    }
    Ok(Condition { field, not, test, value })
}

/// A condition as the command line takes it.
#[must_use]
pub fn text(condition: &Condition) -> String {
    let not = if condition.not { "not " } else { "" };
    let value = condition.value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("{} {not}{} \"{value}\"", name(FIELDS, condition.field), name(TESTS, condition.test))
}

/// Conditions as one sentence, which is the reason of what they decide.
#[must_use]
pub fn sentence(conditions: &[Condition]) -> String {
    if conditions.is_empty() {
        return "every mail".to_owned();
    }
    conditions.iter().map(text).collect::<Vec<_>>().join(" and ")
}

/// Whether a condition holds for a mail.
#[must_use]
pub fn holds(condition: &Condition, facts: &MailFacts, folder: Option<&str>) -> bool {
    let value = condition.value.to_lowercase();
    let test = |text: &str| passes(condition.test, &text.to_lowercase(), &value);
    let optional = |text: &Option<String>| text.as_deref().is_some_and(test);
    let any = match condition.field {
        Field::Folder => folder.is_some_and(test),
        Field::From => optional(&facts.from_address) || optional(&facts.from_name),
        Field::To => facts.to.iter().any(|address| test(address)),
        Field::Subject => optional(&facts.subject),
        Field::ListId => optional(&facts.list_id),
    };
    any != condition.not
}

fn passes(test: Test, text: &str, value: &str) -> bool {
    match test {
        Test::Contains => text.contains(value),
        Test::Is => text == value,
        Test::Starts => text.starts_with(value),
        Test::Matches => matches_glob(text, value),
    }
}

/// `*` is any run of characters, `?` one. Linear in text times stars: the last star is the only one to go back to.
fn matches_glob(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    let (mut at, mut in_pattern) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(character) = text.get(at) {
        match pattern.get(in_pattern) {
            Some('*') => {
                star = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(wanted) if *wanted == '?' || wanted == character => {
                at += 1;
                in_pattern += 1;
            }
            _ => {
                let Some((star_at, from)) = star else { return false };
                star = Some((star_at, from + 1));
                at = from + 1;
                in_pattern = star_at + 1;
            }
        }
    }
    pattern.iter().skip(in_pattern).all(|character| *character == '*')
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

fn unquote(text: &str) -> Option<String> {
    let Some(inner) = text.strip_prefix('"') else { return Some(text.to_owned()) };
    let mut value = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return characters.as_str().trim().is_empty().then_some(value),
            '\\' => value.push(characters.next()?),
            other => value.push(other),
        }
    }
    None
}

fn lookup<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, value)| *value)
}

fn name<T: PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, other)| *other == value).map_or("", |(name, _)| name)
}

fn names<T>(table: &[(&str, T)]) -> String {
    table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_written_back() {
        let case = |given: &str, written: &str| assert_eq!(text(&parse(given).unwrap()), written, "{given}");
        case("subject contains \"x\"", "subject contains \"x\"");
        case("  Subject  CONTAINS  two words ", "subject contains \"two words\"");
        case("from not is \"a@b\"", "from not is \"a@b\"");
        case("list-id matches \"*.example\"", "list-id matches \"*.example\"");
        case(r#"subject starts "say \"hi\" \\ now""#, r#"subject starts "say \"hi\" \\ now""#);
        case("subject contains \"not\"", "subject contains \"not\"");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let case = |given: &str, words: &str| {
            let fault = parse(given).unwrap_err().to_string();
            assert!(fault.contains(words), "{given}: {fault}");
        };
        case("size contains 1", "folder, from, to, subject, list-id");
        case("subject resembles x", "contains, is, starts, matches");
        case("subject contains", "empty");
        case("subject contains \"x", "not closed");
        case("subject contains \"x\" y", "not closed");
        case("", "no field");
    }

    #[test]
    fn each_test_on_each_field() {
        let facts = MailFacts {
            from_address: Some("billing@shop.example".to_owned()),
            from_name: Some("Müller & Co".to_owned()),
            to: vec!["me@home.example".to_owned(), "list@work.example".to_owned()],
            subject: Some("Rechnung ÄÖ 41".to_owned()),
            list_id: Some("dev.lists.example".to_owned()),
            ..MailFacts::default()
        };
        let case = |given: &str, expected: bool| {
            assert_eq!(holds(&parse(given).unwrap(), &facts, Some("INBOX")), expected, "{given}");
        };
        case("folder is inbox", true);
        case("folder starts in", true);
        case("from is billing@shop.example", true);
        case("from contains MÜLLER", true);
        case("to is list@work.example", true);
        case("to not contains work", false);
        case("to not contains nowhere", true);
        case("subject contains äö", true);
        case("subject is rechnung", false);
        case("subject matches \"rech*?1\"", true);
        case("subject matches \"rech\"", false);
        case("list-id starts dev.", true);
        case("list-id not is dev.lists.example", false);
    }

    #[test]
    fn stars_go_back_only_to_the_last_one() {
        let case = |text: &str, pattern: &str, expected: bool| {
            assert_eq!(matches_glob(text, pattern), expected, "{text} {pattern}");
        };
        case("abcabd", "*abd", true);
        case("abcabd", "a*b?", true);
        case("", "*", true);
        case("", "?", false);
        case("a", "", false);
        case(&"a".repeat(5000), &format!("{}b", "a*".repeat(500)), false);
    }
}
