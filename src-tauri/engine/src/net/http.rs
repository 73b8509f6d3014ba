//! HTTP/1.1 as a client, in the steps an outbox needs: connect, ask the gate, write, read the answer.
//!
//! It knows whether a byte of the request was written, because that decides whether a failed call may be made
//! again. Redirects are never followed, and nothing is retried that may have been read by the other side unless
//! the caller says that a repeat does no harm. Every connection is driven by the call that uses it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::poll_fn;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

use crate::limits::{HTTP_ANSWER_BYTES_MAX, IDLE_CONNECTION_MAX, LANE_CALLS_MAX};
use crate::net::error::{NetError, NetErrorKind};
use crate::net::stream::Stream;
use crate::net::tcp;
use crate::net::tls::{self, Trust};
use crate::net::watched::{Flags, Watched};

/// Calls whose repeat does no harm use connections that were idle at most this long: most servers wait 60 s or more.
const IDLE_REPEATABLE_MAX: Duration = Duration::from_secs(50);
/// Largest head of an answer.
const ANSWER_HEAD_BYTES_MAX: usize = 64 * 1024;

type Connection = http1::Connection<TokioIo<Watched>, Full<Bytes>>;

/// Makes calls and keeps connections between them. One for each configured destination.
#[derive(Debug)]
pub struct Client {
    trust: Trust,
    idle: Mutex<Vec<Line>>,
}

/// What may be done with a request of which nobody knows whether it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// It may be sent again: the other side drops repeats, or it only asks.
    Harmless,
    /// It must not; only fresh connections are used.
    Harmful,
}

/// One request. The body goes out with its length.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Headers beside `Host`, `User-Agent` and the length.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// An answer whose head was read.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body; `None` where it could not be read whole, or is over `limits::HTTP_ANSWER_BYTES_MAX`.
    pub body: Option<Bytes>,
}

/// A call that got no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct HttpError {
    /// What kind.
    pub kind: HttpErrorKind,
    /// A byte of the request may have left. Where not, the other side surely knows nothing of it.
    pub sent: bool,
    /// One clause for people, without path and query of the URL.
    pub detail: String,
}

/// The kinds of a call without answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpErrorKind {
    /// No connection.
    Connect(NetErrorKind),
    /// The time was over.
    Timeout,
    /// The connection broke.
    Closed,
    /// What came is not HTTP.
    Malformed,
}

/// A connection that stands, and nothing written to it.
#[derive(Debug)]
pub struct Prepared<'a> {
    client: &'a Client,
    url: Url,
    repeat: Repeat,
    deadline: Instant,
    line: Line,
}

impl Client {
    /// A client that trusts as told.
    #[must_use]
    pub fn new(trust: Trust) -> Self {
        Self { trust, idle: Mutex::new(Vec::new()) }
    }

    /// Makes sure that a connection to `url` stands. Everything has to be over at `deadline`.
    ///
    /// # Errors
    /// With `sent: false`: nothing left this computer but the making of a connection.
    pub async fn prepare(&self, url: &Url, repeat: Repeat, deadline: Instant) -> Result<Prepared<'_>, HttpError> {
        let origin = Origin::of(url)?;
        let line = match self.take_idle(&origin, repeat) {
            Some(line) => line,
            None => self.fresh(origin, deadline).await?,
        };
        Ok(Prepared { client: self, url: url.clone(), repeat, deadline, line })
    }

    /// Prepares and sends in one go, for questions that tell nobody anything.
    ///
    /// # Errors
    /// As of [`Client::prepare`] and [`Prepared::send`].
    pub async fn ask(&self, url: &Url, request: Request, limit: Duration) -> Result<Answer, HttpError> {
        self.prepare(url, Repeat::Harmless, Instant::now() + limit).await?.send(request).await
    }

    async fn fresh(&self, origin: Origin, deadline: Instant) -> Result<Line, HttpError> {
        let stream = self.connect(&origin, deadline).await.map_err(|error| HttpError {
            kind: HttpErrorKind::Connect(error.kind),
            sent: false,
            detail: error.detail,
        })?;
        Line::open(origin, stream).await
    }

    /// The one place that connects; a proxy would stand here.
    async fn connect(&self, origin: &Origin, deadline: Instant) -> Result<Stream, NetError> {
        let left = || deadline.saturating_duration_since(Instant::now());
        let socket = tcp::connect(&origin.host, origin.port, left()).await?;
        if !origin.tls {
            return Ok(Stream::Plain(socket));
        }
        let config = tls::client_config(&self.trust).map_err(|fault| NetError::new(NetErrorKind::Tls, fault.cause))?;
        Stream::protect(socket, &origin.host, config, left()).await
    }

    fn take_idle(&self, origin: &Origin, repeat: Repeat) -> Option<Line> {
        let idle_max = match repeat {
            Repeat::Harmless => IDLE_REPEATABLE_MAX,
            Repeat::Harmful => IDLE_CONNECTION_MAX,
        };
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain_mut(Line::is_alive);
        // The newest first: it is the least likely to be closed by the other side right now.
        let found = idle.iter().rposition(|line| line.origin == *origin && line.idle_since.elapsed() <= idle_max)?;
        Some(idle.remove(found))
    }

    fn keep(&self, mut line: Line) {
        if line.is_alive() {
            line.idle_since = Instant::now();
            line.reused = true;
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() >= LANE_CALLS_MAX {
                idle.remove(0);
            }
            idle.push(line);
        }
    }
}

impl Prepared<'_> {
    /// Writes the request and reads the answer.
    ///
    /// # Errors
    /// Where no head of an answer came; `sent` says whether the other side may have read the request.
    pub async fn send(mut self, request: Request) -> Result<Answer, HttpError> {
        let mut answer = self.line.exchange(&self.url, &request, self.deadline).await;
        if let Err(error) = &answer
            && self.line.reused
            && self.may_repeat(error)
        {
            self.line = self.client.fresh(self.line.origin.clone(), self.deadline).await?;
            answer = self.line.exchange(&self.url, &request, self.deadline).await;
        }
        if answer.as_ref().is_ok_and(|answer| answer.body.is_some()) {
            self.client.keep(self.line);
        }
        answer
    }

    /// A server that closes an idle connection just when the request comes has not read it, but nobody can see that.
    fn may_repeat(&self, error: &HttpError) -> bool {
        let closed = error.kind == HttpErrorKind::Closed && !self.line.flags.read();
        closed && (self.repeat == Repeat::Harmless || !error.sent)
    }
}

/// Where a connection leads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    tls: bool,
    host: String,
    port: u16,
}

impl Origin {
    fn of(url: &Url) -> Result<Self, HttpError> {
        let parts = (url.host_str(), url.port_or_known_default(), matches!(url.scheme(), "http" | "https"));
        let (Some(host), Some(port), true) = parts else {
            let detail = "the address is neither http nor https".to_owned();
            return Err(HttpError { kind: HttpErrorKind::Connect(NetErrorKind::Io), sent: false, detail });
        };
        Ok(Self { tls: url.scheme() == "https", host: tcp::bare(host).to_owned(), port })
    }

    fn peer(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// One connection, with the future that drives it.
#[derive(Debug)]
struct Line {
    origin: Origin,
    sender: http1::SendRequest<Full<Bytes>>,
    connection: Pin<Box<Connection>>,
    flags: Arc<Flags>,
    idle_since: Instant,
    reused: bool,
}

impl Line {
    async fn open(origin: Origin, stream: Stream) -> Result<Self, HttpError> {
        let flags = Arc::new(Flags::default());
        let stream = Watched::new(stream, flags.clone());
        let mut builder = http1::Builder::new();
        builder.max_header_size(ANSWER_HEAD_BYTES_MAX);
        match builder.handshake(TokioIo::new(stream)).await {
            Ok((sender, connection)) => {
                let connection = Box::pin(connection);
                Ok(Self { origin, sender, connection, flags, idle_since: Instant::now(), reused: false })
            }
            Err(error) => Err(of_hyper(&error, &origin, false)),
        }
    }

    /// Nothing was heard on an idle line, least of all its end.
    fn is_alive(&mut self) -> bool {
        let ended = self.connection.as_mut().now_or_never().is_some();
        !ended && self.sender.is_ready()
    }

    async fn exchange(&mut self, url: &Url, request: &Request, deadline: Instant) -> Result<Answer, HttpError> {
        self.flags.reset();
        let Self { origin, sender, connection, flags, .. } = self;
        let request = build(url, request, origin)?;
        let late = |sent| {
            let detail = format!("{} did not answer in time", origin.peer());
            HttpError { kind: HttpErrorKind::Timeout, sent, detail }
        };
        if Instant::now() >= deadline {
            return Err(late(false));
        }
        let mut driven = Driven { connection, ended: false };
        let head = timeout_at(deadline, driven.drive(sender.send_request(request))).await;
        let response = match head {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(of_hyper(&error, origin, flags.written())),
            Err(_) => return Err(late(flags.written())),
        };
        let (parts, body) = response.into_parts();
        let whole = Limited::new(body, HTTP_ANSWER_BYTES_MAX).collect();
        let body = match timeout_at(deadline, driven.drive(whole)).await {
            Ok(Ok(whole)) => Some(whole.to_bytes()),
            Ok(Err(_)) | Err(_) => None,
        };
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }
}

/// Drives a connection together with what waits for it; hyper leaves that to its user.
struct Driven<'a> {
    connection: &'a mut Pin<Box<Connection>>,
    ended: bool,
}

impl Driven<'_> {
    async fn drive<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            // Its end is told to `work` too, with the reason, so the result is not needed here.
            if !self.ended && self.connection.as_mut().poll(cx).is_ready() {
                self.ended = true;
            }
            work.as_mut().poll(cx)
        })
        .await
    }
}

fn build(url: &Url, request: &Request, origin: &Origin) -> Result<hyper::Request<Full<Bytes>>, HttpError> {
    let unusable = |_| {
        let detail = format!("no request to {} can be made of this address", origin.peer());
        HttpError { kind: HttpErrorKind::Connect(NetErrorKind::Io), sent: false, detail }
    };
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let mut built = hyper::Request::builder()
        .method(request.method.clone())
        .uri(target)
        .header(HOST, host)
        .header(USER_AGENT, concat!("Ringonce/", env!("CARGO_PKG_VERSION")))
        .body(Full::new(request.body.clone()))
        .map_err(unusable)?;
    built.headers_mut().extend(request.headers.clone());
    Ok(built)
}

fn of_hyper(error: &hyper::Error, origin: &Origin, sent: bool) -> HttpError {
    let peer = origin.peer();
    let (kind, detail) = if error.is_parse() {
        (HttpErrorKind::Malformed, format!("{peer} did not answer with HTTP"))
    } else {
        (HttpErrorKind::Closed, format!("{peer} closed the connection"))
    };
    HttpError { kind, sent, detail }
}

/// A header's value that is not shown in debug output; `None` where a character does not fit.
#[must_use]
pub fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// A header by its lower-case name.
#[must_use]
pub fn name(text: &'static str) -> HeaderName {
    HeaderName::from_static(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::scripted::{Act, Certificates, Peer, answer};

    const LIMIT: Duration = Duration::from_secs(10);

    fn post(body: &str) -> Request {
        Request { method: Method::POST, headers: HeaderMap::new(), body: Bytes::from(body.to_owned()) }
    }

    async fn send(client: &Client, url: &str, repeat: Repeat, limit: Duration) -> Result<Answer, HttpError> {
        let url = Url::parse(url).unwrap();
        client.prepare(&url, repeat, Instant::now() + limit).await?.send(post("hello")).await
    }

    #[tokio::test]
    async fn a_request_goes_out_whole_and_its_answer_comes_back() {
        let mut peer = Peer::start(vec![Act::Answer(answer("201 Created", "x-a: b\r\n", "{}"))]).await;
        let client = Client::new(Trust::System);
        let got = send(&client, &peer.url("/a%20b?c=d#e"), Repeat::Harmful, LIMIT).await.unwrap();
        assert_eq!((got.status.as_u16(), got.body.as_deref()), (201, Some(b"{}".as_slice())));
        let seen = peer.next().await;
        assert!(seen.head.starts_with("POST /a%20b?c=d HTTP/1.1\r\n"), "no fragment: {}", seen.head);
        assert_eq!(seen.header("host"), Some(format!("127.0.0.1:{}", peer.port).as_str()));
        assert_eq!(seen.header("user-agent"), Some(concat!("Ringonce/", env!("CARGO_PKG_VERSION"))));
        assert_eq!((seen.header("content-length"), seen.body.as_str()), (Some("5"), "hello"));
    }

    #[tokio::test]
    async fn whether_a_byte_left_is_known_for_every_fault() {
        let closed_port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let client = Client::new(Trust::System);
        let error = send(&client, &format!("http://127.0.0.1:{closed_port}/"), Repeat::Harmful, LIMIT).await;
        let error = error.unwrap_err();
        assert_eq!((error.kind, error.sent), (HttpErrorKind::Connect(NetErrorKind::Refused), false), "{error}");

        let error = send(&client, "http://nonsense.invalid/", Repeat::Harmful, LIMIT).await.unwrap_err();
        assert!(matches!(error.kind, HttpErrorKind::Connect(NetErrorKind::Dns | NetErrorKind::NoNetwork)), "{error}");
        assert!(!error.sent, "{error}");

        let case = async |act: Act, limit: Duration, kind: HttpErrorKind| {
            let mut peer = Peer::start(vec![act.clone()]).await;
            let error = send(&client, &peer.url("/secret"), Repeat::Harmful, limit).await.unwrap_err();
            assert_eq!((error.kind, error.sent), (kind, true), "{act:?}: {error}");
            assert!(!error.detail.contains("secret"), "the path is not for logs: {error}");
            peer.next().await;
            assert_eq!(peer.more(), 0, "{act:?}: it was sent once");
        };
        case(Act::Drop, LIMIT, HttpErrorKind::Closed).await;
        case(Act::Hang, Duration::from_millis(200), HttpErrorKind::Timeout).await;
        case(Act::AnswerAndClose("SSH-2.0-x\r\n\r\n".to_owned()), LIMIT, HttpErrorKind::Malformed).await;
        case(Act::AnswerAndClose("HTTP/1.1 200 O".to_owned()), LIMIT, HttpErrorKind::Closed).await;
    }

    #[tokio::test]
    async fn a_line_that_ends_before_the_request_is_written_sent_nothing() {
        let peer = Peer::start(vec![Act::Reset]).await;
        let client = Client::new(Trust::System);
        let url = Url::parse(&peer.url("/")).unwrap();
        let mut prepared = client.prepare(&url, Repeat::Harmful, Instant::now() + LIMIT).await.unwrap();
        let mut rounds = 0;
        while prepared.line.is_alive() {
            rounds += 1;
            assert!(rounds < 1000, "the reset is seen");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let error = prepared.send(post("x")).await.unwrap_err();
        assert_eq!((error.kind, error.sent), (HttpErrorKind::Closed, false), "{error}");
    }

    #[tokio::test]
    async fn the_time_limit_holds_before_the_first_byte_too() {
        let peer = Peer::start(vec![Act::Hang]).await;
        let client = Client::new(Trust::System);
        let url = Url::parse(&peer.url("/")).unwrap();
        let prepared = client.prepare(&url, Repeat::Harmful, Instant::now() + Duration::from_millis(50)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(60)).await;
        let error = prepared.send(post("x")).await.unwrap_err();
        assert_eq!((error.kind, error.sent), (HttpErrorKind::Timeout, false), "too late to begin: {error}");
    }

    #[tokio::test]
    async fn bodies_are_read_whole_or_not_at_all() {
        let client = Client::new(Trust::System);
        let case = async |text: String, expected: Option<&str>, why: &str| {
            let peer = Peer::start(vec![Act::AnswerAndClose(text)]).await;
            let got = send(&client, &peer.url("/"), Repeat::Harmful, LIMIT).await.unwrap();
            assert_eq!(got.status.as_u16(), 200);
            assert_eq!(got.body.as_deref(), expected.map(str::as_bytes), "{why}");
        };
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        case(chunked.to_owned(), Some("abcde"), "chunks are joined").await;
        case(chunked.replace("0\r\n\r\n", ""), None, "the last chunk is missing").await;
        case("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc".to_owned(), None, "cut short").await;
        case("HTTP/1.1 200 OK\r\n\r\nabc".to_owned(), Some("abc"), "up to the end of the connection").await;
        let big = "x".repeat(HTTP_ANSWER_BYTES_MAX + 1);
        case(answer("200 OK", "", &big), None, "over the limit").await;
        case(answer("200 OK", "", ""), Some(""), "empty").await;
    }

    #[tokio::test]
    async fn connections_are_reused_and_only_a_harmless_request_goes_out_again() {
        let ok = || Act::Answer(answer("200 OK", "", ""));
        let client = Client::new(Trust::System);
        let mut peer = Peer::start(vec![ok(), ok(), Act::Drop, ok()]).await;
        let url = peer.url("/");
        for connection in [0, 0] {
            send(&client, &url, Repeat::Harmless, LIMIT).await.unwrap();
            assert_eq!(peer.next().await.connection, connection, "one connection serves both");
        }
        send(&client, &url, Repeat::Harmless, LIMIT).await.expect("sent again on a fresh connection");
        assert_eq!(peer.next().await.connection, 0, "the reply on the old connection was lost");
        assert_eq!(peer.next().await.connection, 1, "and the request repeated on a new one");

        let client = Client::new(Trust::System);
        let mut peer = Peer::start(vec![ok(), Act::Drop, ok()]).await;
        let url = peer.url("/");
        send(&client, &url, Repeat::Harmful, LIMIT).await.unwrap();
        let error = send(&client, &url, Repeat::Harmful, LIMIT).await.unwrap_err();
        assert!(error.sent, "nobody knows whether it was read: {error}");
        assert_eq!((peer.next().await.connection, peer.next().await.connection, peer.more()), (0, 0, 0));
    }

    #[tokio::test]
    async fn an_idle_connection_the_server_closed_is_not_used() {
        let client = Client::new(Trust::System);
        let ok = answer("200 OK", "", "");
        let mut peer = Peer::start(vec![Act::AnswerAndClose(ok.clone()), Act::Answer(ok)]).await;
        let url = peer.url("/");
        for connection in [0, 1] {
            send(&client, &url, Repeat::Harmful, LIMIT).await.expect("never on a dead connection");
            assert_eq!(peer.next().await.connection, connection);
            if connection == 0 {
                let mut rounds = 0;
                while client.idle.lock().unwrap().iter_mut().any(Line::is_alive) {
                    rounds += 1;
                    assert!(rounds < 1000, "its end is seen");
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        }
    }

    #[tokio::test]
    async fn tls_is_checked_and_used() {
        let certificates = Certificates::make("localhost", false);
        let ok = || vec![Act::Answer(answer("200 OK", "", "safe"))];
        let peer = Peer::start_tls(ok(), certificates.server.clone()).await;
        let url = format!("https://localhost:{}/", peer.port);
        let error = send(&Client::new(Trust::System), &url, Repeat::Harmful, LIMIT).await.unwrap_err();
        assert_eq!((error.kind, error.sent), (HttpErrorKind::Connect(NetErrorKind::Tls), false), "{error}");
        let client = Client::new(Trust::Pin(certificates.pin.clone()));
        let got = send(&client, &url, Repeat::Harmful, LIMIT).await.unwrap();
        assert_eq!(got.body.as_deref(), Some(b"safe".as_slice()));
    }
}
