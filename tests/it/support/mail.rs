//! Mails of the tests: plain ones, huge ones, and those that break parsers.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// A mail in the making. What is not said is sensible: sent now, a Message-ID nobody else uses.
#[derive(Debug, Clone)]
pub struct Mail {
    headers: Vec<(String, String)>,
    body: String,
    message_id: String,
}

impl Mail {
    /// With this subject.
    #[must_use]
    pub fn new(subject: &str) -> Self {
        let message_id = format!("<{}@example.org>", unique());
        let headers = [
            ("From", "Ada <ada@example.org>".to_owned()),
            ("To", "owner@localhost".to_owned()),
            ("Subject", subject.to_owned()),
            ("Message-ID", message_id.clone()),
            ("Date", now()),
            ("MIME-Version", "1.0".to_owned()),
            ("Content-Type", "text/plain; charset=utf-8".to_owned()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Self { headers, body: format!("This is {subject}.\r\n"), message_id }
    }

    /// Replaces a header, or adds it.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        match self.headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, old)) => value.clone_into(old),
            None => self.headers.push((name.to_owned(), value.to_owned())),
        }
        if name.eq_ignore_ascii_case("Message-ID") {
            value.clone_into(&mut self.message_id);
        }
        self
    }

    /// Without a header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// With this text.
    #[must_use]
    pub fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    /// Its Message-ID, with brackets.
    #[must_use]
    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    /// The mail.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{text}\r\n{}", self.body).into_bytes()
    }
}

/// Writes a mail of about this many bytes, a text and one attachment, without holding it in memory.
///
/// # Errors
/// `out` does.
pub fn write_large(mail: &Mail, bytes: u64, out: &mut impl Write) -> io::Result<()> {
    let head = mail.clone().header("Content-Type", "multipart/mixed; boundary=\"part\"").body(
        "--part\r\nContent-Type: text/plain\r\n\r\nSee attachment.\r\n--part\r\nContent-Type: application/octet-stream\r\n\
         Content-Disposition: attachment; filename=\"large.bin\"\r\nContent-Transfer-Encoding: base64\r\n\r\n",
    );
    out.write_all(&head.bytes())?;
    let line = format!("{}\r\n", "QUJD".repeat(19));
    for _ in 0..bytes / line.len() as u64 {
        out.write_all(line.as_bytes())?;
    }
    out.write_all(b"--part--\r\n")
}

/// Mails that must never end the program nor get lost, each with a name for the failed assertion.
#[must_use]
pub fn nasty() -> Vec<(&'static str, Vec<u8>)> {
    let plain = |subject: &str| Mail::new(subject);
    let recipients: Vec<String> = (0..10_000).map(|n| format!("Recipient {n} <r{n}@example.org>")).collect();
    let mut open_header = plain("Header without end").bytes();
    open_header.truncate(open_header.len() - 40);
    open_header.extend((0..20_000).flat_map(|n| format!("X-Header-{n}: {n}\r\n").into_bytes()));
    vec![
        ("empty", Vec::new()),
        ("one line end", b"\r\n".to_vec()),
        ("random bytes", random_bytes(65_536)),
        ("header without end", open_header),
        ("10,000 recipients", plain("Many").header("To", &recipients.join(",\r\n ")).bytes()),
        ("NUL bytes", [plain("N\0U\0L").bytes(), vec![0; 4096], b"after\0\r\n".to_vec()].concat()),
        ("MIME a thousand deep", nested(1000)),
        ("message in message a thousand deep", forwarded(1000)),
        ("one line of a megabyte", plain("Long line").body(&"x".repeat(1 << 20)).bytes()),
        ("a subject of a megabyte", plain(&"x".repeat(1 << 20)).bytes()),
        ("encoded words that do not end", plain("=?utf-8?B?=?utf-8?Q?=?=?utf-8?B?4pyT").bytes()),
        ("bare line feeds and carriage returns", b"Subject: a\rb\nFrom: x@example.org\r\r\n\n\rbody\r".to_vec()),
        ("boundary that is empty", plain("b").header("Content-Type", "multipart/mixed; boundary=\"\"").bytes()),
        ("date out of range", plain("d").header("Date", "Mon, 99 Foo 99999999999 99:99:99 +9999").bytes()),
        ("8-bit header", [b"Subject: \xff\xfe\x80 \xc3\x28\r\nFrom: \xe9@example.org\r\n\r\nx\r\n".to_vec()].concat()),
        ("comments nested a thousand deep", plain("c").header("From", &deep_comment(1000)).bytes()),
    ]
}

fn nested(depth: usize) -> Vec<u8> {
    let mut text = "Subject: Nested\r\nFrom: ada@example.org\r\nMIME-Version: 1.0\r\n".to_owned();
    for level in 0..depth {
        text.push_str(&format!("Content-Type: multipart/mixed; boundary=\"b{level}\"\r\n\r\n--b{level}\r\n"));
    }
    text.push_str("Content-Type: text/plain\r\n\r\nDeep down.\r\n");
    for level in (0..depth).rev() {
        text.push_str(&format!("--b{level}--\r\n"));
    }
    text.into_bytes()
}

fn forwarded(depth: usize) -> Vec<u8> {
    let one = "Subject: Forwarded\r\nFrom: ada@example.org\r\nContent-Type: message/rfc822\r\n\r\n";
    format!("{}Subject: The first\r\n\r\nHello\r\n", one.repeat(depth)).into_bytes()
}

fn deep_comment(depth: usize) -> String {
    format!("{}x{} <ada@example.org>", "(".repeat(depth), ")".repeat(depth))
}

/// Always the same bytes, so that a failure can be repeated (xorshift).
fn random_bytes(count: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..count).map(|_| next()).collect()
}

/// Now, as a mail says it (RFC 5322 section 3.3).
fn now() -> String {
    jiff::fmt::rfc2822::to_string(&jiff::ZonedDateTime::now()).expect("now can be written")
}

/// Unlike in any other mail of any test run.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanosecond = jiff::Timestamp::now().as_nanosecond();
    format!("{nanosecond}.{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
