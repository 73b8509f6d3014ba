//! Links to a mail, made from the owner's template for its mailbox. Only schemes that open something to read are taken.

use url::Url;

/// Schemes a link may have: web mail, and programs that find a mail by its Message-ID.
const SCHEMES: [&str; 4] = ["https", "http", "mid", "message"];
/// What stands for the Message-ID, without angle brackets.
const MESSAGE_ID: &str = "{message_id}";
/// What stands for the owner's address.
const EMAIL: &str = "{email}";
/// Longest template.
const TEMPLATE_BYTES_MAX: usize = 2000;

/// Whether a text may be the template of a mailbox; the error says in words what would.
///
/// # Errors
/// What would fit.
pub fn check_template(template: &str) -> Result<(), &'static str> {
    let wanted = "a link that begins with https:, http:, mid: or message: and has {message_id} in it, after the host";
    // What comes from a mail must not choose whom to call.
    let [one, other] = ["a@b", "c@d"].map(|id| parse(&filled(template, id, id)));
    let (Some(one), Some(other)) = (one, other) else { return Err(wanted) };
    let same = one.scheme() == other.scheme() && one.host() == other.host() && one.port() == other.port();
    if !same || template.len() > TEMPLATE_BYTES_MAX || !template.contains(MESSAGE_ID) {
        return Err(wanted);
    }
    Ok(())
}

/// The link to a mail.
#[must_use]
pub fn of_mail(template: &str, message_id: &str, email: &str) -> Option<Url> {
    check_template(template).ok()?;
    parse(&filled(template, message_id, email))
}

fn filled(template: &str, message_id: &str, email: &str) -> String {
    template.replace(EMAIL, &encoded(email)).replace(MESSAGE_ID, &encoded(message_id))
}

/// The URL in a text, where it may be given to the system to open.
#[must_use]
pub fn parse(text: &str) -> Option<Url> {
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    let url = Url::parse(text).ok().filter(|url| SCHEMES.contains(&url.scheme()))?;
    let is_web = matches!(url.scheme(), "https" | "http");
    let has_name = !url.username().is_empty() || url.password().is_some();
    (!has_name && (!is_web || url.host_str().is_some_and(|host| !host.is_empty()))).then_some(url)
}

/// Percent-encoded but for what stands for itself everywhere (RFC 3986 section 2.3).
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut safe, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            safe.push(char::from(byte));
        } else {
            let _ = write!(safe, "%{byte:02X}");
        }
        safe
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_filled_in_and_nothing_in_a_mail_breaks_out() {
        let check = |template: &str, id: &str, expected: Option<&str>| {
            let link = of_mail(template, id, "me@example.com").map(String::from);
            assert_eq!(link.as_deref(), expected, "{template} {id}");
        };
        let search = "https://mail.example/u/{email}/#search/rfc822msgid:{message_id}";
        check(search, "a+b@x", Some("https://mail.example/u/me%40example.com/#search/rfc822msgid:a%2Bb%40x"));
        check("mid:{message_id}", "a@x", Some("mid:a%40x"));
        check("message:%3C{message_id}%3E", "a@x", Some("message:%3Ca%40x%3E"));
        check(
            "https://m.example/?q={message_id}",
            "x&y=\" z/../",
            Some("https://m.example/?q=x%26y%3D%22%20z%2F..%2F"),
        );
        check("https://m.example/{message_id}", "{email}@x", Some("https://m.example/%7Bemail%7D%40x"));
    }

    #[test]
    fn what_is_no_link_to_a_mail_is_refused() {
        for template in [
            "",
            "mail.example/{message_id}",
            "https://mail.example/inbox",
            "javascript:alert('{message_id}')",
            "file:///{message_id}",
            "ssh://x/{message_id}",
            "https://{message_id}/",
            "https://{message_id}.example/",
            "https://x:{message_id}@mail.example/",
            "{message_id}:x",
            "https:///{message_id}x y",
            "-https://x/{message_id}",
            "https://m.example/{message_id}\n",
        ] {
            assert!(check_template(template).is_err(), "{template:?}");
            assert!(of_mail(template, "a@b", "c@d").is_none(), "{template:?}");
        }
        assert!(check_template(&format!("https://m/{{message_id}}{}", "x".repeat(2000))).is_err(), "too long");
    }
}
