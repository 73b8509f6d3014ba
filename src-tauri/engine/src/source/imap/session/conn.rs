//! One IMAP connection: async-imap carries and parses, the command loop is ours (imap.md P1–P20).
//!
//! A command ends only on its own tag. A connection that was left in the middle of one, by a time limit or a dropped
//! future, refuses every further command: what it would read are old answers (P15).

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use async_imap::Client;
use async_imap::imap_proto::Response;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use crate::limits;
use crate::net::guard::{Guard, GuardLimits, Violation};
use crate::source::imap::session::reply::{Ended, ImapError, Reply, Words};

/// Anything that carries octets both ways.
pub(crate) trait Line: AsyncRead + AsyncWrite + Unpin + Debug + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Debug + Send> Line for T {}

/// An open command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tag(String);

/// One connection.
#[derive(Debug)]
pub(crate) struct ImapConn<S: Line> {
    client: Client<Guard<S>>,
    commands: u32,
    /// Commands sent whose tagged end has not been read.
    open: u32,
    exists: u32,
    expunged: u32,
    grown: bool,
    leaving: bool,
}

impl<S: Line> ImapConn<S> {
    /// Over a connected line; the greeting has not been read.
    pub(crate) fn new(line: S) -> Self {
        let limits = GuardLimits {
            line_bytes_max: limits::IMAP_LINE_BYTES_MAX,
            literal_bytes_max: limits::IMAP_LITERAL_BYTES_MAX,
        };
        let mut guard = Guard::new(line, limits, understood);
        guard.allow(limits::IMAP_ANSWER_BYTES_MAX);
        Self { client: Client::new(guard), commands: 0, open: 0, exists: 0, expunged: 0, grown: false, leaving: false }
    }

    /// The first response. Another protocol's is `NotUnderstood`; after it, odd responses are left out.
    pub(crate) async fn greeting(&mut self) -> Result<Reply, ImapError> {
        let reply = self.next(limits::IMAP_GREETING_WAIT).await;
        self.skip_greeting();
        reply
    }

    /// No greeting follows after STARTTLS.
    pub(crate) fn skip_greeting(&mut self) {
        self.client.get_mut().lenient();
    }

    /// The line below, for STARTTLS. What the server sent ahead of it is dropped.
    pub(crate) fn into_line(self) -> S {
        self.client.into_inner().into_inner()
    }

    /// The line below, to be looked at.
    pub(crate) fn line(&self) -> &S {
        self.client.get_ref().line()
    }

    /// Mails in the selected folder, as far as told.
    pub(crate) fn exists(&self) -> u32 {
        self.exists
    }

    /// A folder is about to be selected: the count begins anew.
    pub(crate) fn forget_folder(&mut self) {
        self.exists = 0;
        self.expunged = 0;
        self.grown = false;
    }

    /// Mails that left the selected folder since this was last asked.
    pub(crate) fn take_expunged(&mut self) -> u32 {
        std::mem::take(&mut self.expunged)
    }

    /// Whether mails came into the folder since this was last asked.
    pub(crate) fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// As [`Self::take_grown`], and it stays so.
    pub(crate) fn grown(&self) -> bool {
        self.grown
    }

    /// Runs one command; untagged responses go to `visit`. `budget` is what its answer may measure in octets.
    pub(crate) async fn run(
        &mut self,
        command: &str,
        budget: u64,
        visit: &mut (dyn FnMut(Reply) + Send),
    ) -> Result<Words, ImapError> {
        let tag = self.send("", command, budget).await?;
        self.finish(&tag, visit).await
    }

    /// Runs one command whose answer is small and only counts as done or not.
    pub(crate) async fn run_small(&mut self, command: &str) -> Result<Words, ImapError> {
        self.run(command, limits::IMAP_ANSWER_BYTES_MAX, &mut |_| {}).await
    }

    /// Sends a command, after `ahead` in the same write: what ends the command before (`DONE`).
    pub(crate) async fn send(&mut self, ahead: &str, command: &str, budget: u64) -> Result<Tag, ImapError> {
        let may = if ahead.is_empty() { 0 } else { 1 };
        if self.open > may {
            return Err(ImapError::Unfinished);
        }
        self.commands += 1;
        let tag = Tag(format!("R{}", self.commands));
        self.open += 1;
        self.client.get_mut().allow(budget);
        self.write(format!("{ahead}{} {command}\r\n", tag.0).as_bytes()).await?;
        Ok(tag)
    }

    /// Sends one more line of the open command.
    pub(crate) async fn send_line(&mut self, line: &str) -> Result<(), ImapError> {
        self.write(format!("{line}\r\n").as_bytes()).await
    }

    async fn write(&mut self, octets: &[u8]) -> Result<(), ImapError> {
        let guard = self.client.get_mut();
        let work = async {
            guard.write_all(octets).await?;
            guard.flush().await
        };
        match timeout(limits::IMAP_SILENCE_MAX, work).await {
            Ok(result) => result.map_err(|error| ImapError::Io(error.to_string())),
            Err(_) => Err(ImapError::Timeout),
        }
    }

    /// Reads until the command's own end.
    pub(crate) async fn finish(
        &mut self,
        tag: &Tag,
        visit: &mut (dyn FnMut(Reply) + Send),
    ) -> Result<Words, ImapError> {
        self.finish_within(tag, limits::IMAP_SILENCE_MAX, visit).await
    }

    /// As [`Self::finish`], with another limit of silence.
    pub(crate) async fn finish_within(
        &mut self,
        tag: &Tag,
        silence: Duration,
        visit: &mut (dyn FnMut(Reply) + Send),
    ) -> Result<Words, ImapError> {
        let until = Instant::now() + limits::IMAP_COMMAND_MAX;
        loop {
            if Instant::now() > until {
                return Err(ImapError::Timeout);
            }
            let reply = self.next(silence).await?;
            match self.ended(tag, reply)? {
                Ok(words) => return Ok(words),
                Err(reply) => visit(reply),
            }
        }
    }

    /// Waits until the server wants more of an open command. `Err` with NO or BAD: it refused it, and it is over.
    pub(crate) async fn wait_continue(
        &mut self,
        tag: &Tag,
        silence: Duration,
        visit: &mut (dyn FnMut(Reply) + Send),
    ) -> Result<(), ImapError> {
        loop {
            match self.next(silence).await? {
                Reply::Continue => return Ok(()),
                reply => match self.ended(tag, reply)? {
                    // An OK where a `+` belongs leaves nothing to continue.
                    Ok(words) => return Err(ImapError::Bad(words)),
                    Err(reply) => visit(reply),
                },
            }
        }
    }

    /// Whether this reply ends the command: its words, or the reply back.
    pub(crate) fn ended(&mut self, tag: &Tag, reply: Reply) -> Result<Result<Words, Reply>, ImapError> {
        match reply {
            Reply::Done { tag: own, ended, words } if own == tag.0 => {
                self.open = self.open.saturating_sub(1);
                match ended {
                    Ended::Ok => Ok(Ok(words)),
                    Ended::No => Err(ImapError::No(words)),
                    Ended::Bad => Err(ImapError::Bad(words)),
                }
            }
            reply => Ok(Err(reply)),
        }
    }

    /// The next response. Dropping this future loses nothing. `silence` counts from the last octet, not from the last
    /// response: a slow line is not a dead one.
    pub(crate) async fn next(&mut self, silence: Duration) -> Result<Reply, ImapError> {
        loop {
            let before = self.client.get_ref().received();
            let response = match timeout(silence, self.client.read_response()).await {
                Ok(Ok(Some(response))) => response,
                Ok(Ok(None)) => return Err(ImapError::Eof),
                Ok(Err(error)) => return Err(read_error(&error)),
                Err(_) if self.client.get_ref().received() > before => continue,
                Err(_) => return Err(ImapError::Timeout),
            };
            let reply = Reply::of(response.parsed(), response.borrow_owner());
            self.note(&reply);
            match reply {
                // Some servers repeat it until the client closes (MailKit#938).
                Reply::Bye(words) if !self.leaving => return Err(ImapError::Bye(words)),
                reply => return Ok(reply),
            }
        }
    }

    fn note(&mut self, reply: &Reply) {
        match reply {
            Reply::Exists(count) => {
                self.grown |= *count > self.exists;
                self.exists = *count;
            }
            Reply::Expunged(_) => self.left(1),
            Reply::Vanished(count) => self.left(*count),
            _ => {}
        }
    }

    fn left(&mut self, count: u32) {
        self.exists = self.exists.saturating_sub(count);
        self.expunged = self.expunged.saturating_add(count);
    }

    /// Says good-bye, within `limit`.
    pub(crate) async fn logout(mut self, limit: Duration) {
        self.leaving = true;
        let _ = timeout(limit, self.run_small("LOGOUT")).await;
    }
}

fn read_error(error: &std::io::Error) -> ImapError {
    match (Violation::of(error), error.kind()) {
        (Some(violation), _) => ImapError::Guard(violation.clone()),
        (None, std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::ConnectionReset) => ImapError::Eof,
        (None, _) => ImapError::Io(error.to_string()),
    }
}

/// The guard's screen: the parser takes all of it. Some odd responses make it panic; those are left out too.
fn understood(frame: &[u8]) -> bool {
    let parsed = catch_unwind(AssertUnwindSafe(|| matches!(Response::parse(frame), Ok(([], _)))));
    parsed.unwrap_or(false)
}
