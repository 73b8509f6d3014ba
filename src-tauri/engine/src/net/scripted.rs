//! Scripted peers for tests: a server that does what a real one will not do on demand.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

/// What the peer does next: one for each request, or for each connection where it does not read one.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Reads the request and writes this; the connection stays open.
    Answer(String),
    /// Reads the request, writes this and closes.
    AnswerAndClose(String),
    /// Reads the request and closes: the reply is lost.
    Drop,
    /// Resets the connection before reading anything.
    Reset,
    /// Reads the request and says nothing.
    Hang,
}

/// One request as the peer saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Number of the connection, from 0.
    pub(crate) connection: usize,
    /// Request line and headers.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: String,
}

impl Seen {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A running peer; it ends with the test's runtime.
pub(crate) struct Peer {
    /// Its port on 127.0.0.1.
    pub(crate) port: u16,
    seen: mpsc::UnboundedReceiver<Seen>,
}

impl Peer {
    /// Starts one that works off a script and then refuses.
    pub(crate) async fn start(script: Vec<Act>) -> Self {
        Self::start_with(script, None).await
    }

    /// The same behind TLS.
    pub(crate) async fn start_tls(script: Vec<Act>, config: Arc<ServerConfig>) -> Self {
        Self::start_with(script, Some(TlsAcceptor::from(config))).await
    }

    async fn start_with(script: Vec<Act>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, seen) = mpsc::unbounded_channel();
        tokio::spawn(serve(listener, script, tls, sender));
        Self { port, seen }
    }

    /// Its address with a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The next request, waiting for it.
    pub(crate) async fn next(&mut self) -> Seen {
        tokio::time::timeout(Duration::from_secs(10), self.seen.recv()).await.expect("a request in time").expect("one")
    }

    /// Requests that came and were not asked for yet.
    pub(crate) fn more(&mut self) -> usize {
        std::iter::from_fn(|| self.seen.try_recv().ok()).count()
    }
}

async fn serve(listener: TcpListener, script: Vec<Act>, tls: Option<TlsAcceptor>, seen: mpsc::UnboundedSender<Seen>) {
    let mut script = script.into_iter().peekable();
    let mut connection = 0;
    while script.peek().is_some() {
        let (socket, _) = listener.accept().await.unwrap();
        if matches!(script.peek(), Some(Act::Reset)) {
            script.next();
            SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
        } else if let Some(acceptor) = &tls {
            if let Ok(stream) = acceptor.accept(socket).await {
                talk(stream, &mut script, connection, &seen).await;
            }
        } else {
            talk(socket, &mut script, connection, &seen).await;
        }
        connection += 1;
    }
}

async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    script: &mut std::iter::Peekable<std::vec::IntoIter<Act>>,
    connection: usize,
    sender: &mpsc::UnboundedSender<Seen>,
) {
    while script.peek().is_some() {
        let Some(mut seen) = read_request(&mut stream).await else { return };
        seen.connection = connection;
        let _ = sender.send(seen);
        match script.next().unwrap() {
            Act::Answer(text) => stream.write_all(text.as_bytes()).await.unwrap(),
            Act::AnswerAndClose(text) => {
                let _ = stream.write_all(text.as_bytes()).await;
                let _ = stream.shutdown().await;
                return;
            }
            Act::Drop | Act::Reset => return,
            Act::Hang => std::future::pending::<()>().await,
        }
    }
}

async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let mut seen = Seen { connection: 0, head: String::from_utf8(head).unwrap(), body: String::new() };
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    seen.body = String::from_utf8(body).unwrap();
    Some(seen)
}

/// An answer with a body and its length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len())
}

/// An authority and a certificate of it for one name.
pub(crate) struct Certificates {
    /// PEM of the authority.
    pub(crate) authority: String,
    /// SHA-256 of the certificate.
    pub(crate) pin: String,
    /// What a server needs to show it.
    pub(crate) server: Arc<ServerConfig>,
}

impl Certificates {
    /// For a name or address, valid from now on or only in the past.
    pub(crate) fn make(name: &str, expired: bool) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if expired {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
            params.not_before = rcgen::date_time_ymd(2019, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        Self::show(authority.pem(), &certificate, &key)
    }

    /// Signed by itself and an authority by its extensions, as `openssl req -x509` makes them.
    pub(crate) fn make_self_signed(name: &str) -> Self {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self::show(certificate.pem(), &certificate, &key)
    }

    fn show(authority: String, certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        use sha2::Digest;
        let pin = sha2::Sha256::digest(certificate.der()).iter().map(|byte| format!("{byte:02x}")).collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        Self { authority, pin, server: Arc::new(server) }
    }
}
