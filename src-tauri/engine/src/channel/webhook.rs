//! Channel `webhook`: JSON by POST to an address of the owner, with an idempotency key and, where a secret is
//! given, signed as Standard Webhooks says.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use url::Url;

use crate::channel::http_call::{self, Call};
use crate::channel::{
    Channel, Class, Configured, Field, Form, Gate, Job, Kind, Limits, Lookup, configure, http_outcome, json,
};
use crate::clock::Clock;
use crate::model::destination::Policy;
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DispatchKey;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode};
use crate::net::http::{self, Answer, Client, Request};
use crate::net::signature::Key;
use crate::net::tls::Trust;

/// How long a receiver that drops repeats is taken to remember a key.
const WINDOW: Duration = Duration::from_secs(86_400);
/// Characters kept of the receiver's id.
const ID_CHARS_MAX: usize = 200;

/// The channel.
pub const KIND: Kind = Kind {
    id: "webhook",
    name_key: "channel.webhook",
    classify,
    window: Some(WINDOW),
    lookup: false,
    retract: false,
    limits: Limits { title_bytes_max: 4096, body_bytes_max: 16_384 },
    policy: Policy::NeverTwice,
    max_age_seconds: None,
    fields: &[
        Field { key: "url", secret: false, target: true, required: true, default: None, form: Form::Url },
        Field {
            key: "receiver_deduplicates",
            secret: false,
            target: false,
            required: false,
            default: Some("false"),
            form: Form::Bool,
        },
        Field { key: "secret", secret: true, target: false, required: false, default: None, form: Form::Text },
    ],
    build,
};

fn classify(fields: &BTreeMap<String, String>) -> Class {
    let deduplicates = fields.get("receiver_deduplicates").is_some_and(|value| value == "true");
    if deduplicates { Class::A { window: WINDOW } } else { Class::C }
}

struct Webhook {
    url: Url,
    class: Class,
    key: Option<Key>,
    client: Client,
    limit: Duration,
    clock: Clock,
}

fn build(configured: Configured) -> Result<Arc<dyn Channel>, Fault> {
    let url = configure::url(&configured.fields, "url")?;
    let key = match configured.secrets.get("secret") {
        None => None,
        Some(secret) => Some(Key::parse(secret).ok_or_else(|| {
            Fault::new(
                FaultCode::Invalid,
                "The destination cannot be used",
                "its secret is not one of Standard Webhooks",
                "give `whsec_` and base64, or leave it out to send unsigned",
            )
        })?),
    };
    Ok(Arc::new(Webhook {
        url,
        class: classify(&configured.fields),
        key,
        client: Client::new(Trust::System),
        limit: configured.call_timeout,
        clock: configured.clock,
    }))
}

impl Webhook {
    fn call(&self) -> Call<'_> {
        Call { client: &self.client, url: &self.url, class: self.class, limit: self.limit, clock: &self.clock }
    }

    fn request(&self, job: &Job) -> Result<Request, AttemptOutcome> {
        let id = job.payload.dispatch_key.as_str();
        let timestamp = self.clock.now() / 1000;
        let body = json::bytes(job);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut put = |name, text: &str| {
            let value = HeaderValue::from_str(text).map_err(|_| AttemptOutcome::Rejected {
                error: ChannelError::new(ErrorCode::InvalidPayload, "The key does not fit into a header"),
            })?;
            headers.insert(http::name(name), value);
            Ok(())
        };
        // A Structured Field string, so with quotes (draft-ietf-httpapi-idempotency-key-header section 2.1).
        put("idempotency-key", &format!("\"{id}\""))?;
        put("webhook-id", id)?;
        put("webhook-timestamp", &timestamp.to_string())?;
        if let Some(key) = &self.key {
            put("webhook-signature", &key.sign(id, timestamp, &body))?;
        }
        Ok(Request { method: Method::POST, headers, body: body.into() })
    }

    async fn attempt(&self, job: &Job, gate: &dyn Gate) -> AttemptOutcome {
        let request = match self.request(job) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        match self.call().send(request, gate, |_| None).await {
            Ok(answer) => accepted(&answer),
            Err(outcome) => outcome,
        }
    }
}

/// A 2xx: taken. Only where its body cannot be read nobody knows who gave it.
fn accepted(answer: &Answer) -> AttemptOutcome {
    let Some(body) = &answer.body else {
        return http_outcome::bad_answer("The answer could not be read to its end");
    };
    let id = match serde_json::from_slice::<Value>(body).ok().and_then(|mut value| value.get_mut("id").map(Value::take))
    {
        Some(Value::String(id)) if !id.is_empty() => Some(id.chars().take(ID_CHARS_MAX).collect()),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    };
    AttemptOutcome::Accepted { external_id: id }
}

impl Channel for Webhook {
    fn class(&self) -> Class {
        self.class
    }

    fn send<'a>(&'a self, job: &'a Job, gate: &'a dyn Gate) -> BoxFuture<'a, AttemptOutcome> {
        self.attempt(job, gate).boxed()
    }

    fn check(&self) -> BoxFuture<'_, Result<(), Fault>> {
        // Any request might be taken for a message, so only the connection is tried.
        async { self.call().connects().await.map_err(|error| http_call::unreachable(&error)) }.boxed()
    }

    fn lookup<'a>(&'a self, _key: &'a DispatchKey, _sent_at: i64) -> BoxFuture<'a, Lookup> {
        let error = ChannelError::new(ErrorCode::NoAnswer, "A webhook cannot be asked what it received");
        futures_util::future::ready(Lookup::CannotTell(error)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::trial::{self, Counted, KEY, NOW_AT, build_within, job, short};
    use crate::net::scripted::{Act, Peer, answer};

    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

    fn build(url: &str, deduplicates: bool) -> Arc<dyn Channel> {
        let deduplicates = if deduplicates { "true" } else { "false" };
        trial::build(&KIND, &[("url", url), ("receiver_deduplicates", deduplicates)], &[("secret", SECRET)]).unwrap()
    }

    #[tokio::test]
    async fn the_request_is_as_the_contract_says() {
        let ok = || Act::Answer(answer("200 OK", "", "{\"id\":\"abc\"}"));
        let mut peer = Peer::start(vec![ok(), ok(), ok()]).await;
        let channel = build(&peer.url("/hook?x=1"), false);
        let gate = Counted::default();
        let outcome = channel.send(&job(), &gate).await;
        assert_eq!(outcome, AttemptOutcome::Accepted { external_id: Some("abc".to_owned()) });
        assert_eq!(gate.asked(), 1, "the gate was asked once");
        let seen = peer.next().await;
        assert!(seen.head.starts_with("POST /hook?x=1 HTTP/1.1"), "{}", seen.head);
        let expected = format!(
            "{{\"message_key\":\"m1\",\"operation_key\":\"o1\",\"dispatch_key\":\"{KEY}\",\"title\":\"Anna: Hällo\",\
             \"body\":\"First \\\"words\\\"\",\"from\":\"Anna <anna@example.com>\",\"subject\":\"Hällo\",\
             \"mailbox_id\":\"owner@example.com\",\"sent_at\":\"2026-01-02T03:04:05Z\",\"link\":\"\",\
             \"may_be_repeat\":false}}"
        );
        assert_eq!(seen.body, expected);
        assert_eq!(seen.header("content-type"), Some("application/json"));
        assert_eq!(seen.header("idempotency-key"), Some(format!("\"{KEY}\"").as_str()), "with its quotes");
        assert_eq!(seen.header("webhook-id"), Some(KEY));
        let timestamp = NOW_AT / 1000;
        assert_eq!(seen.header("webhook-timestamp"), Some(timestamp.to_string().as_str()), "in seconds");
        let key = Key::parse(&SECRET.to_owned().into()).unwrap();
        let signature = seen.header("webhook-signature").expect("signed");
        let mut message = key.message(KEY, timestamp);
        message.update(seen.body.as_bytes());
        assert!(message.is_signed(signature), "the signature fits the bytes sent");

        channel.send(&job(), &gate).await;
        assert_eq!(peer.next().await.body, expected, "each attempt sends the same bytes");
        channel.send(&Job { may_be_repeat: true, ..job() }, &gate).await;
        let marked = expected.replace("\"may_be_repeat\":false", "\"may_be_repeat\":true");
        assert_eq!(peer.next().await.body, marked, "only the mark differs");
    }

    #[tokio::test]
    async fn what_the_receiver_does_decides_the_outcome() {
        use ErrorCode::{BadAnswer, InvalidPayload, NoAnswer, RateLimit, ServerError, TemporaryUnavailable};
        let check = async |act: Act, deduplicates: bool, expected: (&str, Option<ErrorCode>)| {
            let mut peer = Peer::start(vec![act.clone()]).await;
            let outcome = build(&peer.url("/"), deduplicates).send(&job(), &Counted::default()).await;
            assert_eq!(short(&outcome), expected, "{act:?}: {outcome:?}");
            peer.next().await;
            assert_eq!(peer.more(), 0, "one request, whatever came");
        };
        let says = |status: &str| Act::Answer(answer(status, "", ""));
        for deduplicates in [true, false] {
            check(says("202 Accepted"), deduplicates, ("accepted", None)).await;
            check(says("500 Oops"), deduplicates, ("unknown", Some(ServerError))).await;
            check(says("503 Later"), deduplicates, ("deferred", Some(TemporaryUnavailable))).await;
            check(says("429 Slow"), deduplicates, ("deferred", Some(RateLimit))).await;
            check(says("422 No"), deduplicates, ("rejected", Some(InvalidPayload))).await;
            check(Act::Drop, deduplicates, ("unknown", Some(NoAnswer))).await;
            let cut = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_owned();
            check(Act::AnswerAndClose(cut), deduplicates, ("unknown", Some(BadAnswer))).await;
        }
        check(says("409 Conflict"), true, ("deferred", Some(TemporaryUnavailable))).await;
        check(says("409 Conflict"), false, ("rejected", Some(InvalidPayload))).await;
    }

    #[tokio::test]
    async fn the_receivers_id_is_taken_as_it_comes() {
        let check = async |body: &str, expected: Option<&str>| {
            let peer = Peer::start(vec![Act::Answer(answer("200 OK", "", body))]).await;
            let outcome = build(&peer.url("/"), false).send(&job(), &Counted::default()).await;
            assert_eq!(outcome, AttemptOutcome::Accepted { external_id: expected.map(str::to_owned) }, "{body}");
        };
        check("{\"id\":\"a-1\",\"x\":2}", Some("a-1")).await;
        check("{\"id\":42}", Some("42")).await;
        check("{\"id\":null}", None).await;
        check("{\"id\":\"\"}", None).await;
        check("{\"id\":[1]}", None).await;
        check("[1]", None).await;
        check("ok", None).await;
        check("", None).await;
    }

    #[tokio::test]
    async fn without_a_connection_or_the_lease_nothing_leaves() {
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let gate = Counted::default();
        let outcome = build(&format!("http://{closed}/"), false).send(&job(), &gate).await;
        assert_eq!(short(&outcome), ("deferred", Some(ErrorCode::ConnectionReset)));
        assert_eq!(gate.asked(), 0, "without a connection the gate stays shut");

        let mut peer = Peer::start(vec![Act::Hang]).await;
        let shut = Counted::shut();
        let channel = build(&peer.url("/"), true);
        assert_eq!(channel.send(&job(), &shut).await, AttemptOutcome::Abandoned);
        drop(channel);
        assert_eq!((shut.asked(), peer.more()), (1, 0), "the lease is lost: no byte of the message");
    }

    #[tokio::test]
    async fn a_silent_receiver_is_unknown_after_the_time_limit() {
        let peer = Peer::start(vec![Act::Hang]).await;
        let limit = Duration::from_millis(100);
        let channel = build_within(&KIND, &[("url", &peer.url("/"))], &[], limit).unwrap();
        let outcome = channel.send(&job(), &Counted::default()).await;
        assert_eq!(short(&outcome), ("unknown", Some(ErrorCode::NoAnswer)));
    }

    #[tokio::test]
    async fn what_it_is_made_from_decides_class_and_signature() {
        let mut peer = Peer::start(vec![Act::Answer(answer("200 OK", "", ""))]).await;
        let plain = trial::build(&KIND, &[("url", &peer.url("/"))], &[]).unwrap();
        assert_eq!(plain.class(), Class::C);
        assert_eq!(build(&peer.url("/"), true).class(), Class::A { window: WINDOW });
        plain.send(&job(), &Counted::default()).await;
        assert_eq!(peer.next().await.header("webhook-signature"), None, "without a secret it is not signed");
        for secret in ["hello", "whsec_", "whsec_%%%"] {
            let fault = trial::build(&KIND, &[("url", "http://127.0.0.1:1/")], &[("secret", secret)]).err().unwrap();
            assert!(fault.to_string().contains("whsec_"), "{fault}");
            assert_eq!(fault.code, FaultCode::Invalid);
        }
    }

    #[tokio::test]
    async fn a_check_sends_no_request() {
        let mut peer = Peer::start(vec![Act::Hang]).await;
        build(&peer.url("/"), false).check().await.expect("it can be reached");
        assert_eq!(peer.more(), 0, "a request might be taken for a message");
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let fault = build(&format!("http://{closed}/secret"), false).check().await.unwrap_err();
        assert_eq!(fault.code, FaultCode::Unreachable);
        assert!(!fault.to_string().contains("secret"), "the path is not shown: {fault}");
    }
}
