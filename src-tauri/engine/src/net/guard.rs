//! A guard in front of a line-and-literal protocol (IMAP): it hands on whole responses only, each within its limits,
//! so that what parses them never sees half a line, a line without end, or memory promised to a literal that never
//! comes (imap.md P11, P12, P13).

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Says whether a whole response can be understood; one that cannot is left out and the line goes on.
pub type Screen = fn(&[u8]) -> bool;

/// Octets taken from the line at a time.
const READ_BYTES: usize = 16 * 1024;
/// An empty buffer larger than this is given back.
const KEPT_BYTES: usize = 64 * 1024;

/// What one response may measure, in octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLimits {
    /// All of a response but its literals.
    pub line_bytes_max: usize,
    /// One literal (RFC 3501 section 4.3).
    pub literal_bytes_max: usize,
}

/// The other side broke a limit. The line is of no use after it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A response goes on and on.
    #[error("a line of more than {0} octets")]
    LineTooLong(usize),
    /// More was announced than can have been asked for.
    #[error("a literal of {announced} octets, {allowed} are allowed")]
    LiteralTooLarge {
        /// What the other side wants to send.
        announced: u64,
        /// What fits.
        allowed: usize,
    },
    /// More came than the command in hand can answer.
    #[error("more octets than the command in hand can bring")]
    BudgetSpent,
    /// The very first line is of another protocol; its beginning, without control characters.
    #[error("not the protocol expected: {0:?}")]
    NotUnderstood(String),
}

impl Violation {
    /// The violation inside an error of reading, if it is one.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Self>())
    }
}

/// The guarded stream. Writing passes through.
pub struct Guard<S> {
    inner: S,
    limits: GuardLimits,
    screen: Screen,
    strict: bool,
    budget: u64,
    received: u64,
    skipped: u64,
    frame: Frame,
    ready: Vec<u8>,
    taken: usize,
    failed: Option<Violation>,
}

/// One response as it comes in.
#[derive(Default)]
struct Frame {
    bytes: Vec<u8>,
    line_bytes: usize,
    literal_left: usize,
}

impl<S> Guard<S> {
    /// Guards a stream. Until [`Guard::lenient`] a response that `screen` refuses is an error.
    pub fn new(inner: S, limits: GuardLimits, screen: Screen) -> Self {
        Self {
            inner,
            limits,
            screen,
            strict: true,
            budget: u64::MAX,
            received: 0,
            skipped: 0,
            frame: Frame::default(),
            ready: Vec::new(),
            taken: 0,
            failed: None,
        }
    }

    /// From here on responses that cannot be understood are left out and counted.
    pub fn lenient(&mut self) {
        self.strict = false;
    }

    /// Octets that may come from now on.
    pub fn allow(&mut self, bytes: u64) {
        self.budget = bytes;
    }

    /// Octets that came so far: a slow line is not a dead one.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Responses that were left out so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The line below.
    #[must_use]
    pub fn line(&self) -> &S {
        &self.inner
    }

    /// The stream below. What was read ahead of it is dropped, as after STARTTLS it must be (RFC 3501 section 6.2.1).
    pub fn into_inner(self) -> S {
        self.inner
    }

    fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Violation> {
        self.received += bytes.len() as u64;
        self.budget = self.budget.checked_sub(bytes.len() as u64).ok_or(Violation::BudgetSpent)?;
        while !bytes.is_empty() {
            let in_literal = self.frame.literal_left > 0;
            let length = if in_literal {
                self.frame.literal_left.min(bytes.len())
            } else {
                bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1)
            };
            let (now, later) = bytes.split_at(length);
            self.frame.bytes.extend_from_slice(now);
            bytes = later;
            if in_literal {
                self.frame.literal_left -= length;
                continue;
            }
            self.frame.line_bytes += length;
            if self.frame.line_bytes > self.limits.line_bytes_max {
                return Err(Violation::LineTooLong(self.limits.line_bytes_max));
            }
            if now.ends_with(b"\n") {
                self.end_of_line()?;
            }
        }
        Ok(())
    }

    fn end_of_line(&mut self) -> Result<(), Violation> {
        let frame = &mut self.frame;
        // Some servers end lines with a bare LF; the parser wants CRLF.
        if !frame.bytes.ends_with(b"\r\n") {
            frame.bytes.pop();
            frame.bytes.extend_from_slice(b"\r\n");
        }
        if let Some(announced) = announced_literal(&frame.bytes) {
            let room = (self.limits.line_bytes_max + self.limits.literal_bytes_max).saturating_sub(frame.bytes.len());
            let allowed = self.limits.literal_bytes_max.min(room);
            frame.literal_left = usize::try_from(announced)
                .ok()
                .filter(|size| *size <= allowed)
                .ok_or(Violation::LiteralTooLarge { announced, allowed })?;
            return Ok(());
        }
        let whole = std::mem::take(frame).bytes;
        if !(self.screen)(&whole) {
            if self.strict {
                return Err(Violation::NotUnderstood(beginning(&whole)));
            }
            self.skipped += 1;
            tracing::debug!(bytes = whole.len(), "Left out a response that cannot be understood");
        } else if self.ready.is_empty() {
            self.ready = whole;
        } else {
            self.ready.extend_from_slice(&whole);
        }
        Ok(())
    }

    fn hand_on(&mut self, buf: &mut ReadBuf<'_>) {
        let waiting = self.ready.get(self.taken..).unwrap_or_default();
        let now = waiting.get(..buf.remaining()).unwrap_or(waiting);
        buf.put_slice(now);
        self.taken += now.len();
        if self.taken >= self.ready.len() {
            self.taken = 0;
            self.ready.clear();
            if self.ready.capacity() > KEPT_BYTES {
                self.ready = Vec::new();
            }
        }
    }
}

/// The size in `{n}` at the end of a line. Status text (RFC 3501 section 7.1) may end so without meaning it.
fn announced_literal(frame: &[u8]) -> Option<u64> {
    let line = frame.strip_suffix(b"}\r\n")?;
    let line = line.strip_suffix(b"+").unwrap_or(line);
    let digits = line.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (head, number) = line.split_at(line.len() - digits);
    let status = frame.starts_with(b"+") || frame.split(|byte| *byte == b' ').nth(1).is_some_and(is_status);
    if digits == 0 || !head.ends_with(b"{") || status {
        return None;
    }
    // More digits than a u64 holds are more than any limit.
    Some(std::str::from_utf8(number).ok()?.parse().unwrap_or(u64::MAX))
}

fn is_status(word: &[u8]) -> bool {
    [&b"OK"[..], b"NO", b"BAD", b"BYE", b"PREAUTH"].iter().any(|status| word.eq_ignore_ascii_case(status))
}

fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).take(80).collect()
}

impl<S> fmt::Debug for Guard<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("received", &self.received)
            .field("skipped", &self.skipped)
            .finish_non_exhaustive()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guard<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let guard = self.get_mut();
        while guard.ready.is_empty() {
            if let Some(violation) = &guard.failed {
                return Poll::Ready(Err(io::Error::other(violation.clone())));
            }
            let mut space = [0_u8; READ_BYTES];
            let mut chunk = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut guard.inner).poll_read(cx, &mut chunk))?;
            if chunk.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            // Whole responses before the violation still count.
            guard.failed = guard.feed(chunk.filled()).err();
        }
        guard.hand_on(buf);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guard<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    const SMALL: GuardLimits = GuardLimits { line_bytes_max: 40, literal_bytes_max: 10 };

    fn starred(frame: &[u8]) -> bool {
        frame.starts_with(b"*")
    }

    /// What comes out of a lenient guard for what goes in, however it is cut, and how it ends.
    async fn through(input: &[u8], budget: u64) -> (String, Option<Violation>, u64) {
        let mut seen = None;
        for cut in [1, 2, 7, 1000] {
            let mut guard = Guard::new(in_pieces(input, cut), SMALL, starred);
            guard.lenient();
            guard.allow(budget);
            let mut out = Vec::new();
            let end = guard.read_to_end(&mut out).await;
            let violation = end.as_ref().err().map(|error| Violation::of(error).expect("a violation").clone());
            let result = (String::from_utf8(out).unwrap(), violation, guard.skipped());
            assert!(seen.as_ref().is_none_or(|before| *before == result), "cut to {cut}: {result:?} and {seen:?}");
            seen = Some(result);
        }
        seen.unwrap()
    }

    fn in_pieces(input: &[u8], cut: usize) -> impl AsyncRead + Unpin {
        let (mut far, near) = tokio::io::duplex(cut);
        let input = input.to_vec();
        tokio::spawn(async move {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut far, &input).await;
        });
        near
    }

    #[tokio::test]
    async fn whole_responses_pass_and_others_are_left_out() {
        let case = async |input: &str, output: &str, skipped: u64| {
            let (out, violation, left_out) = through(input.as_bytes(), 10_000).await;
            assert_eq!((out.as_str(), violation, left_out), (output, None, skipped), "{input:?}");
        };
        case("* 1 EXISTS\r\n", "* 1 EXISTS\r\n", 0).await;
        case("* 1 EXISTS\n* 2 RECENT\n", "* 1 EXISTS\r\n* 2 RECENT\r\n", 0).await;
        case("* a {3}\r\n\r\n* b\r\n? c\r\n* d\r\n", "* a {3}\r\n\r\n* b\r\n* d\r\n", 1).await;
        case("* a {0}\r\n b\r\n", "* a {0}\r\n b\r\n", 0).await;
        case("* OK see {5}\r\n* 1 EXISTS\r\n", "* OK see {5}\r\n* 1 EXISTS\r\n", 0).await;
        case("* half a line", "", 0).await;
        case("\r\n* x\r\n", "* x\r\n", 1).await;
    }

    #[tokio::test]
    async fn a_limit_broken_is_an_error_by_type_and_what_came_before_counts() {
        let case = async |input: String, budget: u64, output: &str, expected: Violation| {
            let (out, violation, _) = through(input.as_bytes(), budget).await;
            assert_eq!((out.as_str(), violation), (output, Some(expected)), "{input:?}");
        };
        case("* ok\r\n* a {11}\r\n".into(), 999, "* ok\r\n", Violation::LiteralTooLarge { announced: 11, allowed: 10 })
            .await;
        case(
            "* a {99999999999999999999999}\r\n".into(),
            999,
            "",
            Violation::LiteralTooLarge { announced: u64::MAX, allowed: 10 },
        )
        .await;
        case(format!("* {}", "x".repeat(60)), 999, "", Violation::LineTooLong(40)).await;
        let many = "* a".to_owned() + &" {9}\r\n123456789".repeat(4);
        case(many, 999, "", Violation::LiteralTooLarge { announced: 9, allowed: 0 }).await;
    }

    #[tokio::test]
    async fn more_than_the_budget_is_refused() {
        let (mut far, near) = tokio::io::duplex(1000);
        let mut guard = Guard::new(near, SMALL, starred);
        guard.allow(12);
        tokio::io::AsyncWriteExt::write_all(&mut far, b"* 1 EXISTS\r\n").await.unwrap();
        let mut buf = [0; 12];
        guard.read_exact(&mut buf).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut far, b"*").await.unwrap();
        let error = guard.read(&mut buf).await.unwrap_err();
        assert_eq!(Violation::of(&error), Some(&Violation::BudgetSpent));
    }

    #[tokio::test]
    async fn another_protocol_is_named_by_its_first_line() {
        let (mut far, near) = tokio::io::duplex(1000);
        tokio::io::AsyncWriteExt::write_all(&mut far, b"220 mail ESMTP\x07\r\n").await.unwrap();
        let error = Guard::new(near, SMALL, starred).read(&mut [0; 10]).await.unwrap_err();
        assert_eq!(Violation::of(&error), Some(&Violation::NotUnderstood("220 mail ESMTP".to_owned())));
    }
}
