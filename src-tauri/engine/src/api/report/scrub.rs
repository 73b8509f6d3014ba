//! Takes out of a line whatever could name a person, a place or a mail. Too much is better than too little.

/// Shorter names would be found inside of words.
const NAME_CHARS_MIN: usize = 3;
/// Longer runs of letters and digits are keys, tokens or encoded text.
const KEY_CHARS_MAX: usize = 20;
/// So much of a key stays, to tell it from others.
const KEY_CHARS_KEPT: usize = 8;

/// Knows the names that the owner gave.
pub(super) struct Scrubber {
    names: Vec<String>,
}

impl Scrubber {
    /// With these names, and what an address among them is made of.
    pub(super) fn new(names: &[String]) -> Self {
        let mut all: Vec<String> = names.to_vec();
        all.extend(names.iter().filter_map(|name| name.rsplit_once('@')).map(|(local, _)| local.to_owned()));
        all.extend(std::env::var("HOME").ok());
        all.retain(|name| name.chars().count() >= NAME_CHARS_MIN && !is_number_or_switch(name));
        // The longest first: a name may be a part of another.
        all.sort_by_key(|name| std::cmp::Reverse(name.len()));
        all.dedup();
        Self { names: all }
    }

    /// The line without them.
    pub(super) fn scrub(&self, line: &str) -> String {
        let mut line = line.split("May not have arrived:").next().unwrap_or_default().to_owned();
        for name in &self.names {
            line = line.replace(name.as_str(), "<name>");
        }
        words(&unquoted(&line))
    }
}

fn is_number_or_switch(text: &str) -> bool {
    text.parse::<f64>().is_ok() || matches!(text, "true" | "false")
}

/// What stands in quotes is somebody else's text; a code of the server at its beginning is not.
fn unquoted(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for (place, part) in line.split('"').enumerate() {
        if place % 2 == 0 {
            out.push_str(part);
            continue;
        }
        let code = part.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(code, _)| code);
        match code.filter(|code| code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')) {
            Some(code) => out.push_str(&format!("\"[{code}] <text>\"")),
            None => out.push_str("\"<text>\""),
        }
    }
    out
}

fn words(line: &str) -> String {
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    if word.contains("://") {
        return "<url>".to_owned();
    }
    if word.contains('@') {
        return "<address>".to_owned();
    }
    if word.starts_with('/') || word.contains("/home/") {
        return "<path>".to_owned();
    }
    let is_edge = |c: char| !(c.is_alphanumeric() || c == '<' || c == '>');
    let bare = word.trim_matches(is_edge);
    let shown = match bare {
        _ if is_host(bare) => "<host>".to_owned(),
        _ if is_key(bare) => format!("{}…", bare.chars().take(KEY_CHARS_KEPT).collect::<String>()),
        _ => return word.to_owned(),
    };
    word.replacen(bare, &shown, 1)
}

/// Labels parted by dots (or an address of four numbers), with a port or without.
fn is_host(text: &str) -> bool {
    let host = text.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(text, |(host, _)| host);
    if host.parse::<std::net::IpAddr>().is_ok_and(|address| !address.is_loopback()) {
        return true;
    }
    let labels: Vec<&str> = host.split('.').collect();
    let is_label = |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let ends_in_letters =
        labels.last().is_some_and(|last| last.chars().count() > 1 && last.chars().all(char::is_alphabetic));
    labels.len() > 1 && labels.iter().all(is_label) && ends_in_letters
}

fn is_key(text: &str) -> bool {
    let is_long = text.chars().count() > KEY_CHARS_MAX;
    is_long
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_'))
        && text.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_names_anybody_stays() {
        let names = ["mira@example.org", "imap.example.org", "Mira's phone", "Work/Taxes", "993", "true"];
        let scrubber = Scrubber::new(&names.map(str::to_owned));
        let case = |line: &str, expected: &str| assert_eq!(scrubber.scrub(line), expected, "{line}");
        case(
            "2026-05-14T14:31:40.1Z  WARN A source ended: it is away",
            "2026-05-14T14:31:40.1Z  WARN A source ended: it is away",
        );
        case("imap.example.org refused mira, 993", "<name> refused <name>, 993");
        case("to Mira's phone of mira@example.org", "to <name> of <name>");
        case("mail.other.example:143, and 10.0.0.7:80 but 127.0.0.1", "<host>, and <host> but 127.0.0.1");
        case("user@elsewhere.example said", "<address> said");
        case("POST https://ntfy.sh/topic failed", "POST <url> failed");
        case("/home/somebody/file is gone", "<path> is gone");
        case("it said \"Dear Mira, your taxes\"", "it said \"<text>\"");
        case("refused: \"[AUTHENTICATIONFAILED] no user ada\"", "refused: \"[AUTHENTICATIONFAILED] <text>\"");
        case("May not have arrived: Your results are ready", "");
        case("an open quote \"Dear Mira", "an open quote \"<text>\"");
        case("token tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2 is", "token tk_AgQdq… is");
        case("Work/Taxes, the folder", "<name>, the folder");
    }

    #[test]
    fn our_own_words_stay() {
        let scrubber = Scrubber::new(&[]);
        for line in ["state=watching method=idle", "retry.backoff_seconds 5,20,60", "0.1.0 started in 12.5 ms", "a. b"]
        {
            assert_eq!(scrubber.scrub(line), line);
        }
    }
}
