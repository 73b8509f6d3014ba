//! A connection that remembers whether anything was written to it or read from it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::crash;
use crate::net::stream::Stream;

/// What happened on a connection since the last [`Flags::reset`].
#[derive(Debug, Default)]
pub(crate) struct Flags {
    written: AtomicBool,
    flushed: AtomicBool,
    read: AtomicBool,
}

impl Flags {
    pub(crate) fn reset(&self) {
        self.written.store(false, Ordering::SeqCst);
        self.flushed.store(false, Ordering::SeqCst);
        self.read.store(false, Ordering::SeqCst);
    }

    /// A byte may have left.
    pub(crate) fn written(&self) -> bool {
        self.written.load(Ordering::SeqCst)
    }

    /// What was written is on its way; of a small request that is all of it.
    fn flushed(&self) {
        if self.written() && !self.flushed.swap(true, Ordering::SeqCst) {
            crash::point("bytes_written");
        }
    }

    /// A byte came.
    pub(crate) fn read(&self) -> bool {
        self.read.load(Ordering::SeqCst)
    }
}

/// The watched connection.
#[derive(Debug)]
pub(crate) struct Watched {
    inner: Stream,
    flags: Arc<Flags>,
}

impl Watched {
    pub(crate) fn new(inner: Stream, flags: Arc<Flags>) -> Self {
        Self { inner, flags }
    }
}

impl AsyncRead for Watched {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.inner).poll_read(cx, buf);
        if buf.filled().len() > before {
            this.flags.read.store(true, Ordering::SeqCst);
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // TLS may have put a part on the line before it reports an error; a plain socket says what it took.
        if matches!(this.inner, Stream::Tls(_)) {
            this.flags.written.store(true, Ordering::SeqCst);
        }
        let polled = Pin::new(&mut this.inner).poll_write(cx, buf);
        if matches!(polled, Poll::Ready(Ok(count)) if count > 0) {
            this.flags.written.store(true, Ordering::SeqCst);
        }
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_flush(cx);
        if matches!(polled, Poll::Ready(Ok(()))) {
            this.flags.flushed();
        }
        polled
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}
