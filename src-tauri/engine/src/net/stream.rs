//! A connection that is plain or protected, so that the protocols above need not care.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::net::certificate::Certificate;
use crate::net::error::NetError;
use crate::net::tls;

/// One connection to a server.
#[derive(Debug)]
pub enum Stream {
    /// Nothing protects it.
    Plain(TcpStream),
    /// Protected by TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// The socket below a plain connection, for STARTTLS; `None` where TLS stands already.
    #[must_use]
    pub fn into_plain(self) -> Option<TcpStream> {
        match self {
            Self::Plain(stream) => Some(stream),
            Self::Tls(_) => None,
        }
    }

    /// Protects a plain socket; `host` is the name its certificate has to be for.
    ///
    /// # Errors
    /// `Tls` where certificate or protocol do not fit, `Timeout` after `limit`, `Closed` or `Io`.
    pub async fn protect(
        socket: TcpStream,
        host: &str,
        config: Arc<ClientConfig>,
        limit: Duration,
    ) -> Result<Self, NetError> {
        Ok(Self::Tls(Box::new(tls::handshake(socket, host, config, limit).await?)))
    }
}

impl Stream {
    /// The certificate that the server showed; `None` on a plain connection.
    #[must_use]
    pub fn certificate(&self) -> Option<Certificate> {
        let Self::Tls(stream) = self else { return None };
        stream.get_ref().1.peer_certificates()?.first().map(Certificate::of)
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
