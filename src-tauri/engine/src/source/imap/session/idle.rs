//! IDLE (RFC 2177). However it ends, the caller looks for mail next: it is a wake-up and never a count (imap.md rule 4).

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::limits;
use crate::source::imap::session::conn::{ImapConn, Line, Tag};
use crate::source::imap::session::reply::ImapError;

/// Why the waiting is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The server told of mail.
    Mail,
    /// The server said nothing for too long, or IDLE has to be asked anew.
    Renew,
    /// The time the caller gave is over.
    Due,
    /// Somebody says there may be mail.
    Poked,
    /// The source is asked to end.
    Stop,
}

/// Waits. The tag is given where IDLE still stands and DONE has to be sent; NO or BAD mean that IDLE was refused.
/// `silence`: without an octet for this long, DONE has to show whether the line still stands.
pub(crate) async fn idle<S: Line>(
    conn: &mut ImapConn<S>,
    due: Instant,
    silence: Duration,
    poke: &Notify,
    stop: &CancellationToken,
) -> Result<(Why, Option<Tag>), ImapError> {
    let tag = conn.send("", "IDLE", limits::IMAP_ANSWER_BYTES_MAX).await?;
    let mut ignore = |_| {};
    let begun = tokio::select! {
        begun = conn.wait_continue(&tag, limits::IMAP_IDLE_START_WAIT, &mut ignore) => Some(begun),
        () = poke.notified() => None,
    };
    let Some(begun) = begun else {
        // Somebody is waiting, and the line may be dead: it gets no longer than DONE would.
        conn.wait_continue(&tag, limits::IMAP_DONE_WAIT, &mut |_| {}).await?;
        return Ok((Why::Poked, Some(tag)));
    };
    begun?;
    let renew = Instant::now() + limits::IMAP_IDLE_MAX;
    // Exchange tells of a mail between IDLE and `+`.
    while !conn.grown() {
        let reply = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok((Why::Stop, Some(tag))),
            reply = conn.next(silence) => reply,
            () = poke.notified() => return Ok((Why::Poked, Some(tag))),
            () = sleep_until(due) => return Ok((Why::Due, Some(tag))),
            () = sleep_until(renew) => return Ok((Why::Renew, Some(tag))),
        };
        match reply {
            Ok(reply) => match conn.ended(&tag, reply) {
                Ok(Err(_)) => {}
                // The server ended it by itself, in whatever words.
                Ok(Ok(_)) | Err(_) => return Ok((Why::Renew, None)),
            },
            // No keepalive: whether the line still stands, DONE will show.
            Err(ImapError::Timeout) => return Ok((Why::Renew, Some(tag))),
            Err(error) => return Err(error),
        }
    }
    Ok((Why::Mail, Some(tag)))
}

/// Ends a standing IDLE and nothing else.
pub(crate) async fn done<S: Line>(conn: &mut ImapConn<S>, tag: Tag) -> Result<(), ImapError> {
    conn.send_line("DONE").await?;
    match conn.finish_within(&tag, limits::IMAP_DONE_WAIT, &mut |_| {}).await {
        Err(error) if !error.session_lives() => Err(error),
        _ => Ok(()),
    }
}
