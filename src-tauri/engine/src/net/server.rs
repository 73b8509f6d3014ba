//! An HTTP/1.1 server for this computer only. It is bounded in everything a caller could stretch: connections,
//! head, body, time. A body is handed on piece by piece, so that its size costs no memory.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, EXPECT, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::model::error::{Fault, FaultCode};

/// Connections served at once; more wait in the system's queue.
const CONNECTIONS_MAX: usize = 64;
const HEAD_BYTES_MAX: usize = 16 * 1024;
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// A head that takes longer is not waited for; an idle connection is closed after the same time.
const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// A whole body has to be here by then.
const BODY_LIMIT: Duration = Duration::from_secs(60);
/// Of a refused body so much more is read and forgotten: many callers read no answer before they have sent all.
const DISCARD_BYTES_MAX: u64 = 64 * 1024 * 1024;
const DISCARD_LIMIT: Duration = Duration::from_secs(10);
/// Calls in hand when it is stopped get this long.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// After the system refused a connection (no file handles left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The head of a request.
#[derive(Debug, Clone)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The path, without query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
}

/// An answer, always JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub json: String,
    /// One more header.
    pub header: Option<(HeaderName, &'static str)>,
}

impl Reply {
    /// `{"error": words}`.
    #[must_use]
    pub fn error(status: StatusCode, words: &str) -> Self {
        Self { status, json: serde_json::json!({ "error": words }).to_string(), header: None }
    }
}

/// Answers requests.
pub trait Handler: Send + Sync {
    /// Looks at a head: refuses at once, or says who takes the body.
    ///
    /// # Errors
    /// The answer of a refusal.
    fn begin(&self, head: &Head) -> Result<Accepted, Reply>;
}

/// A request whose body is wanted.
pub struct Accepted {
    /// Longer bodies are refused with 413.
    pub bytes_max: usize,
    /// Takes it.
    pub taker: Box<dyn Taker>,
}

/// Takes the body of one request and answers.
pub trait Taker: Send {
    /// The next piece.
    fn piece(&mut self, piece: &[u8]);
    /// That was all. The answer has to come within bounds of its own.
    fn finish(self: Box<Self>) -> BoxFuture<'static, Reply>;
}

/// A port on this computer that is listened at.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    port: u16,
}

impl Listener {
    /// Takes a port of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// `busy` where another program has it, `invalid` where it may not be used.
    pub async fn bind(port: u16) -> Result<Self, Fault> {
        let listening = async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
            let port = listener.local_addr()?.port();
            Ok::<_, io::Error>(Self { listener, port })
        };
        listening.await.map_err(|error| {
            let (code, cause) = match error.kind() {
                io::ErrorKind::AddrInUse => (FaultCode::Busy, "another program listens there".to_owned()),
                io::ErrorKind::PermissionDenied => (FaultCode::Invalid, "this user may not use it".to_owned()),
                _ => (FaultCode::Unreachable, error.to_string()),
            };
            let consequence = format!("Nothing can be received at port {port}");
            Fault::new(code, consequence, cause, "choose another port, or 0 for a free one")
        })
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves until it is stopped, and finishes the calls in hand.
    pub async fn serve(self, handler: Arc<dyn Handler>, stop: CancellationToken) {
        let mut connections = FuturesUnordered::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(()) = connections.next(), if !connections.is_empty() => {}
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                    Ok((socket, _)) => connections.push(connection(socket, handler.clone(), stop.clone())),
                    Err(error) => {
                        tracing::warn!(%error, port = self.port, "Could not take a connection");
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        drop(self.listener);
        let rest = async { while connections.next().await.is_some() {} };
        if timeout(STOP_LIMIT, rest).await.is_err() {
            tracing::warn!(port = self.port, "Ended connections that did not finish in time");
        }
    }
}

async fn connection(socket: TcpStream, handler: Arc<dyn Handler>, stop: CancellationToken) {
    let service = service_fn(move |request| {
        let handler = handler.clone();
        async move { Ok::<_, Infallible>(respond(request, handler.as_ref()).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX);
    let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(socket), service));
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "A connection ended early");
    }
}

async fn respond(request: Request<Incoming>, handler: &dyn Handler) -> Response<Full<Bytes>> {
    let (parts, mut body) = request.into_parts();
    let head = Head { method: parts.method, path: parts.uri.path().to_owned(), headers: parts.headers };
    let reply = match handler.begin(&head) {
        Err(reply) => Err(reply),
        Ok(accepted) => match timeout(BODY_LIMIT, take(&mut body, accepted)).await {
            Ok(taken) => taken,
            Err(_) => Err(Reply::error(StatusCode::REQUEST_TIMEOUT, "The body did not come in time")),
        },
    };
    match reply {
        Ok(taker) => response(taker.finish().await, false),
        Err(reply) => {
            discard(&mut body, &head).await;
            response(reply, !body.is_end_stream())
        }
    }
}

/// Hands the body to its taker, piece by piece.
async fn take(body: &mut Incoming, accepted: Accepted) -> Result<Box<dyn Taker>, Reply> {
    let Accepted { bytes_max, mut taker } = accepted;
    let too_large = || Reply::error(StatusCode::PAYLOAD_TOO_LARGE, &format!("The body is over {bytes_max} bytes"));
    let mut left = bytes_max;
    if body.size_hint().lower() > u64::try_from(left).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Reply::error(StatusCode::BAD_REQUEST, "The body could not be read to its end"))?;
        let Ok(piece) = frame.into_data() else { continue };
        left = left.checked_sub(piece.len()).ok_or_else(too_large)?;
        taker.piece(&piece);
    }
    Ok(taker)
}

/// Reads on for a while. A caller that asked first (RFC 9110 section 10.1.1) is not invited to send.
async fn discard(body: &mut Incoming, head: &Head) {
    if head.headers.contains_key(EXPECT) || body.size_hint().lower() > DISCARD_BYTES_MAX {
        return;
    }
    let read = async {
        let mut left = DISCARD_BYTES_MAX;
        while let Some(Ok(frame)) = body.frame().await {
            let count = frame.data_ref().map_or(0, |piece| u64::try_from(piece.len()).unwrap_or(u64::MAX));
            match left.checked_sub(count) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // What is not here by then is left; the answer goes out all the same.
    let _ = timeout(DISCARD_LIMIT, read).await;
}

fn response(reply: Reply, close: bool) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(reply.json)));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some((name, value)) = reply.header {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if close {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
