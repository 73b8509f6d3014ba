//! Where the reading of a folder begins: at first sight, after a renumbering, after a restart (imap.md rules 13, 14).

use crate::limits;
use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::{Backfill, BackfillPurpose, FolderCursor};
use crate::source::imap::session::folder::Numbers;
use crate::source::imap::session::utf7;

/// A mail unknown in a renumbered folder rings if it came at most this long before the newest one known.
const REBUILD_OVERLAP_MS: i64 = 3_600_000;

/// Where the reading begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    /// The cursor to go on from.
    pub(super) cursor: FolderCursor,
    /// Why it differs from what is stored; `None`: it does not.
    pub(super) change: Option<Change>,
}

/// Why a cursor changed without a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The folder was never seen before.
    FirstSight,
    /// UIDVALIDITY is another one.
    Renumbered,
    /// UIDNEXT is lower than before, as after a restored backup.
    Fell,
}

/// The cursor from which a folder is read on. `None`: the server tells too little to begin.
pub(super) fn start(stored: Option<FolderCursor>, numbers: &Numbers, now: i64) -> Option<Start> {
    let uid_next = numbers.uid_next.or((numbers.exists == 0).then_some(1));
    let Some(stored) = stored else {
        let cursor = FolderCursor {
            uid_validity: numbers.uid_validity.unwrap_or_default(),
            last_check_at: Some(now),
            ..anew(uid_next?, numbers, BackfillPurpose::Baseline)
        };
        return Some(Start { cursor, change: Some(Change::FirstSight) });
    };
    // A server that once does not tell its UIDVALIDITY has not renumbered.
    let uid_validity = numbers.uid_validity.filter(|validity| *validity != 0).unwrap_or(stored.uid_validity);
    if uid_validity != stored.uid_validity && stored.uid_validity != 0 {
        let cursor = FolderCursor {
            uid_validity,
            newest_known_at: stored.newest_known_at.or(stored.last_check_at),
            last_check_at: stored.last_check_at,
            ..anew(uid_next?, numbers, BackfillPurpose::Rebuild)
        };
        return Some(Start { cursor, change: Some(Change::Renumbered) });
    }
    let mut cursor = FolderCursor { uid_validity, ..stored };
    match numbers.uid_next {
        Some(uid_next) if uid_next < cursor.next_uid => {
            cursor.next_uid = uid_next;
            cursor.floor_uid = cursor.floor_uid.min(uid_next);
            cursor.backfill = cursor.backfill.and_then(|range| {
                let to_uid = range.to_uid.min(uid_next.saturating_sub(1));
                (to_uid >= range.from_uid).then_some(Backfill { to_uid, ..range })
            });
            Some(Start { cursor, change: Some(Change::Fell) })
        }
        _ => Some(Start { cursor, change: None }),
    }
}

/// From this time on an unknown mail of a renumbered folder rings.
pub(super) fn rings_from(cursor: &FolderCursor, now: i64) -> i64 {
    let known_at = cursor.newest_known_at.or(cursor.last_check_at).unwrap_or(now);
    known_at.min(now).saturating_sub(REBUILD_OVERLAP_MS)
}

/// The fault of a folder that [`start`] cannot begin with.
pub(super) fn no_uidnext(wire: &str) -> Fault {
    Fault::new(
        FaultCode::Protocol,
        format!("The folder {:?} is not watched", utf7::decode(wire)),
        "the server does not tell its UIDNEXT, nor its last UID",
        "nothing; it is tried again",
    )
}

fn anew(uid_next: u32, numbers: &Numbers, purpose: BackfillPurpose) -> FolderCursor {
    let backfill =
        Backfill { from_uid: 1, to_uid: uid_next.saturating_sub(1), purpose, mails_left: limits::BASELINE_MAILS_MAX };
    FolderCursor {
        next_uid: uid_next,
        floor_uid: uid_next,
        backfill: (numbers.exists > 0 && uid_next > 1).then_some(backfill),
        ..FolderCursor::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000_000_000;

    fn numbers(uid_validity: u32, uid_next: u32, exists: u32) -> Numbers {
        let known = |number: u32| (number > 0).then_some(number);
        Numbers { uid_validity: known(uid_validity), uid_next: known(uid_next), exists }
    }

    fn stored() -> FolderCursor {
        FolderCursor {
            uid_validity: 3,
            next_uid: 50,
            floor_uid: 40,
            backfill: Some(Backfill { from_uid: 1, to_uid: 30, purpose: BackfillPurpose::Baseline, mails_left: 9 }),
            newest_known_at: Some(500),
            last_check_at: Some(900),
        }
    }

    #[test]
    fn first_sight_begins_at_uidnext_with_a_silent_look_back() {
        let start = start(None, &numbers(3, 50, 20), NOW).unwrap();
        assert_eq!(start.change, Some(Change::FirstSight));
        let range = Backfill { from_uid: 1, to_uid: 49, purpose: BackfillPurpose::Baseline, mails_left: 2000 };
        assert_eq!(
            start.cursor,
            FolderCursor {
                uid_validity: 3,
                next_uid: 50,
                floor_uid: 50,
                backfill: Some(range),
                newest_known_at: None,
                last_check_at: Some(NOW)
            }
        );
    }

    #[test]
    fn an_empty_folder_needs_no_uidnext_and_a_full_one_does() {
        assert_eq!(start(None, &numbers(3, 0, 0), NOW).unwrap().cursor.next_uid, 1);
        assert_eq!(start(None, &numbers(3, 0, 5), NOW), None);
        assert_eq!(start(None, &numbers(3, 9, 0), NOW).unwrap().cursor.backfill, None);
    }

    #[test]
    fn what_a_stored_cursor_becomes() {
        let case = |numbers: Numbers, change: Option<Change>, next_uid: u32, floor_uid: u32, to_uid: Option<u32>| {
            let start = start(Some(stored()), &numbers, NOW).unwrap();
            let backfill = start.cursor.backfill.map(|range| range.to_uid);
            let got = (start.change, start.cursor.next_uid, start.cursor.floor_uid, backfill);
            assert_eq!(got, (change, next_uid, floor_uid, to_uid), "{numbers:?}");
            assert_eq!(start.cursor.last_check_at, Some(900), "no check was finished: {numbers:?}");
        };
        case(numbers(3, 60, 9), None, 50, 40, Some(30));
        case(numbers(3, 50, 9), None, 50, 40, Some(30));
        case(numbers(0, 60, 9), None, 50, 40, Some(30));
        case(numbers(3, 0, 9), None, 50, 40, Some(30));
        case(numbers(3, 45, 9), Some(Change::Fell), 45, 40, Some(30));
        case(numbers(3, 20, 9), Some(Change::Fell), 20, 20, Some(19));
        case(numbers(3, 1, 0), Some(Change::Fell), 1, 1, None);
        case(numbers(4, 7, 6), Some(Change::Renumbered), 7, 7, Some(6));
        case(numbers(4, 1, 0), Some(Change::Renumbered), 1, 1, None);
    }

    #[test]
    fn a_renumbered_folder_rings_from_an_hour_before_the_newest_known() {
        let renumbered = start(Some(stored()), &numbers(4, 7, 6), NOW).unwrap().cursor;
        assert_eq!(rings_from(&renumbered, NOW), 500 - 3_600_000);
        let never = FolderCursor { newest_known_at: None, ..stored() };
        let renumbered = start(Some(never), &numbers(4, 7, 6), NOW).unwrap().cursor;
        assert_eq!(rings_from(&renumbered, NOW), 900 - 3_600_000, "else from the last check");
    }
}
