//! Who posts to a webhook source: signs as Standard Webhooks says (standardwebhooks.com), or wrongly where a test
//! wants it so.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;

/// After which an answer is missing.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// One endpoint and its secret.
#[derive(Clone)]
pub struct WebhookCaller {
    /// The port it is at.
    pub port: u16,
    path: String,
    key: Vec<u8>,
}

/// One call, before it is made.
#[derive(Debug, Clone)]
pub struct Post<'a> {
    /// `webhook-id`.
    pub id: &'a str,
    /// `Content-Type`.
    pub content_type: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// Seconds by which its timestamp is off.
    pub skew: i64,
    /// Whether the signature is another body's.
    pub forged: bool,
}

impl<'a> Post<'a> {
    /// The mail itself.
    #[must_use]
    pub fn mail(id: &'a str, body: &'a [u8]) -> Self {
        Self { id, content_type: "message/rfc822", body, skew: 0, forged: false }
    }

    /// Values of a mail, in JSON.
    #[must_use]
    pub fn notice(id: &'a str, body: &'a [u8]) -> Self {
        Self { content_type: "application/json", ..Self::mail(id, body) }
    }
}

impl WebhookCaller {
    /// From what `source add` printed.
    ///
    /// # Panics
    /// That is no URL on loopback or no secret.
    #[must_use]
    pub fn new(url: &str, secret: &str) -> Self {
        let (port, path) = url
            .strip_prefix("http://127.0.0.1:")
            .and_then(|rest| rest.split_once('/'))
            .unwrap_or_else(|| panic!("no URL on loopback: {url}"));
        let key = secret.strip_prefix("whsec_").expect("a secret of Standard Webhooks");
        Self {
            port: port.parse().expect("a port"),
            path: format!("/{path}"),
            key: BASE64_STANDARD.decode(key).expect("base64"),
        }
    }

    /// Makes the call; the status and the JSON of the answer.
    #[track_caller]
    pub fn post(&self, post: &Post<'_>) -> (u16, Value) {
        let timestamp = jiff::Timestamp::now().as_second() + post.skew;
        let signed: &[u8] = if post.forged { b"another body" } else { post.body };
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes any key");
        mac.update(format!("{}.{timestamp}.", post.id).as_bytes());
        mac.update(signed);
        let signature = BASE64_STANDARD.encode(mac.finalize().into_bytes());
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: {}\r\nContent-Length: {}\r\n\
             webhook-id: {}\r\nwebhook-timestamp: {timestamp}\r\nwebhook-signature: v1,{signature}\r\n\r\n",
            self.path,
            post.content_type,
            post.body.len(),
            post.id
        );
        self.exchange(head.as_bytes(), post.body)
    }

    /// Posts the mail and expects it to be taken; the JSON of the answer.
    #[track_caller]
    pub fn post_mail(&self, id: &str, mail: &[u8]) -> Value {
        let (status, answer) = self.post(&Post::mail(id, mail));
        assert_eq!(status, 202, "taken: {answer}");
        answer
    }

    fn exchange(&self, head: &[u8], body: &[u8]) -> (u16, Value) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the webhook source listens");
        stream.set_read_timeout(Some(ANSWER_LIMIT)).expect("a limit for waiting");
        stream.write_all(head).expect("the head is written");
        // Who refuses a body need not read it.
        drop(stream.write_all(body));
        let mut lines = BufReader::new(stream);
        let mut status_line = String::new();
        lines.read_line(&mut status_line).expect("an answer");
        let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut rest = Vec::new();
        // The line may be reset after the answer where the body was not read.
        drop(lines.read_to_end(&mut rest));
        let rest = String::from_utf8_lossy(&rest);
        let json = rest.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        (status.unwrap_or_else(|| panic!("no answer of HTTP: {status_line:?}")), json.unwrap_or_default())
    }
}
