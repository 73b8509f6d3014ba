//! The points at which a test stops the program: each one listed is placed, and each one placed is listed.

use std::collections::BTreeSet;

/// Names of the points placed in a source.
pub(crate) fn placed(text: &str) -> impl Iterator<Item = &str> {
    text.split("crash::point(\"").skip(1).filter_map(|rest| rest.split_once('"').map(|(name, _)| name))
}

/// What is wrong with the list.
pub(crate) fn check(listed: &[&str], placed: &BTreeSet<String>) -> Vec<String> {
    let mut said: Vec<String> = placed
        .iter()
        .filter(|name| !listed.contains(&name.as_str()))
        .map(|name| format!("{name} is placed and not listed in crash.rs"))
        .collect();
    said.extend(
        listed.iter().filter(|name| !placed.contains(**name)).map(|name| format!("{name} is listed and not placed")),
    );
    said
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{check, placed};

    #[test]
    fn a_point_on_one_side_only_is_found() {
        let names = |text: &str| placed(text).map(str::to_owned).collect::<BTreeSet<_>>();
        let found = names("a();\n crash::point(\"one\");\n crate::crash::point(\"two\"); point(\"three\")");
        assert_eq!(found, BTreeSet::from(["one".to_owned(), "two".to_owned()]));
        assert!(check(&["two", "one"], &found).is_empty());
        assert_eq!(check(&["two"], &found).len(), 1, "placed and not listed");
        assert_eq!(check(&["one", "two", "four"], &found).len(), 1, "listed and not placed");
    }
}
