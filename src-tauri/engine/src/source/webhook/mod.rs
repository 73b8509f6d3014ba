//! Source `webhook`: mail and notices of mail that others post to a port of this computer, signed as Standard
//! Webhooks says. One port serves any number of endpoints; each has its own mailbox and secret.
//!
//! Nobody is told that a mail was taken before it is stored. A notice that only names a mail is stored as such
//! and wakes the reader of its mailbox.

mod notice;

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, StatusCode};
use secrecy::SecretString;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::notice::Form;
use crate::identity::keys;
use crate::limits::{IDENTITY_PREFIX_BYTES, WEBHOOK_BODY_BYTES_MAX, WEBHOOK_CLOCK_SKEW};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::{AccountId, MailboxId, SourceId};
use crate::model::sighting::{Intent, Report, Sighting};
use crate::net::server::{Accepted, Handler, Head, Listener, Reply, Taker};
use crate::net::signature::{Key, Message};
use crate::source::{Context, Exit, Found, HealthState, Method as HearsBy, Source};

/// Path before the endpoint's id.
const PATH: &str = "/v1/";
/// Of a mail so much is kept: all that identity looks at, and a little to see that more follows.
const MAIL_BYTES_KEPT: usize = IDENTITY_PREFIX_BYTES + 4096;
/// A notice is a few lines.
const NOTICE_BYTES_MAX: usize = 1024 * 1024;
/// Longest event id that is taken.
const EVENT_ID_BYTES_MAX: usize = 256;
/// A report has to be stored by then; else the caller is told to come again.
const STORE_LIMIT: Duration = Duration::from_secs(20);

/// Where mail of one mailbox may be posted to: `POST /v1/<source_id>`.
#[derive(Debug, Clone)]
pub struct Endpoint {
    source_id: SourceId,
    account_id: AccountId,
    mailbox_id: MailboxId,
    key: Key,
}

impl Endpoint {
    /// An endpoint with its secret `whsec_…`.
    ///
    /// # Errors
    /// `secret` where it is not one.
    pub fn new(
        source_id: SourceId,
        account_id: AccountId,
        mailbox_id: MailboxId,
        secret: &SecretString,
    ) -> Result<Self, Fault> {
        let key = Key::parse(secret).ok_or_else(|| {
            Fault::new(
                FaultCode::Secret,
                format!("The webhook {source_id} takes nothing"),
                "its stored secret is not one of Standard Webhooks",
                "remove the source and add it again",
            )
        })?;
        Ok(Self { source_id, account_id, mailbox_id, key })
    }
}

/// The address to give to whoever sends: `http://127.0.0.1:<port>/v1/<id>`.
#[must_use]
pub fn url(port: u16, source_id: &SourceId) -> String {
    format!("http://127.0.0.1:{port}{PATH}{source_id}")
}

/// A port that nobody uses now, for an endpoint that keeps it.
///
/// # Errors
/// Where there is none.
pub async fn free_port() -> Result<u16, Fault> {
    Ok(Listener::bind(0).await?.port())
}

/// Wakes the reader of an account, if it has one. Called after the commit of a notice that waits for its mail.
pub type WakeReader = Arc<dyn Fn(&AccountId) + Send + Sync>;

/// The endpoints of one port.
pub struct Webhook {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// The endpoints; a change takes effect with the next request.
    pub endpoints: watch::Receiver<Arc<[Endpoint]>>,
    /// See [`WakeReader`].
    pub wake_reader: WakeReader,
}

impl Source for Webhook {
    fn run(self: Box<Self>, context: Context, stop: CancellationToken) -> BoxFuture<'static, Exit> {
        async move {
            let listener = match Listener::bind(self.port).await {
                Ok(listener) => listener,
                Err(fault) if fault.code == FaultCode::Invalid => return Exit::NeedsOwner(fault),
                Err(fault) => return Exit::Lost(fault),
            };
            context.health.send_modify(|health| {
                health.state = HealthState::Watching;
                health.method = HearsBy::Push;
                health.error = None;
            });
            tracing::info!(port = listener.port(), "Takes webhooks");
            let desk = Desk { endpoints: self.endpoints, wake_reader: self.wake_reader, context };
            listener.serve(Arc::new(desk), stop).await;
            Exit::Stopped
        }
        .boxed()
    }
}

/// Looks at each request.
struct Desk {
    endpoints: watch::Receiver<Arc<[Endpoint]>>,
    wake_reader: WakeReader,
    context: Context,
}

impl Handler for Desk {
    fn begin(&self, head: &Head) -> Result<Accepted, Reply> {
        let endpoints = self.endpoints.borrow().clone();
        let id = head.path.strip_prefix(PATH).unwrap_or_default();
        let Some(endpoint) = endpoints.iter().find(|endpoint| endpoint.source_id.as_str() == id) else {
            return Err(Reply::error(StatusCode::NOT_FOUND, "There is no such endpoint"));
        };
        if head.method != Method::POST {
            let reply = Reply::error(StatusCode::METHOD_NOT_ALLOWED, "Only POST is taken");
            return Err(Reply { header: Some((ALLOW, "POST")), ..reply });
        }
        let signed = self.signed(head, endpoint)?;
        let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let Some(form) = kind.and_then(Form::of_content_type) else {
            let words = "The content type is neither message/rfc822 nor application/json";
            return Err(Reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, words));
        };
        let (bytes_max, kept_max) = match form {
            Form::Mail => (WEBHOOK_BODY_BYTES_MAX, MAIL_BYTES_KEPT),
            Form::Notice => (NOTICE_BYTES_MAX, NOTICE_BYTES_MAX),
        };
        let taker = Call {
            endpoint: endpoint.clone(),
            signed,
            form,
            body: Vec::new(),
            kept_max,
            wake_reader: self.wake_reader.clone(),
            context: self.context.clone(),
        };
        Ok(Accepted { bytes_max, taker: Box::new(taker) })
    }
}

impl Desk {
    /// What the headers of Standard Webhooks say, before the body is here.
    fn signed(&self, head: &Head, endpoint: &Endpoint) -> Result<Signed, Reply> {
        let refused = |words| Reply::error(StatusCode::UNAUTHORIZED, words);
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let (Some(event_id), Some(timestamp), Some(signature)) =
            (text("webhook-id"), text("webhook-timestamp"), text("webhook-signature"))
        else {
            return Err(refused("One of webhook-id, webhook-timestamp, webhook-signature is missing"));
        };
        if event_id.is_empty() || event_id.len() > EVENT_ID_BYTES_MAX {
            return Err(refused("The webhook-id is empty or too long"));
        }
        let sent_at = timestamp.parse::<i64>().map_err(|_| refused("The webhook-timestamp is not a number"))?;
        let skew = sent_at.abs_diff(self.context.clock.now() / 1000);
        if skew > WEBHOOK_CLOCK_SKEW.as_secs() {
            return Err(refused("The webhook-timestamp is over five minutes off"));
        }
        let message = endpoint.key.message(event_id, sent_at);
        Ok(Signed { event_id: event_id.to_owned(), signature: signature.to_owned(), message })
    }
}

/// What a caller claims, until the body has shown it.
struct Signed {
    event_id: String,
    signature: String,
    message: Message,
}

/// One call, while its body comes in.
struct Call {
    endpoint: Endpoint,
    signed: Signed,
    form: Form,
    body: Vec<u8>,
    kept_max: usize,
    wake_reader: WakeReader,
    context: Context,
}

impl Taker for Call {
    fn piece(&mut self, piece: &[u8]) {
        self.signed.message.update(piece);
        let room = self.kept_max.saturating_sub(self.body.len()).min(piece.len());
        self.body.extend_from_slice(piece.get(..room).unwrap_or_default());
    }

    fn finish(self: Box<Self>) -> BoxFuture<'static, Reply> {
        self.answer().boxed()
    }
}

impl Call {
    async fn answer(self) -> Reply {
        if !self.signed.message.is_signed(&self.signed.signature) {
            return Reply::error(StatusCode::UNAUTHORIZED, "The signature does not fit");
        }
        let sighting = match self.sighting() {
            Ok(sighting) => sighting,
            Err(words) => return Reply::error(StatusCode::UNPROCESSABLE_ENTITY, &words),
        };
        let report = Report { sightings: vec![sighting], cursor: None, ended: None };
        let stored = timeout(STORE_LIMIT, self.context.sink.report(report)).await;
        let Ok(Ok(Some(found))) = stored.map(|stored| stored.map(|all| all.into_iter().next())) else {
            tracing::warn!(source = %self.endpoint.source_id, "A webhook could not be stored");
            let reply = Reply::error(StatusCode::SERVICE_UNAVAILABLE, "It was not stored; send it again later");
            return Reply { header: Some((RETRY_AFTER, "5")), ..reply };
        };
        self.told(&found)
    }

    fn sighting(&self) -> Result<Sighting, String> {
        let Endpoint { source_id, account_id, mailbox_id, .. } = &self.endpoint;
        let event_id = &self.signed.event_id;
        let (facts, provider_ids) = notice::read(self.form, &self.body)?;
        Ok(Sighting {
            account_id: account_id.clone(),
            mailbox_id: mailbox_id.clone(),
            delivery_key: keys::webhook_delivery(source_id.as_str(), event_id),
            source: "webhook".to_owned(),
            locator: format!("{source_id};ID={event_id}"),
            provider_ids,
            facts,
            received_at: None,
            folder: None,
            special_use: Default::default(),
            intent: Intent::Arrival,
        })
    }

    fn told(&self, found: &Found) -> Reply {
        let now_at = self.context.clock.now();
        self.context.health.send_modify(|health| health.last_mail_at = Some(now_at));
        if found.awaits_mail {
            (self.wake_reader)(&self.endpoint.account_id);
        }
        let verdict = found.verdict.as_str();
        let json = serde_json::json!({ "verdict": verdict, "message_key": found.message_key }).to_string();
        Reply { status: StatusCode::ACCEPTED, json, header: None }
    }
}

#[cfg(test)]
mod tests;
