//! Licences of everything that is linked in.

use serde_json::Value;

/// Licences under which a library may be part of a program under MIT.
const ALLOWED: [&str; 13] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unicode-3.0",
    "CDLA-Permissive-2.0",
    // Gives a work to everybody; ksni has it.
    "Unlicense",
    // Binds changes to its own files only; directories uses one such.
    "MPL-2.0",
];

/// Packages of `cargo metadata` that may not be used.
pub(crate) fn check(metadata: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let used = metadata["resolve"]["nodes"].as_array().expect("cargo metadata lists what is used");
    let used: Vec<String> = used.iter().map(|node| text(&node["id"])).collect();
    let packages = metadata["packages"].as_array().expect("cargo metadata lists packages");
    let packages: Vec<&Value> = packages.iter().filter(|package| used.contains(&text(&package["id"]))).collect();
    assert_eq!(packages.len(), used.len(), "each used package is described");
    let refused = packages.into_iter().filter(|package| !is_allowed(&text(&package["license"])));
    refused.map(|package| format!("{}: licence `{}`", text(&package["name"]), text(&package["license"]))).collect()
}

/// Whether an SPDX expression can be met by allowed licences alone. `/` is the old way to write OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allowed = any(&mut rest);
    allowed && rest.is_empty()
}

fn any(words: &mut &[&str]) -> bool {
    let mut allowed = all(words);
    while let ["OR", rest @ ..] = words {
        *words = rest;
        // Both sides are read, whatever the first one was.
        allowed |= all(words);
    }
    allowed
}

fn all(words: &mut &[&str]) -> bool {
    let mut allowed = one(words);
    while let ["AND", rest @ ..] = words {
        *words = rest;
        allowed &= one(words);
    }
    allowed
}

fn one(words: &mut &[&str]) -> bool {
    match words {
        ["(", rest @ ..] => {
            *words = rest;
            let allowed = any(words);
            let [")", rest @ ..] = words else {
                return false;
            };
            *words = rest;
            allowed
        }
        [licence, "WITH", exception, rest @ ..] => {
            let name = format!("{licence} WITH {exception}");
            *words = rest;
            ALLOWED.contains(&name.as_str())
        }
        [licence, rest @ ..] => {
            let licence = *licence;
            *words = rest;
            ALLOWED.contains(&licence)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_allowed;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        assert_eq!(is_allowed(expression), expected, "{expression}");
    }

    #[test]
    fn expressions_are_read() {
        check("MIT", true);
        check("MIT OR GPL-3.0-only", true);
        check("MIT AND GPL-3.0-only", false);
        check("GPL-3.0-only OR AGPL-3.0-only", false);
        check("(Apache-2.0 OR GPL-2.0-only) AND BSD-3-Clause", true);
        check("(Apache-2.0 OR MIT) AND (SSPL-1.0 OR GPL-2.0-only)", false);
        check("Apache-2.0 WITH LLVM-exception OR Apache-2.0", true);
        check("GPL-2.0-only WITH Classpath-exception-2.0", false);
        check("MIT/Apache-2.0", true);
        check("", false);
        check("(MIT", false);
        check("MIT MIT", false);
    }

    #[test]
    fn a_library_without_a_good_licence_is_found() {
        let package = |name: &str, licence: Option<&str>| json!({"id": name, "name": name, "license": licence});
        let metadata = json!({
            "packages": [package("good", Some("MIT")), package("bad", Some("AGPL-3.0-only")), package("none", None), package("unused", None)],
            "resolve": {"nodes": [{"id": "good"}, {"id": "bad"}, {"id": "none"}]},
        });
        let said = super::check(&metadata);
        assert_eq!(said.len(), 2, "bad and none: {said:?}");
    }
}
