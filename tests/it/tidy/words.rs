//! Words that must not stand anywhere in the tree.

use crate::tidy::rust_text::is_word;

/// Each in two parts, so that this file does not hold it.
const NOTES: [(&str, &str); 5] = [("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("todo", "!"), ("unimplemented", "!")];
/// The same for the start of a path that only one machine has.
const MACHINES: [(&str, &str); 3] = [("/wo", "rk/"), ("/ro", "ot/"), ("/Us", "ers/")];

/// What is wrong with one file.
pub(crate) fn check(_path: &str, text: &str) -> Vec<String> {
    let mut said = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let join = |(start, end): &(&str, &str)| format!("{start}{end}");
        let notes = NOTES.iter().map(join).filter(|note| has_word(line, note));
        let machines = MACHINES.iter().map(join).filter(|path| has_path(line, path));
        said.extend(notes.map(|note| format!("line {number}: {note}: do it, or file an issue")));
        said.extend(machines.map(|path| format!("line {number}: {path}: another machine has no such folder")));
    }
    said
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(index, _)| !line[..index].ends_with(is_word) && !line[index + word.len()..].starts_with(is_word))
}

/// At the start of a path, not inside one (`$ROOT/…`, `https://host/…`).
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(index, _)| !line[..index].ends_with(|char| is_word(char) || "}).~".contains(char)))
}

#[cfg(test)]
mod tests {
    use super::{MACHINES, NOTES, check};

    #[test]
    fn each_word_is_found_and_only_it() {
        for (start, end) in NOTES.iter().chain(&MACHINES) {
            assert_eq!(check("a.rs", &format!("x\n// {start}{end}\n")).len(), 1, "{start}{end} is not found");
        }
        for fine in ["// Todo lists are a page", "MY_TODOS", "https://example.org/root/index.html", "the unimplemented"]
        {
            assert_eq!(check("a.rs", fine), Vec::<String>::new(), "{fine}");
        }
    }
}
