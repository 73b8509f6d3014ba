//! `Cargo.toml` files and the numbers of migrations.

/// Dependencies of the workspace without a comment line of their own above.
pub(crate) fn check_reasons(text: &str) -> Vec<String> {
    let mut said = Vec::new();
    let mut before = "";
    for line in section(text, "[workspace.dependencies]") {
        let name = line.split(['=', ' ', '.']).next().unwrap_or_default();
        let is_dependency = line.starts_with(|char: char| char.is_ascii_alphanumeric()) && line.contains('=');
        if is_dependency && !line.contains("path =") && !before.starts_with("# ") {
            said.push(format!("{name}: a comment line above it has to say why it is there"));
        }
        before = line;
    }
    said
}

/// Dependencies of a member that do not come from the workspace, where their reasons and versions stand.
pub(crate) fn check_member(text: &str) -> Vec<String> {
    let sections = ["[dependencies]", "[dev-dependencies]", "[build-dependencies]"];
    let lines = sections.iter().flat_map(|name| section(text, name));
    let own = lines.filter(|line| line.contains('=') && !line.starts_with('#') && !line.contains("workspace = true"));
    own.map(|line| format!("`{line}` does not come from the workspace")).collect()
}

/// Numbers of migrations that are missing, doubled or not in the form `0001_name.sql`.
pub(crate) fn check_migrations(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    let mut said = Vec::new();
    for (number, name) in (1..).zip(&names) {
        let good = name.strip_suffix(".sql").and_then(|name| name.split_once('_')).is_some_and(|(digits, words)| {
            digits == format!("{number:04}") && words.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        });
        if !good {
            said.push(format!("{name}: expected {number:04}_<words>.sql"));
        }
    }
    if names.is_empty() {
        said.push("there is none".to_owned());
    }
    said
}

/// Lines of a section, up to the next one.
fn section<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| *line != name).skip(1).take_while(|line| !line.starts_with('[')).collect()
}

#[cfg(test)]
mod tests {
    use super::{check_member, check_migrations, check_reasons};

    #[track_caller]
    fn reasons(lines: &str, expected: usize) {
        let text = format!("[workspace]\nx = 1\n[workspace.dependencies]\n{lines}\n[profile.dev]\ny = 1\n");
        assert_eq!(check_reasons(&text).len(), expected, "{lines}: {:?}", check_reasons(&text));
    }

    #[test]
    fn a_dependency_without_reason_is_found() {
        reasons("# Runtime.\ntokio = \"1\"", 0);
        reasons("# Runtime.\ntokio = \"1\"\nserde = \"1\"", 1);
        reasons("# Runtime.\n\ntokio = { version = \"1\" }", 1);
        reasons("ours = { path = \"x\" }\n# JSON.\nserde = \"1\"", 0);
    }

    #[test]
    fn a_member_takes_all_from_the_workspace() {
        let text =
            |lines: &str| format!("[package]\nname = \"x\"\n[dependencies]\n{lines}\n[lints]\nworkspace = true\n");
        assert!(check_member(&text("tokio.workspace = true\nserde = { workspace = true }")).is_empty());
        assert_eq!(check_member(&text("tokio = \"1\"")).len(), 1);
        assert_eq!(check_member("[dev-dependencies]\nx = { path = \"y\" }\n").len(), 1);
    }

    #[track_caller]
    fn migrations(names: &[&str], expected: usize) {
        let said = check_migrations(names.iter().map(ToString::to_string).collect());
        assert_eq!(said.len(), expected, "{names:?}: {said:?}");
    }

    #[test]
    fn gaps_and_doubles_are_found() {
        migrations(&["0001_core.sql", "0002_more_rows.sql"], 0);
        migrations(&["0001_core.sql", "0003_more.sql"], 1);
        migrations(&["0001_core.sql", "0001_more.sql"], 1);
        migrations(&["1_core.sql"], 1);
        migrations(&["0001_core.txt"], 1);
        migrations(&[], 1);
    }
}
