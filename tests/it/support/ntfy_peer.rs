//! ntfy as its server and its documentation describe it: JSON publish, the cache, `poll` with `since`, error bodies.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::{Answer, Request};
use crate::support::http_peer::{App, HttpPeer, Mode};
use crate::support::wait;

/// Longest message that stays a message; longer ones become an attachment.
const MESSAGE_BYTES_MAX: usize = 4096;
/// How long the cache keeps a message, seconds.
const CACHE_SECONDS: i64 = 12 * 3600;

/// The server's state.
#[derive(Default)]
pub struct Ntfy {
    /// Publishing and reading take this token.
    pub token: Option<String>,
    /// Nobody may read.
    pub deny_reads: bool,
    /// Keeps nothing: a lookup finds nothing although it arrived.
    pub cache_off: bool,
    /// Rows appear this late (batch writes of the server).
    pub cache_delay: Duration,
    /// Older than 2.16: takes `sequence_id` silently and does not give it back.
    pub without_sequences: bool,
    published: Vec<Value>,
    cache: Vec<(Instant, Value)>,
}

impl Ntfy {
    /// A current server with an open topic.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every message its subscribers were told.
    #[must_use]
    pub fn published(&self) -> &[Value] {
        &self.published
    }

    /// The look-back has passed: the cache is empty.
    pub fn clear_cache(&mut self) {
        self.cache.clear();
    }

    /// 401 or 403, where it must not.
    fn refusal(&self, request: &Request) -> Option<Answer> {
        let token = self.token.as_ref()?;
        match request.header("authorization") {
            Some(header) if header == format!("Bearer {token}") => None,
            Some(_) => Some(error(401, 40101, "unauthorized")),
            None => Some(error(403, 40301, "forbidden")),
        }
    }

    fn publish(&mut self, request: &Request) -> Answer {
        let Ok(Value::Object(sent)) = serde_json::from_slice(&request.body) else {
            return error(400, 40024, "invalid request: request body must be valid JSON");
        };
        let text = |key: &str| sent.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(topic) = text("topic").filter(|topic| is_name(topic)) else {
            return error(400, 40009, "invalid request: topic invalid");
        };
        if text("sequence_id").is_some_and(|sequence| !is_name(sequence)) {
            return error(400, 40049, "invalid request: sequence ID invalid");
        }
        let now = jiff::Timestamp::now().as_second();
        let message = text("message").unwrap_or("triggered");
        let mut answer = json!({
            "id": format!("mSg{:09}", self.published.len() + 1), "time": now, "expires": now + CACHE_SECONDS,
            "event": "message", "topic": topic, "message": message,
        });
        for key in ["title", "priority", "tags", "click", "sequence_id"] {
            if let Some(value) = sent.get(key).filter(|_| key != "sequence_id" || !self.without_sequences) {
                answer[key] = value.clone();
            }
        }
        if message.len() > MESSAGE_BYTES_MAX {
            answer["message"] = "You received a file: attachment.txt".into();
            answer["attachment"] = json!({"name": "attachment.txt", "type": "text/plain", "size": message.len()});
        }
        self.published.push(answer.clone());
        if self.cache_off {
            answer.as_object_mut().expect("made above").remove("expires");
        } else {
            self.cache.push((Instant::now() + self.cache_delay, answer.clone()));
        }
        Answer::json(200, &answer)
    }

    fn poll(&self, request: &Request) -> Answer {
        let topics = request.path().trim_start_matches('/').trim_end_matches("/json");
        let topics: Vec<&str> = topics.split(',').collect();
        if self.deny_reads {
            return error(403, 40301, "forbidden");
        }
        let now = Instant::now();
        let rows: Vec<&Value> = self
            .cache
            .iter()
            .filter(|(visible_from, _)| *visible_from <= now)
            .map(|(_, row)| row)
            .filter(|row| topics.iter().any(|topic| row["topic"] == *topic))
            .collect();
        let since = request.query("since").unwrap_or("all");
        let Some(rows) = after(&rows, since) else {
            return error(400, 40008, "invalid request: since parameter is invalid");
        };
        let body: String = rows.iter().map(|row| format!("{row}\n")).collect();
        Answer::status(200).header("Content-Type", "application/x-ndjson; charset=utf-8").body(body)
    }
}

impl App for Ntfy {
    fn take(&mut self, request: &Request) -> Answer {
        if let Some(refusal) = self.refusal(request) {
            return refusal;
        }
        match (request.method.as_str(), request.path()) {
            ("GET", "/v1/health") => Answer::json(200, &json!({"healthy": true})),
            ("GET", path) if path.ends_with("/json") => self.poll(request),
            ("POST" | "PUT", "/") => self.publish(request),
            _ => error(404, 40401, "page not found"),
        }
    }
}

impl HttpPeer<Ntfy> {
    /// Waits until that many messages were published.
    #[track_caller]
    pub fn wait_published(&self, count: usize, limit: Duration) -> Vec<Value> {
        wait::until(&format!("{count} messages were published"), limit, || self.app().published.len() >= count);
        self.app().published.clone()
    }
}

/// Refused as ntfy refuses: without `Retry-After`. 42901: too many requests; 42908: the day's messages are used up.
#[must_use]
pub fn too_many(code: u32) -> Mode {
    Mode::Answer(error(429, code, "limit reached: too many requests, please be nice"))
}

/// Any other refusal in ntfy's words.
#[must_use]
pub fn refusal(status: u16, code: u32) -> Mode {
    Mode::Answer(error(status, code, "refused"))
}

fn error(status: u16, code: u32, text: &str) -> Answer {
    Answer::json(status, &json!({"code": code, "http": status, "error": text, "link": "https://ntfy.sh/docs/publish/"}))
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Rows after `since`: `all`, unix seconds, a duration, or the id of a row. `None`: it is none of these.
fn after<'a>(rows: &[&'a Value], since: &str) -> Option<Vec<&'a Value>> {
    let from = |second: i64| rows.iter().copied().filter(|row| row["time"].as_i64() >= Some(second)).collect();
    if since == "all" {
        return Some(rows.to_vec());
    }
    if let Ok(second) = since.parse() {
        return Some(from(second));
    }
    if let Some(position) = rows.iter().position(|row| row["id"] == since) {
        return Some(rows[position + 1..].to_vec());
    }
    let (number, unit) = since.split_at(since.len().checked_sub(1)?);
    match (number.parse::<i64>(), unit) {
        (Ok(number), "s") => Some(number),
        (Ok(number), "m") => Some(number * 60),
        (Ok(number), "h") => Some(number * 3600),
        // An id that is not in the cache (any more) means all of it.
        _ if is_name(since) => return Some(rows.to_vec()),
        _ => return None,
    }
    .map(|seconds| from(jiff::Timestamp::now().as_second() - seconds))
}
