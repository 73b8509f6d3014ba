//! Folders: opened read-only, their numbers, and what they are for.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::limits;
use crate::source::imap::session::conn::{ImapConn, Line};
use crate::source::imap::session::reply::{ImapError, Listed, Note, Reply};

/// The numbers of a folder, as far as the server tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Numbers {
    /// UIDVALIDITY.
    pub(crate) uid_validity: Option<u32>,
    /// UIDNEXT.
    pub(crate) uid_next: Option<u32>,
    /// Mails in it.
    pub(crate) exists: u32,
}

/// A folder name as an argument of a command: a quoted string (RFC 3501 section 4.3).
pub(crate) fn quoted(wire: &str) -> String {
    let mut text = String::with_capacity(wire.len() + 2);
    text.push('"');
    for c in wire.chars().filter(|c| !matches!(c, '\r' | '\n' | '\0')) {
        if matches!(c, '"' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push('"');
    text
}

/// Opens a folder read-only. What EXAMINE does not tell is asked for: by STATUS, then by the last mail's UID
/// (163.com sends no UIDNEXT and an empty STATUS).
pub(crate) async fn examine<S: Line>(conn: &mut ImapConn<S>, wire: &str) -> Result<Numbers, ImapError> {
    let mut numbers = Numbers::default();
    conn.forget_folder();
    conn.run(&format!("EXAMINE {}", quoted(wire)), limits::IMAP_ANSWER_BYTES_MAX, &mut |reply| {
        if let Reply::Note(Note { uid_next, uid_validity, .. }) = reply {
            numbers.uid_next = uid_next.or(numbers.uid_next);
            numbers.uid_validity = uid_validity.or(numbers.uid_validity);
        }
    })
    .await?;
    conn.take_grown();
    numbers.exists = conn.exists();
    // No UID is 0 (RFC 3501 section 9, nz-number), and some servers say so.
    numbers.uid_next = numbers.uid_next.filter(|uid| *uid > 0);
    if numbers.uid_next.is_none() || numbers.uid_validity.is_none() {
        let asked = lenient(status(conn, wire).await)?.unwrap_or_default();
        numbers.uid_next = numbers.uid_next.or(asked.uid_next.filter(|uid| *uid > 0));
        numbers.uid_validity = numbers.uid_validity.or(asked.uid_validity);
    }
    if numbers.uid_next.is_none() {
        numbers.uid_next = if numbers.exists == 0 { None } else { lenient(last_uid(conn).await)?.flatten() }
            .map(|last| last.saturating_add(1));
    }
    Ok(numbers)
}

/// A folder that can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Selected {
    /// UIDVALIDITY.
    pub(crate) uid_validity: Option<u32>,
    /// Only its owner may change it.
    pub(crate) read_only: bool,
}

/// Opens a folder to change something in it.
pub(crate) async fn select<S: Line>(conn: &mut ImapConn<S>, wire: &str) -> Result<Selected, ImapError> {
    let mut uid_validity = None;
    conn.forget_folder();
    let words = conn
        .run(&format!("SELECT {}", quoted(wire)), limits::IMAP_ANSWER_BYTES_MAX, &mut |reply| {
            if let Reply::Note(note) = reply {
                uid_validity = note.uid_validity.or(uid_validity);
            }
        })
        .await?;
    Ok(Selected { uid_validity, read_only: words.code == "READ-ONLY" })
}

/// The numbers of a folder that is not open.
pub(crate) async fn status<S: Line>(conn: &mut ImapConn<S>, wire: &str) -> Result<Numbers, ImapError> {
    let mut numbers = Numbers::default();
    let command = format!("STATUS {} (UIDNEXT UIDVALIDITY)", quoted(wire));
    conn.run(&command, limits::IMAP_ANSWER_BYTES_MAX, &mut |reply| {
        if let Reply::Status { uid_next, uid_validity, .. } = reply {
            numbers.uid_next = uid_next.or(numbers.uid_next);
            numbers.uid_validity = uid_validity.or(numbers.uid_validity);
        }
    })
    .await?;
    Ok(numbers)
}

async fn last_uid<S: Line>(conn: &mut ImapConn<S>) -> Result<Option<u32>, ImapError> {
    let mut last = None;
    conn.run("UID SEARCH UID *", limits::IMAP_ANSWER_BYTES_MAX, &mut |reply| {
        if let Reply::Search(uids) = reply {
            last = uids.into_iter().max().max(last);
        }
    })
    .await?;
    Ok(last)
}

/// Which UIDs of a range there are, ascending. No answer at all means none (iCloud).
pub(crate) async fn existing<S: Line>(conn: &mut ImapConn<S>, from: u32, to: u32) -> Result<Vec<u32>, ImapError> {
    let mut found = Vec::new();
    conn.run(&format!("UID SEARCH UID {from}:{to}"), limits::IMAP_ANSWER_BYTES_MAX, &mut |reply| {
        if let Reply::Search(uids) = reply {
            found.extend(uids.into_iter().filter(|uid| (from..=to).contains(uid)));
        }
    })
    .await?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// How many mails are in a folder that is not open; `None`: the server does not say.
pub(crate) async fn messages<S: Line>(conn: &mut ImapConn<S>, wire: &str) -> Result<Option<u32>, ImapError> {
    let mut found = None;
    let command = format!("STATUS {} (MESSAGES)", quoted(wire));
    let mut visit = |reply| {
        if let Reply::Status { messages, .. } = reply {
            found = messages.or(found);
        }
    };
    lenient(conn.run(&command, limits::IMAP_ANSWER_BYTES_MAX, &mut visit).await)?;
    Ok(found)
}

/// Every folder, by its name. Servers with SPECIAL-USE tell what it is for only where asked (RFC 6154 section 2).
pub(crate) async fn list<S: Line>(
    conn: &mut ImapConn<S>,
    special_use_known: bool,
) -> Result<BTreeMap<String, Listed>, ImapError> {
    let mut folders: BTreeMap<String, Listed> = BTreeMap::new();
    let mut add = |reply| {
        if let Reply::List(listed) = reply {
            match folders.entry(listed.name.clone()) {
                Entry::Vacant(place) => {
                    place.insert(listed);
                }
                Entry::Occupied(mut known) => known.get_mut().role = known.get().role.or(listed.role),
            }
        }
    };
    conn.run("LIST \"\" \"*\"", limits::IMAP_ANSWER_BYTES_MAX, &mut add).await?;
    if special_use_known {
        lenient(conn.run("LIST (SPECIAL-USE) \"\" \"*\"", limits::IMAP_ANSWER_BYTES_MAX, &mut add).await)?;
    }
    Ok(folders)
}

/// A refusal counts as "not told"; a broken line does not.
pub(crate) fn lenient<T>(result: Result<T, ImapError>) -> Result<Option<T>, ImapError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.session_lives() => Ok(None),
        Err(error) => Err(error),
    }
}
