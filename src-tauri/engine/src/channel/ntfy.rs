//! Channel `ntfy`: a message published as JSON to a topic of an ntfy server.
//!
//! The server drops no repeats, but it can be asked: the key goes with the message as its `sequence_id` and
//! stands in the topic's cache for 12 hours. Servers before 2.16 forget it, which their answer shows; to those
//! the key goes as a tag as well.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::channel::http_call::{self, Call};
use crate::channel::text::{MAY_BE_REPEAT, cut_bytes};
use crate::channel::{
    Channel, Class, Configured, Field, Form, Gate, Job, Kind, Limits, Lookup, configure, http_outcome,
};
use crate::clock::Clock;
use crate::model::destination::Policy;
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DispatchKey;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode};
use crate::net::error::NetErrorKind;
use crate::net::http::{self, Answer, Client, HttpError, HttpErrorKind, Request};
use crate::net::tls::Trust;

/// The server keeps messages for 12 h by default; an hour less, for clocks and late questions.
const LOOK_BACK: Duration = Duration::from_secs(11 * 3600);
/// Asked for from this long before the message was sent: the server's clock may be behind, and what others sent
/// in between shows that the topic can be read at all.
const LOOKUP_MARGIN_SECONDS: i64 = 3600;
/// The server makes an attachment of a longer message.
const MESSAGE_BYTES_MAX: usize = 4096;
const TITLE_BYTES_MAX: usize = 250;
/// Without `Retry-After`: the bucket gains one request in 5 s; a day's quota is not worth asking for soon.
const SHORT_WAIT: Duration = Duration::from_secs(10);
const LONG_WAIT: Duration = Duration::from_secs(3600);

/// A message is in the topic's cache at the latest this long after it was accepted.
const CACHE_LATE_MS: i64 = 120_000;

const CLASS: Class = Class::B { look_back: LOOK_BACK };

/// The channel.
pub const KIND: Kind = Kind {
    id: "ntfy",
    name_key: "channel.ntfy",
    classify: |_| CLASS,
    window: None,
    lookup: true,
    retract: false,
    limits: Limits { title_bytes_max: TITLE_BYTES_MAX, body_bytes_max: MESSAGE_BYTES_MAX },
    policy: Policy::NeverTwice,
    max_age_seconds: None,
    fields: &[
        Field {
            key: "server",
            secret: false,
            target: true,
            required: false,
            default: Some("https://ntfy.sh"),
            form: Form::Url,
        },
        Field { key: "topic", secret: false, target: true, required: true, default: None, form: Form::Text },
        Field {
            key: "priority",
            secret: false,
            target: false,
            required: false,
            default: Some("3"),
            form: Form::Number { min: 1, max: 5 },
        },
        Field { key: "token", secret: true, target: false, required: false, default: None, form: Form::Text },
    ],
    build,
};

struct Ntfy {
    /// Ends with a slash.
    server: Url,
    topic: String,
    priority: i64,
    authorization: Option<HeaderValue>,
    client: Client,
    limit: Duration,
    clock: Clock,
    /// An answer gave our key back, or a message in the topic had one: the server knows keys.
    keeps_keys: AtomicBool,
    /// An answer came without our key: the server is older and the key has to be a tag.
    needs_tags: AtomicBool,
    /// The newest message that surely is in the topic, and when it was accepted.
    newest: Mutex<Option<(DispatchKey, i64)>>,
}

/// What is published (docs.ntfy.sh/publish, "Publish as JSON").
#[derive(Serialize)]
struct Publish<'a> {
    topic: &'a str,
    title: String,
    message: String,
    priority: i64,
    sequence_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    click: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<[&'a str; 1]>,
}

/// A message as the server tells it.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: String,
    #[serde(default)]
    event: String,
    /// Left out where it is the same as `id`, so only keys given by somebody appear.
    #[serde(default)]
    sequence_id: String,
    #[serde(default)]
    tags: Vec<String>,
}

/// An error as the server tells it.
#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: u32,
}

fn build(configured: Configured) -> Result<Arc<dyn Channel>, Fault> {
    let mut server = configure::url(&configured.fields, "server")?;
    if !server.path().ends_with('/') {
        let path = format!("{}/", server.path());
        server.set_path(&path);
    }
    server.set_query(None);
    let invalid = |cause: &str, next_step: &str| {
        Fault::new(FaultCode::Invalid, "The destination cannot be used", cause, next_step)
    };
    let topic = configured.fields.get("topic").cloned().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if topic.is_empty() || topic.len() > 64 || !topic.chars().all(fits) {
        return Err(invalid(
            "its topic is not one of ntfy",
            "give 1 to 64 letters, digits, hyphens and underscores, without the server",
        ));
    }
    let authorization = match configured.secrets.get("token") {
        None => None,
        Some(token) => {
            let value = http::secret_value(&format!("Bearer {}", token.expose_secret().trim()));
            Some(value.ok_or_else(|| invalid("its token cannot be one", "copy it again from the server"))?)
        }
    };
    Ok(Arc::new(Ntfy {
        server,
        topic,
        priority: configured.fields.get("priority").and_then(|text| text.parse().ok()).unwrap_or(3),
        authorization,
        client: Client::new(Trust::System),
        limit: configured.call_timeout,
        clock: configured.clock,
        keeps_keys: AtomicBool::new(false),
        needs_tags: AtomicBool::new(false),
        newest: Mutex::new(None),
    }))
}

impl Ntfy {
    fn headers(&self) -> HeaderMap {
        self.authorization.iter().map(|value| (AUTHORIZATION, value.clone())).collect()
    }

    fn publish(&self, job: &Job) -> Request {
        let payload = &job.payload;
        let mark = if job.may_be_repeat { MAY_BE_REPEAT } else { "" };
        let key = payload.dispatch_key.as_str();
        // An empty message becomes "triggered" on the server.
        let message = if payload.body.trim().is_empty() { &payload.title } else { &payload.body };
        let publish = Publish {
            topic: &self.topic,
            title: cut_bytes(&format!("{mark}{}", payload.title), TITLE_BYTES_MAX),
            message: cut_bytes(message, MESSAGE_BYTES_MAX),
            priority: self.priority,
            sequence_id: key,
            click: &payload.link,
            tags: self.needs_tags.load(Ordering::Relaxed).then_some([key]),
        };
        let mut headers = self.headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // Strings and numbers: there is nothing in it that JSON cannot say.
        let body = serde_json::to_vec(&publish).unwrap_or_default();
        Request { method: Method::POST, headers, body: body.into() }
    }

    async fn attempt(&self, job: &Job, gate: &dyn Gate) -> AttemptOutcome {
        let limit = self.limit;
        let call = Call { client: &self.client, url: &self.server, class: CLASS, limit, clock: &self.clock };
        let answer = match call.send(self.publish(job), gate, |answer| refused(answer, self.clock.now())).await {
            Ok(answer) => answer,
            Err(outcome) => return outcome,
        };
        let message = answer.body.as_ref().and_then(|body| serde_json::from_slice::<Message>(body).ok());
        match message {
            Some(message) if answer.status == StatusCode::OK && !message.id.is_empty() => {
                let key = &job.payload.dispatch_key;
                let kept = message.sequence_id == key.as_str();
                self.keeps_keys.store(kept, Ordering::Relaxed);
                self.needs_tags.store(!kept, Ordering::Relaxed);
                *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some((key.clone(), self.clock.now()));
                AttemptOutcome::Accepted { external_id: Some(message.id) }
            }
            // A proxy, or the page of a hotel's network: nobody knows whether the server saw it.
            _ => http_outcome::bad_answer("The answer is not one of ntfy: there is no id in it"),
        }
    }

    /// Everything in the topic since a time.
    async fn poll(&self, since: i64) -> Result<Answer, HttpError> {
        let mut url = self.server.clone();
        let path = format!("{}{}/json", url.path(), self.topic);
        url.set_path(&path);
        url.query_pairs_mut().append_pair("poll", "1").append_pair("since", &since.max(2).to_string());
        let request = Request { method: Method::GET, headers: self.headers(), body: Bytes::new() };
        self.client.ask(&url, request, self.limit).await
    }

    async fn find(&self, key: &DispatchKey, sent_at: i64) -> Lookup {
        let control = self.control();
        let from = control.as_ref().map_or(sent_at, |(_, at)| sent_at.min(*at));
        let answer = match self.poll(from / 1000 - LOOKUP_MARGIN_SECONDS).await {
            Ok(answer) => answer,
            Err(error) => return Lookup::Failed(not_asked(&error)),
        };
        let of = |code| ChannelError::new(code, format!("The server answered {}", answer.status.as_u16()));
        match answer.status.as_u16() {
            200 => {}
            401 | 403 => return Lookup::CannotTell(of(ErrorCode::AuthenticationError)),
            429 => return Lookup::Failed(of(ErrorCode::RateLimit)),
            _ => return Lookup::Failed(of(ErrorCode::TemporaryUnavailable)),
        }
        let Some(messages) = messages(&answer) else {
            let detail = "The answer is not a list of messages of ntfy";
            return Lookup::Failed(ChannelError::new(ErrorCode::BadAnswer, detail));
        };
        self.judge(&messages, key, control.as_ref())
    }

    fn judge(&self, messages: &[Message], key: &DispatchKey, control: Option<&(DispatchKey, i64)>) -> Lookup {
        let has = |message: &Message, key: &DispatchKey| {
            message.sequence_id == key.as_str() || message.tags.iter().any(|tag| tag == key.as_str())
        };
        if let Some(found) = messages.iter().find(|message| has(message, key)) {
            return Lookup::Found { external_id: (!found.id.is_empty()).then(|| found.id.clone()) };
        }
        let cannot_tell = |detail: &str| Lookup::CannotTell(ChannelError::new(ErrorCode::BadAnswer, detail.to_owned()));
        if messages.iter().any(|message| !message.sequence_id.is_empty()) {
            self.keeps_keys.store(true, Ordering::Relaxed);
        }
        let is_nameless =
            |message: &Message| message.sequence_id.is_empty() && !message.tags.iter().any(|tag| is_key(tag));
        if !self.keeps_keys.load(Ordering::Relaxed) && messages.iter().any(is_nameless) {
            return cannot_tell("This server is older than ntfy 2.16 and does not say which message is which");
        }
        match control.filter(|(control, _)| !messages.iter().any(|message| has(message, control))) {
            None => Lookup::Absent,
            // The server may write its cache in batches.
            Some((_, at)) if self.clock.now() - at < CACHE_LATE_MS => Lookup::Failed(ChannelError::new(
                ErrorCode::TemporaryUnavailable,
                "The topic does not show yet what was sent to it",
            )),
            Some(_) => cannot_tell("The topic does not show what was sent to it: its cache is off or was emptied"),
        }
    }

    /// A message that has to be in the answer where the topic can be read; too old ones may be gone.
    fn control(&self) -> Option<(DispatchKey, i64)> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let oldest = self.clock.now() - i64::try_from(LOOK_BACK.as_millis()).unwrap_or(i64::MAX);
        newest.filter(|(_, at)| *at > oldest)
    }
}

/// What ntfy says beyond the status: which limit was met, and who does not listen.
fn refused(answer: &Answer, now_at: i64) -> Option<AttemptOutcome> {
    let refusal: Refusal = serde_json::from_slice(answer.body.as_ref()?).ok()?;
    let error = |code| ChannelError::new(code, format!("ntfy answered with error {}", refusal.code));
    match (answer.status.as_u16(), refusal.code) {
        (429, code) => {
            let own = match code {
                42_901 => Some(SHORT_WAIT),
                42_904 | 42_908 => Some(LONG_WAIT),
                _ => None,
            };
            let retry_after = http_outcome::retry_after(&answer.headers, now_at).or(own);
            Some(AttemptOutcome::Deferred { error: error(ErrorCode::RateLimit), retry_after, environment: false })
        }
        (507, 50_701) => Some(AttemptOutcome::Rejected { error: error(ErrorCode::InvalidRecipient) }),
        _ => None,
    }
}

/// The messages of a poll, one JSON object a line; `None` where it is something else.
fn messages(answer: &Answer) -> Option<Vec<Message>> {
    let is_json = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("json"));
    if !answer.headers.get(CONTENT_TYPE).is_none_or(is_json) {
        return None;
    }
    let text = std::str::from_utf8(answer.body.as_ref()?).ok()?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let all: Vec<Message> = lines.map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    Some(all.into_iter().filter(|message| matches!(message.event.as_str(), "message" | "")).collect())
}

fn is_key(tag: &str) -> bool {
    tag.len() == 64 && tag.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn not_asked(error: &HttpError) -> ChannelError {
    let code = match error.kind {
        HttpErrorKind::Connect(NetErrorKind::NoNetwork) => ErrorCode::NoNetwork,
        HttpErrorKind::Connect(_) => ErrorCode::ConnectionReset,
        HttpErrorKind::Timeout | HttpErrorKind::Closed => ErrorCode::NoAnswer,
        HttpErrorKind::Malformed => ErrorCode::BadAnswer,
    };
    ChannelError::new(code, error.detail.clone())
}

impl Channel for Ntfy {
    fn class(&self) -> Class {
        CLASS
    }

    fn send<'a>(&'a self, job: &'a Job, gate: &'a dyn Gate) -> BoxFuture<'a, AttemptOutcome> {
        self.attempt(job, gate).boxed()
    }

    fn check(&self) -> BoxFuture<'_, Result<(), Fault>> {
        async {
            let answer = self.poll(self.clock.now() / 1000).await.map_err(|error| http_call::unreachable(&error))?;
            match answer.status.as_u16() {
                200 if messages(&answer).is_some() => Ok(()),
                200 => Err(Fault::new(
                    FaultCode::Protocol,
                    "The destination cannot be used",
                    "what answered is not an ntfy server",
                    "check the server's address",
                )),
                // Some may write to a topic and not read it; whether this one may cannot be asked silently.
                403 => {
                    tracing::warn!("The topic cannot be read: an unanswered notification cannot be looked up");
                    Ok(())
                }
                _ => Err(http_call::refused(answer.status)),
            }
        }
        .boxed()
    }

    fn lookup<'a>(&'a self, key: &'a DispatchKey, sent_at: i64) -> BoxFuture<'a, Lookup> {
        self.find(key, sent_at).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::trial::{self, Counted, KEY, NOW_AT, job, short};
    use crate::net::scripted::{Act, Peer, answer};

    const SENT: &str = "{\"id\":\"Ab1\",\"time\":1,\"event\":\"message\",\"topic\":\"mail\"";

    fn build(peer: &Peer) -> Arc<dyn Channel> {
        trial::build(&KIND, &[("server", &peer.url("")), ("topic", "mail")], &[("token", "tk_secret")]).unwrap()
    }

    fn echo() -> Act {
        Act::Answer(answer("200 OK", "", &format!("{SENT},\"sequence_id\":\"{KEY}\"}}")))
    }

    fn forgetful() -> Act {
        Act::Answer(answer("200 OK", "", &format!("{SENT}}}")))
    }

    fn list(lines: &[&str]) -> Act {
        Act::Answer(answer("200 OK", "content-type: application/x-ndjson; charset=utf-8\r\n", &lines.join("\n")))
    }

    fn other_key() -> DispatchKey {
        "b".repeat(64).into()
    }

    #[tokio::test]
    async fn the_message_is_published_as_json() {
        let mut peer = Peer::start(vec![echo()]).await;
        let outcome = build(&peer).send(&job(), &Counted::default()).await;
        assert_eq!(outcome, AttemptOutcome::Accepted { external_id: Some("Ab1".to_owned()) });
        let seen = peer.next().await;
        assert!(seen.head.starts_with("POST / HTTP/1.1"), "{}", seen.head);
        assert_eq!(seen.header("authorization"), Some("Bearer tk_secret"));
        let expected = format!(
            "{{\"topic\":\"mail\",\"title\":\"Anna: Hällo\",\"message\":\"First \\\"words\\\"\",\"priority\":3,\
             \"sequence_id\":\"{KEY}\"}}"
        );
        assert_eq!(seen.body, expected);
    }

    #[tokio::test]
    async fn texts_fit_the_server_and_say_what_they_are() {
        let channel = async |job: Job| {
            let mut peer = Peer::start(vec![echo()]).await;
            build(&peer).send(&job, &Counted::default()).await;
            serde_json::from_str::<serde_json::Value>(&peer.next().await.body).unwrap()
        };
        let mut long = job();
        long.payload.body = "ä".repeat(3000);
        long.payload.title = "ö".repeat(300);
        long.payload.link = "https://example.com/".to_owned();
        let body = channel(long).await;
        let message = body["message"].as_str().unwrap();
        assert_eq!((message.len(), message.ends_with('…')), (4095, true), "never an attachment: {}", message.len());
        assert!(body["title"].as_str().unwrap().len() <= TITLE_BYTES_MAX);
        assert_eq!(body["click"], "https://example.com/");
        let mut empty = job();
        empty.payload.body = " ".to_owned();
        assert_eq!(channel(empty).await["message"], "Anna: Hällo", "an empty message would read \"triggered\"");
        let repeat = Job { may_be_repeat: true, ..job() };
        assert_eq!(channel(repeat).await["title"], "May be a repeat: Anna: Hällo");
    }

    #[tokio::test]
    async fn what_the_server_says_decides_the_outcome() {
        use ErrorCode::ServerError;
        use ErrorCode::{AuthenticationError, BadAnswer, InvalidPayload, InvalidRecipient, NoAnswer, RateLimit};
        let check = async |act: Act, expected: (&str, Option<ErrorCode>), wait: Option<Duration>| {
            let peer = Peer::start(vec![act.clone()]).await;
            let outcome = build(&peer).send(&job(), &Counted::default()).await;
            assert_eq!(short(&outcome), expected, "{act:?}: {outcome:?}");
            let waits = if let AttemptOutcome::Deferred { retry_after, .. } = outcome { retry_after } else { None };
            assert_eq!(waits, wait, "{act:?}");
        };
        let says = |status: &str, headers: &str, body: &str| Act::Answer(answer(status, headers, body));
        let limit = ("deferred", Some(RateLimit));
        check(says("429 X", "", "{\"code\":42901,\"http\":429}"), limit, Some(SHORT_WAIT)).await;
        check(says("429 X", "", "{\"code\":42908,\"http\":429}"), limit, Some(LONG_WAIT)).await;
        check(says("429 X", "", "{\"code\":42904,\"http\":429}"), limit, Some(LONG_WAIT)).await;
        check(says("429 X", "", "{\"code\":42909,\"http\":429}"), limit, None).await;
        check(says("429 X", "", "slow down"), limit, None).await;
        let told = says("429 X", "retry-after: 7\r\n", "{\"code\":42908}");
        check(told, limit, Some(Duration::from_secs(7))).await;
        check(says("401 X", "", "{\"code\":40101}"), ("rejected", Some(AuthenticationError)), None).await;
        check(says("403 X", "", "{\"code\":40301}"), ("rejected", Some(AuthenticationError)), None).await;
        check(says("400 X", "", "{\"code\":40009}"), ("rejected", Some(InvalidPayload)), None).await;
        check(says("413 X", "", "{\"code\":41303}"), ("rejected", Some(InvalidPayload)), None).await;
        check(says("507 X", "", "{\"code\":50701}"), ("rejected", Some(InvalidRecipient)), None).await;
        check(says("507 X", "", ""), ("unknown", Some(ServerError)), None).await;
        check(says("500 X", "", "{\"code\":50001}"), ("unknown", Some(ServerError)), None).await;
        check(says("200 OK", "", "{\"success\":true}"), ("unknown", Some(BadAnswer)), None).await;
        check(says("200 OK", "", "<html>Please log in</html>"), ("unknown", Some(BadAnswer)), None).await;
        check(says("200 OK", "", ""), ("unknown", Some(BadAnswer)), None).await;
        check(says("201 Created", "", "{\"id\":\"x\"}"), ("unknown", Some(BadAnswer)), None).await;
        check(Act::Drop, ("unknown", Some(NoAnswer)), None).await;
    }

    #[tokio::test]
    async fn a_lookup_finds_the_key_or_says_why_it_cannot() {
        let ask = async |act: Act| {
            let mut peer = Peer::start(vec![act]).await;
            let found = build(&peer).lookup(&KEY.into(), NOW_AT - 5000).await;
            (found, peer.next().await)
        };
        let mine = format!("{SENT},\"sequence_id\":\"{KEY}\"}}");
        let tagged = format!("{SENT},\"tags\":[\"{KEY}\"]}}");
        let others = format!("{{\"id\":\"o\",\"event\":\"message\",\"sequence_id\":\"{}\"}}", other_key());
        let nameless = "{\"id\":\"n\",\"event\":\"message\",\"message\":\"x\"}";
        let deleted = format!("{{\"id\":\"d\",\"event\":\"message_delete\",\"sequence_id\":\"{KEY}\"}}");
        let found = Lookup::Found { external_id: Some("Ab1".to_owned()) };

        let (got, seen) = ask(list(&[nameless, &others, &mine])).await;
        assert_eq!(got, found);
        let since = NOW_AT / 1000 - 5 - LOOKUP_MARGIN_SECONDS;
        let line = format!("GET /mail/json?poll=1&since={since} HTTP/1.1");
        assert!(seen.head.starts_with(&line), "{}", seen.head);
        assert_eq!(seen.header("authorization"), Some("Bearer tk_secret"));
        assert_eq!(ask(list(&[&tagged])).await.0, found, "an older server has it as a tag");
        assert_eq!(ask(list(&[])).await.0, Lookup::Absent, "readable and empty");
        assert_eq!(ask(list(&[&others])).await.0, Lookup::Absent);
        assert_eq!(ask(list(&[&others, nameless])).await.0, Lookup::Absent, "this server keeps keys");
        assert_eq!(ask(list(&[&deleted])).await.0, Lookup::Absent, "only messages count");
        let cannot = |lookup: &Lookup| matches!(lookup, Lookup::CannotTell(_));
        assert!(cannot(&ask(list(&[nameless])).await.0), "it may be ours: this server may not keep keys");
        for status in ["401 X", "403 X"] {
            assert!(cannot(&ask(Act::Answer(answer(status, "", ""))).await.0), "{status}");
        }
        let html = Act::Answer(answer("200 OK", "content-type: text/html\r\n", ""));
        let cut = Act::AnswerAndClose("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{}".to_owned());
        for act in [html, cut, list(&["{\"id\":"]), Act::Answer(answer("500 X", "", "")), Act::Drop] {
            let (got, _) = ask(act.clone()).await;
            assert!(matches!(got, Lookup::Failed(_)), "{act:?} proves nothing, ask again: {got:?}");
        }
    }

    #[tokio::test]
    async fn an_older_server_gets_the_key_as_a_tag() {
        let nameless = "{\"id\":\"n\",\"event\":\"message\"}";
        let mut peer = Peer::start(vec![forgetful(), forgetful(), list(&[nameless]), echo(), echo()]).await;
        let channel = build(&peer);
        for expected in [false, true] {
            channel.send(&job(), &Counted::default()).await;
            let tagged = peer.next().await.body.contains(&format!("\"tags\":[\"{KEY}\"]"));
            assert_eq!(tagged, expected, "known only after its first answer");
        }
        assert!(matches!(channel.lookup(&other_key(), NOW_AT).await, Lookup::CannotTell(_)), "the first has no tag");
        peer.next().await;
        channel.send(&job(), &Counted::default()).await;
        peer.next().await;
        channel.send(&job(), &Counted::default()).await;
        assert!(!peer.next().await.body.contains("tags"), "an updated server needs none any more");
    }

    #[tokio::test]
    async fn a_topic_that_hides_what_was_sent_to_it_proves_nothing() {
        let clock = Clock::manual(NOW_AT);
        let peer = Peer::start(vec![echo(), list(&[]), list(&[]), list(&[])]).await;
        let channel = (KIND.build)(Configured {
            fields: [("server".to_owned(), peer.url("")), ("topic".to_owned(), "mail".to_owned())].into(),
            secrets: Default::default(),
            call_timeout: Duration::from_secs(10),
            clock: clock.clone(),
            seat: Default::default(),
        })
        .unwrap();
        channel.send(&job(), &Counted::default()).await;
        clock.advance(60_000);
        let got = channel.lookup(&other_key(), clock.now()).await;
        assert!(matches!(got, Lookup::Failed(_)), "it may be written yet: {got:?}");
        clock.advance(60_000);
        let got = channel.lookup(&other_key(), clock.now()).await;
        assert!(matches!(got, Lookup::CannotTell(_)), "a message that is there is not shown: {got:?}");
        clock.advance(11 * 3_600_000);
        assert_eq!(channel.lookup(&other_key(), clock.now()).await, Lookup::Absent, "too old to ask for");
    }

    #[tokio::test]
    async fn a_check_reads_and_publishes_nothing() {
        let check = async |act: Act, expected: Option<FaultCode>| {
            let mut peer = Peer::start(vec![act.clone()]).await;
            let got = build(&peer).check().await;
            assert_eq!(got.as_ref().err().map(|fault| fault.code), expected, "{act:?}: {got:?}");
            assert!(peer.next().await.head.starts_with("GET /mail/json?poll=1"), "nothing is published");
        };
        check(list(&[]), None).await;
        check(Act::Answer(answer("403 X", "", "")), None).await;
        check(Act::Answer(answer("401 X", "", "")), Some(FaultCode::SignIn)).await;
        check(Act::Answer(answer("404 X", "", "")), Some(FaultCode::Protocol)).await;
        check(Act::Answer(answer("200 OK", "", "<html>")), Some(FaultCode::Protocol)).await;
        check(Act::Drop, Some(FaultCode::Unreachable)).await;
    }

    #[test]
    fn fields_that_ntfy_does_not_take_are_refused() {
        let long = "a".repeat(65);
        for topic in ["a b", "a/b", "https://ntfy.sh/x", long.as_str()] {
            assert!(trial::build(&KIND, &[("topic", topic)], &[]).is_err(), "{topic}");
        }
        assert!(trial::build(&KIND, &[("topic", "my_Topic-1")], &[]).is_ok());
        let fault = trial::build(&KIND, &[("topic", "a")], &[("token", "tk\u{e9}\u{1}x")]).err().unwrap();
        assert!(!fault.to_string().contains("tk"), "a token is never shown: {fault}");
    }
}
