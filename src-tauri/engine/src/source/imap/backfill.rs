//! The quiet look through what was there before: newest first, page by page, and on after a restart (imap.md rule 13).

use crate::limits;
use crate::model::mailbox::{Backfill, BackfillPurpose, FolderCursor};
use crate::model::occasion::Occasion;
use crate::model::sighting::{Intent, Sighting};
use crate::source::imap::catch_up::remember_newest;
use crate::source::imap::desk::Desk;
use crate::source::imap::first_sight::rings_from;
use crate::source::imap::session::conn::{ImapConn, Line};
use crate::source::imap::session::fetch::{Catch, Mail, Part, Taken};
use crate::source::imap::session::folder;
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::watched::{Reader, Trouble, Watched};

/// A Date further from the time of receipt than this is not believed, ms (identity.md).
const CREDIBLE_DATE_MS: i64 = 48 * 3_600_000;

/// Which mails are looked at.
struct Window {
    /// Received at or after this.
    oldest: i64,
    /// And in a renumbered folder whatever may ring.
    rings_from: Option<i64>,
}

impl Window {
    fn of(cursor: &FolderCursor, purpose: BackfillPurpose, now: i64) -> Self {
        let rings_from = (purpose == BackfillPurpose::Rebuild).then(|| rings_from(cursor, now));
        Self { oldest: now.saturating_sub(limits::BASELINE_AGE_MS_MAX), rings_from }
    }

    /// A mail without a time of receipt is inside.
    fn holds(&self, received_at: Option<i64>) -> bool {
        received_at.is_none_or(|at| at >= self.oldest || self.rings_from.is_some_and(|from| at >= from))
    }
}

/// Looks through one more page of the folder that is open.
pub(super) async fn step<S: Line>(reader: &mut Reader<S>, desk: &Desk, watched: &mut Watched) -> Result<(), Trouble> {
    let Some(cursor) = watched.cursor.clone() else { return Ok(()) };
    let Some(range) = cursor.backfill else { return Ok(()) };
    let page = watched.backfill_page();
    let exists = reader.conn().exists();
    let (uids, low) = last_listed(reader.conn(), range, page, exists).await?;
    let window = Window::of(&cursor, range.purpose, desk.now());
    match read(reader, &window, &uids).await {
        Ok(taken) => {
            watched.backfill_went_on();
            store(desk, watched, cursor, range, low, taken).await;
            Ok(())
        }
        Err(error) => {
            if watched.backfill_broke() {
                watched.backfill_went_on();
                store(desk, watched, cursor, range, low, Taken { unreadable: uids, ..Taken::default() }).await;
            }
            Err(error.into())
        }
    }
}

/// A baseline needs the header, and more only where that says too little; a rebuild may ring and wants all.
async fn read<S: Line>(reader: &mut Reader<S>, window: &Window, uids: &[u32]) -> Result<Taken, ImapError> {
    let (Some(first), Some(last)) = (uids.first().copied(), uids.last().copied()) else { return Ok(Taken::default()) };
    let part = if window.rings_from.is_none() { Part::Header } else { Part::Prefix };
    let catch = Catch::new(first, last);
    let mut taken = reader.take(part, catch, Some(uids.to_vec())).await.map_err(|interrupted| interrupted.error)?;
    if part == Part::Header {
        let thin: Vec<u32> = taken
            .mails
            .iter()
            .filter(|(_, mail)| window.holds(mail.received_at) && is_thin(mail))
            .map(|(uid, _)| *uid)
            .collect();
        for uid in thin {
            let catch = Catch::new(uid, uid);
            let more = reader.take(Part::Prefix, catch, Some(vec![uid])).await.map_err(|broken| broken.error)?;
            taken.mails.extend(more.mails);
        }
    }
    Ok(taken)
}

/// The header says too little to recognise the mail by.
fn is_thin(mail: &Mail) -> bool {
    let Some(facts) = &mail.facts else { return true };
    let sent_at = facts.sent_at.as_ref().and_then(|sent| sent.at);
    let credible = match (sent_at, mail.received_at) {
        (Some(sent), Some(received)) => sent.abs_diff(received) <= CREDIBLE_DATE_MS.unsigned_abs(),
        (Some(_), None) => true,
        (None, _) => false,
    };
    facts.message_id.is_none() || facts.subject.as_deref().is_none_or(str::is_empty) || !credible
}

/// Reports a page and what is left of the range after it.
async fn store(desk: &Desk, watched: &mut Watched, mut cursor: FolderCursor, range: Backfill, low: u32, taken: Taken) {
    let now = desk.now();
    let window = Window::of(&cursor, range.purpose, now);
    let looked_at = !taken.mails.is_empty();
    let newest = taken.mails.values().filter_map(|mail| mail.received_at).max();
    let intent = window.rings_from.map_or(Intent::Baseline, |rings_from| Intent::Rebuild { rings_from });
    let mut sightings: Vec<Sighting> = Vec::new();
    for (uid, mail) in taken.mails {
        if window.holds(mail.received_at) {
            sightings.push(watched.place.sighting(cursor.uid_validity, uid, mail, intent));
        }
    }
    if window.rings_from.is_some() {
        for uid in taken.unreadable {
            sightings.push(watched.place.sighting(cursor.uid_validity, uid, Mail::default(), Intent::Unreadable));
        }
    }
    let count = u32::try_from(sightings.len()).unwrap_or(u32::MAX);
    let left = Backfill { to_uid: low.saturating_sub(1), mails_left: range.mails_left.saturating_sub(count), ..range };
    // What may have to ring is looked at however many there are.
    let may_ring = window.rings_from.zip(newest).is_some_and(|(rings_from, at)| at >= rings_from);
    let over =
        left.to_uid < left.from_uid || (looked_at && !window.holds(newest)) || (left.mails_left == 0 && !may_ring);
    remember_newest(&mut cursor, &sightings, now);
    cursor.backfill = (!over).then_some(left);
    // Newest first: after the first page of which nothing may ring, hardly anything may.
    let ended = window.rings_from.is_some() && (over || (looked_at && !may_ring));
    desk.report(&watched.place, sightings, Some(&cursor), ended.then_some(Occasion::Rebuild)).await;
    watched.cursor = Some(cursor);
}

/// The highest UIDs of the range that exist, and the UID down to which that is all there is.
async fn last_listed<S: Line>(
    conn: &mut ImapConn<S>,
    range: Backfill,
    page: u32,
    exists: u32,
) -> Result<(Vec<u32>, u32), ImapError> {
    let mut span = limits::IMAP_PAGE_UIDS * 10;
    let mut high = range.to_uid;
    loop {
        let low = high.saturating_sub(span).max(range.from_uid);
        let uids = folder::existing(conn, low, high).await?;
        if uids.is_empty() && low > range.from_uid {
            high = low - 1;
            span = span.saturating_mul(2);
            if exists > limits::IMAP_SEARCH_UIDS_MAX {
                span = span.min(limits::IMAP_SEARCH_UIDS_MAX);
            }
            continue;
        }
        let page = page.min(range.mails_left.max(1)) as usize;
        let skipped = uids.len().saturating_sub(page);
        let kept = uids.get(skipped..).unwrap_or_default().to_vec();
        let low = if skipped > 0 { kept.first().copied().unwrap_or(low) } else { low };
        return Ok((kept, low));
    }
}
