//! Looking around: the open folder when the server told of mail, all folders at each safety poll, and old mail in between.

use std::time::Duration;

use tokio::time::Instant;

use crate::model::occasion::Occasion;
use crate::source::imap::backfill;
use crate::source::imap::catch_up::{check, wake};
use crate::source::imap::session::conn::{Line, Tag};
use crate::source::imap::session::folder;
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::watch::Watch;
use crate::source::imap::watched::{Reader, Trouble, Watched};

/// A mail that was told of and cannot be fetched yet is asked for after these.
const NOT_YET: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

impl Watch {
    /// Looks into the open folder until what the server told of has come; `false`: look around again.
    pub(super) async fn look<S: Line>(
        &mut self,
        reader: &mut Reader<S>,
        mut idle: Option<Tag>,
    ) -> Result<bool, ImapError> {
        let Some(at) = self.open_folder() else { return Ok(false) };
        loop {
            let Some(watched) = self.folders.get_mut(at) else { return Ok(false) };
            let woken = match wake(reader, &self.desk, watched, idle.take()).await {
                Ok(woken) => woken,
                Err(trouble) => return self.park(at, trouble).map(|()| false),
            };
            if woken.unsettled && !self.settle(reader, at, woken.mails > 0).await? {
                return Ok(false);
            }
            if !reader.conn().grown() {
                break;
            }
        }
        self.end_catch_up().await;
        self.publish(reader);
        Ok(true)
    }

    /// More was told of than came: checks the folder, and more than once where nothing comes at all.
    async fn settle<S: Line>(&mut self, reader: &mut Reader<S>, at: usize, some: bool) -> Result<bool, ImapError> {
        for wait in NOT_YET {
            if self.pause(wait, true).await {
                break;
            }
            let Some(watched) = self.folders.get_mut(at) else { return Ok(false) };
            match check(reader, &self.desk, watched, false).await {
                Ok(0) if !some => {}
                Ok(_) => break,
                Err(trouble) => return self.park(at, trouble).map(|()| false),
            }
        }
        Ok(true)
    }

    /// The folder that is open between rounds: the first that can be opened.
    pub(super) fn open_folder(&self) -> Option<usize> {
        self.folders.iter().position(|watched| watched.parked.is_none())
    }

    /// Checks every folder, and ends in the one that is watched.
    pub(super) async fn round<S: Line>(&mut self, reader: &mut Reader<S>) -> Result<u32, ImapError> {
        let mut found = 0;
        // New mail of the first folder is what most owners wait for; it is looked at before and after the others.
        if self.folders.len() > 1 {
            found += self.check(reader, 0).await?;
        }
        for at in 1..self.folders.len() {
            if self.stop.is_cancelled() {
                return Ok(found);
            }
            if self.has_changed(reader, at).await? {
                self.check(reader, at).await?;
            }
        }
        let mut at = 0;
        while at < self.folders.len() {
            found += self.check(reader, at).await?;
            if self.open_folder() == Some(at) {
                break;
            }
            at += 1;
        }
        self.end_catch_up().await;
        self.publish(reader);
        Ok(found)
    }

    /// Every folder was looked at: what came while nobody looked is told. It is reported once in each session in any
    /// case, for what an earlier one did not get to.
    async fn end_catch_up(&mut self) {
        let mut due = !std::mem::replace(&mut self.caught_up, true);
        for watched in &mut self.folders {
            due |= watched.end_catch_up();
        }
        if let Some(watched) = self.folders.first().filter(|_| due) {
            self.desk.report(&watched.place, Vec::new(), None, Some(Occasion::CatchUp)).await;
        }
    }

    async fn check<S: Line>(&mut self, reader: &mut Reader<S>, at: usize) -> Result<u32, ImapError> {
        let Some(watched) = self.folders.get_mut(at) else { return Ok(0) };
        match check(reader, &self.desk, watched, true).await {
            Ok(found) => {
                watched.parked = None;
                Ok(found)
            }
            Err(trouble) => self.park(at, trouble).map(|()| 0),
        }
    }

    fn park(&mut self, at: usize, trouble: Trouble) -> Result<(), ImapError> {
        match trouble {
            Trouble::Line(error) => Err(error),
            Trouble::Folder(fault) => {
                if let Some(watched) = self.folders.get_mut(at) {
                    tracing::warn!(folder = watched.wire(), %fault, "A folder cannot be watched now");
                    watched.parked = Some(fault);
                }
                Ok(())
            }
        }
    }

    /// Whether the numbers of a folder that is not open moved; where the server does not tell, it has to be opened.
    async fn has_changed<S: Line>(&mut self, reader: &mut Reader<S>, at: usize) -> Result<bool, ImapError> {
        let Some(watched) = self.folders.get(at) else { return Ok(false) };
        let Some(cursor) = watched.cursor.as_ref().filter(|_| watched.parked.is_none()) else { return Ok(true) };
        let told = folder::lenient(folder::status(reader.conn(), watched.wire()).await)?;
        Ok(told.is_none_or(|numbers| {
            numbers.uid_next != Some(cursor.next_uid) || numbers.uid_validity != Some(cursor.uid_validity)
        }))
    }

    /// Looks through old mail, page by page; new mail goes first.
    pub(super) async fn background<S: Line>(&mut self, reader: &mut Reader<S>, due: Instant) -> Result<(), ImapError> {
        while !self.stop.is_cancelled() && Instant::now() < due {
            let Some(at) = self.folders.iter().position(Watched::has_backfill) else { return Ok(()) };
            let away = self.open_folder() != Some(at);
            if away {
                self.check(reader, at).await?;
            }
            let Some(watched) = self.folders.get_mut(at) else { return Ok(()) };
            if watched.parked.is_none() {
                match backfill::step(reader, &self.desk, watched).await {
                    Ok(()) => {}
                    Err(trouble) => self.park(at, trouble)?,
                }
            }
            if away {
                let home = self.open_folder().unwrap_or_default();
                self.check(reader, home).await?;
                self.end_catch_up().await;
            } else if reader.conn().grown() && !self.look(reader, None).await? {
                self.round(reader).await?;
            }
        }
        Ok(())
    }
}
