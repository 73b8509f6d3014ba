//! A folder that is watched, and the session that reads it.

use std::collections::BTreeMap;

use crate::limits;
use crate::model::error::Fault;
use crate::model::mailbox::FolderCursor;
use crate::model::occasion::Occasion;
use crate::model::sighting::{Intent, Sighting};
use crate::source::imap::desk::Desk;
use crate::source::imap::first_sight;
use crate::source::imap::place::Place;
use crate::source::imap::session::conn::{ImapConn, Line};
use crate::source::imap::session::failure::Failure;
use crate::source::imap::session::fetch::{self, Ask, Catch, Ids, Interrupted, Mail, Part, Taken};
use crate::source::imap::session::folder::{self, Numbers};
use crate::source::imap::session::login::Session;
use crate::source::imap::session::reply::ImapError;

/// A mail that broke the session so often is not asked for again.
const BREAKS_MAX: u32 = 4;

/// A session that reads mails.
#[derive(Debug)]
pub(super) struct Reader<S: Line> {
    /// The session.
    pub(super) session: Session<S>,
    ids: Ids,
    /// Whether the server has X-GUID; asked once, for some do not like to be asked.
    pub(super) guid: Option<bool>,
}

/// A folder that is watched.
#[derive(Debug)]
pub(super) struct Watched {
    /// Which.
    pub(super) place: Place,
    /// Where it stands, as stored.
    pub(super) cursor: Option<FolderCursor>,
    /// Why it cannot be opened now.
    pub(super) parked: Option<Fault>,
    /// Mails of the selected folder that were read or passed by.
    pub(super) accounted: u32,
    /// Where the session broke last.
    pub(super) hazard: Option<Hazard>,
    backfill_breaks: u32,
    /// It was checked in this session.
    checked: bool,
    /// What is read now came while nobody looked.
    catching_up: bool,
}

/// A mail, somewhere from this UID on, broke the session while it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hazard {
    pub(super) uid: u32,
    breaks: u32,
}

/// Why a folder could not be read to the end.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The session is of no more use.
    Line(ImapError),
    /// Only this folder is affected.
    Folder(Fault),
}

impl From<ImapError> for Trouble {
    fn from(error: ImapError) -> Self {
        Self::Line(error)
    }
}

impl Hazard {
    /// The mail is not asked for again.
    pub(super) fn is_too_often(self) -> bool {
        self.breaks >= BREAKS_MAX
    }
}

impl<S: Line> Reader<S> {
    /// Over a session that is signed in. `guid`: whether the server has X-GUID, where it was asked before.
    pub(super) fn new(session: Session<S>, guid: Option<bool>) -> Self {
        let ids =
            Ids { gmail: session.can("X-GM-EXT-1"), emailid: session.can("OBJECTID"), guid: guid.unwrap_or_default() };
        // Where a better id is offered nobody needs X-GUID.
        let guid = if ids.gmail || ids.emailid { Some(false) } else { guid };
        Self { session, ids, guid }
    }

    /// Its connection.
    pub(super) fn conn(&mut self) -> &mut ImapConn<S> {
        &mut self.session.conn
    }

    /// What is asked of each mail.
    pub(super) fn ask(&self, part: Part) -> Ask {
        Ask { part, ids: self.ids }
    }

    /// Reads a range to its end.
    pub(super) async fn take(
        &mut self,
        part: Part,
        catch: Catch,
        listed: Option<Vec<u32>>,
    ) -> Result<Taken, Interrupted> {
        let mut ask = self.ask(part);
        let taken = fetch::take(&mut self.session.conn, &mut ask, catch, listed).await;
        self.ids = ask.ids;
        taken
    }

    async fn learn_guid(&mut self) -> Result<(), ImapError> {
        if self.guid.is_none() && self.conn().exists() > 0 {
            self.ids.guid = fetch::has_guid(self.conn()).await?;
            self.guid = Some(self.ids.guid);
        }
        Ok(())
    }
}

impl Watched {
    /// A folder of which nothing is known yet.
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            cursor: None,
            parked: None,
            accounted: 0,
            hazard: None,
            backfill_breaks: 0,
            checked: false,
            catching_up: false,
        }
    }

    /// The name on the wire.
    pub(super) fn wire(&self) -> &str {
        &self.place.folder
    }

    /// Old mail is still to be looked through.
    pub(super) fn has_backfill(&self) -> bool {
        self.parked.is_none() && self.cursor.as_ref().is_some_and(|cursor| cursor.backfill.is_some())
    }

    /// Where it stands.
    pub(super) fn standing(&self) -> FolderCursor {
        self.cursor.clone().unwrap_or_default()
    }

    /// Another session begins.
    pub(super) fn begin_session(&mut self) {
        self.checked = false;
    }

    /// Whether what is read next came while nobody looked: its last check is too long ago. In one session the polls
    /// follow each other, unless the computer slept.
    pub(super) fn judge_gap(&mut self, desk: &Desk) {
        let longest = desk.absence_ms.saturating_add(if self.checked { desk.poll_ms } else { 0 });
        let last_at = self.cursor.as_ref().and_then(|cursor| cursor.last_check_at);
        self.catching_up |= last_at.is_some_and(|at| desk.now().saturating_sub(at) > longest);
    }

    /// It was read to the end.
    pub(super) fn note_checked(&mut self) {
        self.checked = true;
    }

    /// It is caught up. `true`: it had to be.
    pub(super) fn end_catch_up(&mut self) -> bool {
        std::mem::take(&mut self.catching_up)
    }

    /// Reports, and moves the cursor with it.
    pub(super) async fn store(&mut self, desk: &Desk, sightings: Vec<Sighting>, cursor: FolderCursor) {
        desk.report(&self.place, sightings, Some(&cursor), None).await;
        self.cursor = Some(cursor);
    }

    /// Opens the folder and finds where to go on.
    pub(super) async fn begin<S: Line>(&mut self, reader: &mut Reader<S>, desk: &Desk) -> Result<Numbers, Trouble> {
        let numbers = folder::examine(reader.conn(), &self.place.folder).await.map_err(|error| {
            if error.session_lives() {
                Trouble::Folder(Failure::folder(&self.place.folder, &error))
            } else {
                Trouble::Line(error)
            }
        })?;
        if self.cursor.is_none() {
            self.cursor = desk.cursor(&self.place).await;
        }
        let start = first_sight::start(self.cursor.clone(), &numbers, desk.now())
            .ok_or_else(|| Trouble::Folder(first_sight::no_uidnext(&self.place.folder)))?;
        if let Some(change) = start.change {
            tracing::info!(folder = self.place.folder, ?change, "The folder is read from a new place");
            self.hazard = None;
            self.store(desk, Vec::new(), start.cursor).await;
        }
        self.accounted = numbers.exists;
        reader.learn_guid().await?;
        Ok(numbers)
    }

    /// Notes where the session broke, so that the next one goes about it mail by mail.
    /// Only a mail that was asked for alone is counted against.
    pub(super) fn broken(&mut self, interrupted: Interrupted, alone: Option<Hazard>) -> Trouble {
        let breaks = match (alone, &interrupted.error) {
            (None, _) => 1,
            // What breaks a limit of ours breaks it every time.
            (Some(_), ImapError::Guard(_)) => BREAKS_MAX,
            (Some(hazard), _) => hazard.breaks + 1,
        };
        self.hazard = Some(Hazard { uid: interrupted.suspect, breaks });
        Trouble::Line(interrupted.error)
    }

    /// Mails of one page of the background reading: fewer after each time that it broke the session.
    pub(super) fn backfill_page(&self) -> u32 {
        match self.backfill_breaks {
            0 => limits::IMAP_PAGE_UIDS,
            1 => 25,
            2 => 5,
            _ => 1,
        }
    }

    /// The background reading broke the session: `true` where the mail in hand, alone, did so too often.
    pub(super) fn backfill_broke(&mut self) -> bool {
        self.backfill_breaks += 1;
        self.backfill_breaks > BREAKS_MAX
    }

    /// The background reading went on.
    pub(super) fn backfill_went_on(&mut self) {
        self.backfill_breaks = 0;
    }

    /// What is to be told of mails read here.
    pub(super) fn sightings(&self, desk: &Desk, taken: Taken) -> Vec<Sighting> {
        let cursor = self.standing();
        // A clock that was set back must not make all that comes old.
        let checked_at = cursor.last_check_at.map(|at| at.min(desk.now()));
        let mut all: BTreeMap<u32, Sighting> = BTreeMap::new();
        for uid in taken.unreadable {
            tracing::warn!(folder = self.place.folder, uid, "A mail could not be read");
            all.insert(uid, self.place.sighting(cursor.uid_validity, uid, Mail::default(), Intent::Unreadable));
        }
        for (uid, mail) in taken.mails {
            let oldest = checked_at.map(|at| at.saturating_sub(desk.old_ms));
            let old = mail.received_at.zip(oldest).is_some_and(|(received, oldest)| received < oldest);
            let intent = match old {
                true => Intent::Old,
                false if self.catching_up => Intent::Gathered(Occasion::CatchUp),
                false => Intent::Arrival,
            };
            all.insert(uid, self.place.sighting(cursor.uid_validity, uid, mail, intent));
        }
        all.into_values().collect()
    }
}
