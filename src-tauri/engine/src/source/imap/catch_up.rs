//! Catching up: brings a folder's cursor to where the server is. The cursor moves only together with what was read up
//! to it by a command that ended well (imap.md rules 2 and 3).

use crate::limits;
use crate::model::mailbox::{BackfillPurpose, FolderCursor};
use crate::model::sighting::Sighting;
use crate::source::imap::desk::Desk;
use crate::source::imap::session::conn::{ImapConn, Line, Tag};
use crate::source::imap::session::fetch::{self, Ask, Catch, Interrupted, Part, Taken};
use crate::source::imap::session::folder;
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::watched::{Reader, Trouble, Watched};

/// What looking at once brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Woken {
    /// New mails.
    pub(super) mails: u32,
    /// The server told of more than came.
    pub(super) unsettled: bool,
}

/// Remembers the newest INTERNALDATE, except while a renumbered folder is judged by the one from before.
pub(super) fn remember_newest(cursor: &mut FolderCursor, sightings: &[Sighting], now: i64) {
    if cursor.backfill.is_some_and(|range| range.purpose == BackfillPurpose::Rebuild) {
        return;
    }
    let newest = sightings.iter().filter_map(|sighting| sighting.received_at).max().map(|at| at.min(now));
    cursor.newest_known_at = cursor.newest_known_at.max(newest);
}

/// Opens a folder and reads what is new in it; with `look_back` also what became visible late. Gives how many mails
/// were new.
pub(super) async fn check<S: Line>(
    reader: &mut Reader<S>,
    desk: &Desk,
    watched: &mut Watched,
    look_back: bool,
) -> Result<u32, Trouble> {
    let numbers = watched.begin(reader, desk).await?;
    watched.judge_gap(desk);
    let mut found = 0;
    let uid_next = numbers.uid_next.unwrap_or_default();
    while watched.standing().next_uid < uid_next {
        found += page(reader, desk, watched, uid_next - 1, numbers.exists).await?;
    }
    if look_back {
        self::look_back(reader, desk, watched).await?;
    }
    let mut cursor = watched.standing();
    let now = desk.now();
    if cursor.last_check_at.is_none_or(|at| at > now || now.saturating_sub(at) >= desk.record_check_ms) {
        cursor.last_check_at = Some(now);
        watched.store(desk, Vec::new(), cursor).await;
    }
    watched.note_checked();
    Ok(found)
}

/// Reads and reports one page, ending at or before `last`.
async fn page<S: Line>(
    reader: &mut Reader<S>,
    desk: &Desk,
    watched: &mut Watched,
    last: u32,
    exists: u32,
) -> Result<u32, Trouble> {
    let mut cursor = watched.standing();
    let from = cursor.next_uid;
    let alone = watched.hazard.filter(|hazard| hazard.uid <= from);
    let (mut to, mut listed) = (last, None);
    if alone.is_some() || last - from >= limits::IMAP_PAGE_UIDS {
        let (uids, through) = next_listed(reader.conn(), from, last, exists).await?;
        (to, listed) = (through, Some(uids));
    }
    match (alone, watched.hazard) {
        (Some(_), _) => {
            if let Some(first) = listed.as_ref().and_then(|uids| uids.first().copied()) {
                (to, listed) = (first, Some(vec![first]));
            }
        }
        (None, Some(hazard)) => to = to.min(hazard.uid - 1),
        (None, None) => {}
    }
    let taken = match (&listed, alone) {
        (Some(uids), _) if uids.is_empty() => Taken::default(),
        (_, Some(hazard)) if hazard.is_too_often() => Taken { unreadable: vec![to], ..Taken::default() },
        _ => {
            let first = listed.as_ref().and_then(|uids| uids.first().copied()).unwrap_or(from);
            let catch = Catch::new(first, to);
            reader.take(Part::Prefix, catch, listed).await.map_err(|interrupted| watched.broken(interrupted, alone))?
        }
    };
    if alone.is_some() {
        watched.hazard = None;
    }
    let sightings = watched.sightings(desk, taken);
    let found = u32::try_from(sightings.len()).unwrap_or(u32::MAX);
    cursor.next_uid = to.saturating_add(1);
    if to == last {
        cursor.last_check_at = Some(desk.now());
    }
    remember_newest(&mut cursor, &sightings, desk.now());
    watched.store(desk, sightings, cursor).await;
    Ok(found)
}

/// The next page of UIDs that exist, and the UID up to which that is all there is.
async fn next_listed<S: Line>(
    conn: &mut ImapConn<S>,
    from: u32,
    last: u32,
    exists: u32,
) -> Result<(Vec<u32>, u32), ImapError> {
    let mut span = limits::IMAP_PAGE_UIDS * 10;
    let mut low = from;
    loop {
        let high = last.min(low.saturating_add(span));
        let mut uids = folder::existing(conn, low, high).await?;
        if uids.is_empty() && high < last {
            low = high + 1;
            // UIDs may have wide gaps. Where the folder is small, no span can bring a long answer.
            span = span.saturating_mul(2);
            if exists > limits::IMAP_SEARCH_UIDS_MAX {
                span = span.min(limits::IMAP_SEARCH_UIDS_MAX);
            }
            continue;
        }
        let page = limits::IMAP_PAGE_UIDS as usize;
        let through = if uids.len() > page { uids.get(page - 1).copied().unwrap_or(high) } else { high };
        uids.truncate(page);
        return Ok((uids, through));
    }
}

/// Takes mails that became visible only after later ones (imap.md rule 3).
async fn look_back<S: Line>(reader: &mut Reader<S>, desk: &Desk, watched: &mut Watched) -> Result<(), Trouble> {
    let cursor = watched.standing();
    let from = cursor.next_uid.saturating_sub(limits::IMAP_LOOK_BACK_UIDS).max(cursor.floor_uid).max(1);
    let to = cursor.next_uid.saturating_sub(1);
    if from > to {
        return Ok(());
    }
    let uids = folder::lenient(folder::existing(reader.conn(), from, to).await)?.unwrap_or_default();
    let keys: Vec<_> = uids.iter().map(|uid| watched.place.delivery_key(cursor.uid_validity, *uid)).collect();
    let known = if keys.is_empty() { Vec::new() } else { desk.known(&keys).await };
    let late: Vec<u32> = uids.iter().zip(known).filter(|(_, known)| !known).map(|(uid, _)| *uid).collect();
    let (Some(first), Some(last)) = (late.first().copied(), late.last().copied()) else { return Ok(()) };
    tracing::info!(folder = watched.wire(), mails = late.len(), "Mails became visible late");
    let mut taken = reader
        .take(Part::Prefix, Catch::new(first, last), Some(late.clone()))
        .await
        .map_err(|interrupted| Trouble::Line(interrupted.error))?;
    taken.mails.retain(|uid, _| late.contains(uid));
    let sightings = watched.sightings(desk, taken);
    desk.report(&watched.place, sightings, None, None).await;
    Ok(())
}

/// Looks at once, in the folder that is open: DONE of an open IDLE and the FETCH leave in one write, so that the mail
/// is here after one round trip.
pub(super) async fn wake<S: Line>(
    reader: &mut Reader<S>,
    desk: &Desk,
    watched: &mut Watched,
    idle: Option<Tag>,
) -> Result<Woken, Trouble> {
    watched.judge_gap(desk);
    let cursor = watched.standing();
    let ask = reader.ask(Part::Prefix);
    let mut catch = Catch::new(cursor.next_uid, cursor.next_uid.saturating_add(limits::IMAP_PAGE_UIDS - 1));
    let conn = &mut reader.session.conn;
    let (command, budget) = catch.command(ask);
    let tag = conn.send(if idle.is_some() { "DONE\r\n" } else { "" }, &command, budget).await?;
    if let Some(idle) = idle {
        // However IDLE ends, what follows is the same.
        folder::lenient(conn.finish_within(&idle, limits::IMAP_DONE_WAIT, &mut |_| {}).await)?;
    }
    conn.take_grown();
    match conn.finish(&tag, &mut |reply| catch.add(reply)).await {
        Ok(_) => {}
        Err(error) if error.session_lives() => return Ok(Woken { mails: 0, unsettled: true }),
        Err(error) => return Err(watched.broken(Interrupted { error, suspect: catch.first_gap() }, None)),
    }
    watched.hazard = None;
    let expected = (conn.exists() + conn.take_expunged()).saturating_sub(watched.accounted);
    watched.accounted = conn.exists();
    let mails = catch.count();
    let full = mails >= limits::IMAP_PAGE_UIDS;
    if !catch.is_empty() {
        take_woken(reader, desk, watched, ask, catch).await?;
    }
    Ok(Woken { mails, unsettled: full || mails < expected })
}

/// Reports what came at once up to the first gap, then finds out about the gaps.
async fn take_woken<S: Line>(
    reader: &mut Reader<S>,
    desk: &Desk,
    watched: &mut Watched,
    ask: Ask,
    mut catch: Catch,
) -> Result<(), Trouble> {
    let gap = catch.first_gap();
    let through = catch.highest().unwrap_or(gap);
    let whole = catch.split_below(gap);
    if !whole.is_empty() {
        let mut cursor = watched.standing();
        cursor.next_uid = gap;
        step(desk, watched, cursor, Taken { mails: whole, unreadable: Vec::new() }, gap > through).await;
    }
    if gap > through {
        return Ok(());
    }
    catch.to = through;
    let taken = fetch::settle(reader.conn(), ask, catch, None)
        .await
        .map_err(|interrupted| watched.broken(interrupted, None))?;
    let mut cursor = watched.standing();
    cursor.next_uid = through.saturating_add(1);
    step(desk, watched, cursor, taken, true).await;
    Ok(())
}

async fn step(desk: &Desk, watched: &mut Watched, mut cursor: FolderCursor, taken: Taken, checked: bool) {
    let sightings = watched.sightings(desk, taken);
    remember_newest(&mut cursor, &sightings, desk.now());
    if checked {
        cursor.last_check_at = Some(desk.now());
    }
    watched.store(desk, sightings, cursor).await;
}
