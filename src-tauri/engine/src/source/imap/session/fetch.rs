//! Reading mails by UID: pages, what is missing from them, and what cannot be read at all.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::sleep;

use crate::limits;
use crate::mail::{self, Completeness};
use crate::model::message::MailFacts;
use crate::model::sighting::ProviderId;
use crate::source::imap::session::conn::{ImapConn, Line};
use crate::source::imap::session::folder::existing;
use crate::source::imap::session::reply::{FetchData, ImapError, Reply};

/// A single mail that did not come is asked for once more after this.
const SECOND_TRY_AFTER: Duration = Duration::from_millis(300);
/// Room for all of a FETCH response but the mail's text.
const ENVELOPE_BYTES_MAX: u64 = 8 * 1024;

/// What is asked of each mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ask {
    /// How much of its text.
    pub(crate) part: Part,
    /// Which of the provider's ids.
    pub(crate) ids: Ids,
}

/// How much of a mail's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its first octets, as identity wants them.
    Prefix,
    /// Its header.
    Header,
}

/// The provider's ids that the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ids {
    /// X-GM-MSGID.
    pub(crate) gmail: bool,
    /// EMAILID (RFC 8474).
    pub(crate) emailid: bool,
    /// Dovecot's X-GUID.
    pub(crate) guid: bool,
}

/// What was read of one mail. Its text is gone already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Mail {
    /// INTERNALDATE, ms UTC.
    pub(crate) received_at: Option<i64>,
    /// The provider's ids, best first.
    pub(crate) provider_ids: Vec<ProviderId>,
    /// What its text tells; `None`: no text came.
    pub(crate) facts: Option<MailFacts>,
}

/// The mails of a range, as they come in.
#[derive(Debug, Default)]
pub(crate) struct Catch {
    /// Lowest UID asked for.
    pub(crate) from: u32,
    /// Highest UID asked for.
    pub(crate) to: u32,
    mails: BTreeMap<u32, Mail>,
}

/// A range that was read to its end.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The mails, by UID.
    pub(crate) mails: BTreeMap<u32, Mail>,
    /// UIDs that exist and cannot be read.
    pub(crate) unreadable: Vec<u32>,
}

/// The session broke while mails were read.
#[derive(Debug)]
pub(crate) struct Interrupted {
    /// How.
    pub(crate) error: ImapError,
    /// No mail from this UID on came whole: one of them may be why.
    pub(crate) suspect: u32,
}

impl Ask {
    fn command(&self, from: u32, to: u32) -> String {
        let part = match self.part {
            Part::Prefix => "",
            Part::Header => "HEADER",
        };
        let ids = [(self.ids.gmail, " X-GM-MSGID"), (self.ids.emailid, " EMAILID"), (self.ids.guid, " X-GUID")];
        let ids: String = ids.iter().filter(|(has, _)| *has).map(|(_, item)| *item).collect();
        let size = limits::IDENTITY_PREFIX_BYTES;
        // The ids stand before the text: X-GUID is looked for only there.
        format!("UID FETCH {from}:{to} (UID INTERNALDATE{ids} BODY.PEEK[{part}]<0.{size}>)")
    }
}

/// What the answer for so many mails may measure.
fn budget(mails: u32) -> u64 {
    let each = limits::IMAP_LITERAL_BYTES_MAX as u64 + ENVELOPE_BYTES_MAX;
    limits::IMAP_ANSWER_BYTES_MAX + u64::from(mails) * each
}

impl Catch {
    /// Nothing yet of a range.
    pub(crate) fn new(from: u32, to: u32) -> Self {
        Self { from, to, mails: BTreeMap::new() }
    }

    /// The command that asks for the range, and what its answer may measure.
    pub(crate) fn command(&self, ask: Ask) -> (String, u64) {
        let mails = self.to.saturating_sub(self.from).saturating_add(1).min(limits::IMAP_PAGE_UIDS);
        (ask.command(self.from, self.to), budget(mails))
    }

    /// Takes what one response tells. Two responses for one UID are one mail; what lies outside the range, as `n:*`
    /// may bring (RFC 3501 section 6.4.8), or has no UID, is left out.
    pub(crate) fn add(&mut self, reply: Reply) {
        let Reply::Fetch(data) = reply else { return };
        let Some(uid) = data.uid.filter(|uid| (self.from..=self.to).contains(uid)) else { return };
        if data == (FetchData { uid: data.uid, ..FetchData::default() }) {
            return;
        }
        let mail = self.mails.entry(uid).or_default();
        if mail.received_at.is_none() {
            mail.received_at = data.internal_date.as_deref().and_then(instant);
        }
        if mail.provider_ids.is_empty() {
            mail.provider_ids = data.provider_ids;
        }
        if mail.facts.is_none() {
            mail.facts = match (data.prefix, data.header) {
                (Some(prefix), _) => Some(mail::read(&prefix, Completeness::Mail)),
                (None, Some(header)) => Some(mail::read(&header, Completeness::Header)),
                (None, None) => None,
            };
        }
    }

    fn has(&self, uid: u32) -> bool {
        self.mails.get(&uid).is_some_and(|mail| mail.facts.is_some())
    }

    /// No mail came.
    pub(crate) fn is_empty(&self) -> bool {
        self.mails.is_empty()
    }

    /// How many mails came whole.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.mails.values().filter(|mail| mail.facts.is_some()).count()).unwrap_or(u32::MAX)
    }

    /// Highest UID of which anything came.
    pub(crate) fn highest(&self) -> Option<u32> {
        self.mails.last_key_value().map(|(uid, _)| *uid)
    }

    /// The first UID that did not come whole.
    pub(crate) fn first_gap(&self) -> u32 {
        let mut gap = self.from;
        while self.has(gap) {
            gap = gap.saturating_add(1);
            if gap == u32::MAX {
                break;
            }
        }
        gap
    }

    /// Takes the mails below a UID out.
    pub(crate) fn split_below(&mut self, uid: u32) -> BTreeMap<u32, Mail> {
        let above = self.mails.split_off(&uid);
        self.from = uid;
        std::mem::replace(&mut self.mails, above)
    }

    fn interrupted(&self, error: ImapError) -> Interrupted {
        let whole = self.mails.iter().rev().find(|(_, mail)| mail.facts.is_some());
        Interrupted { error, suspect: whole.map_or(self.from, |(uid, _)| uid.saturating_add(1)) }
    }
}

/// Reads a range, and whatever of it did not come at once. `listed`: the UIDs there are, where known.
pub(crate) async fn take<S: Line>(
    conn: &mut ImapConn<S>,
    ask: &mut Ask,
    mut catch: Catch,
    listed: Option<Vec<u32>>,
) -> Result<Taken, Interrupted> {
    let mut asked = fetch(conn, *ask, &mut catch).await;
    if matches!(asked, Err(ImapError::Bad(_))) && ask.ids != Ids::default() {
        // An id that is offered and not understood is not worth a mail.
        ask.ids = Ids::default();
        asked = fetch(conn, *ask, &mut catch).await;
    }
    match asked {
        Ok(()) => {}
        Err(error) if error.session_lives() => tracing::debug!(%error, "A page of mails was refused"),
        Err(error) => return Err(catch.interrupted(error)),
    }
    settle(conn, *ask, catch, listed).await
}

async fn fetch<S: Line>(conn: &mut ImapConn<S>, ask: Ask, catch: &mut Catch) -> Result<(), ImapError> {
    let (command, budget) = catch.command(ask);
    conn.run(&command, budget, &mut |reply| catch.add(reply)).await.map(|_| ())
}

/// Finds out about each UID of the range that did not come: it is gone, or it is asked for alone, or it cannot be read.
pub(crate) async fn settle<S: Line>(
    conn: &mut ImapConn<S>,
    ask: Ask,
    mut catch: Catch,
    listed: Option<Vec<u32>>,
) -> Result<Taken, Interrupted> {
    let mut unreadable = Vec::new();
    if catch.first_gap() <= catch.to {
        let listed = match listed {
            Some(listed) => listed,
            None => existing(conn, catch.from, catch.to).await.map_err(|error| catch.interrupted(error))?,
        };
        let mut open: VecDeque<Vec<u32>> = runs(&listed, &catch).into();
        while let Some(uids) = open.pop_front() {
            match again(conn, ask, &uids, &mut catch).await.map_err(|error| catch.interrupted(error))? {
                Again::Done => {}
                Again::Unreadable(uid) => unreadable.push(uid),
                Again::Halve(uids) => {
                    let (low, high) = uids.split_at(uids.len() / 2);
                    open.push_front(high.to_vec());
                    open.push_front(low.to_vec());
                }
            }
        }
    }
    catch.mails.retain(|_, mail| mail.facts.is_some());
    Ok(Taken { mails: catch.mails, unreadable })
}

enum Again {
    Done,
    Unreadable(u32),
    Halve(Vec<u32>),
}

/// Asks once more for neighbours that did not come.
async fn again<S: Line>(conn: &mut ImapConn<S>, ask: Ask, uids: &[u32], catch: &mut Catch) -> Result<Again, ImapError> {
    let (Some(first), Some(last)) = (uids.first().copied(), uids.last().copied()) else { return Ok(Again::Done) };
    for wait in [Duration::ZERO, SECOND_TRY_AFTER] {
        sleep(wait).await;
        let mut part = Catch::new(first, last);
        match fetch(conn, ask, &mut part).await {
            Err(error) if !error.session_lives() => return Err(error),
            _ => catch.mails.extend(part.mails.into_iter().filter(|(_, mail)| mail.facts.is_some())),
        }
        let left: Vec<u32> = uids.iter().copied().filter(|uid| !catch.has(*uid)).collect();
        match left.as_slice() {
            [] => return Ok(Again::Done),
            [_] if uids.len() == 1 => {}
            _ => return Ok(Again::Halve(left)),
        }
    }
    // It may have been moved away in between.
    let there = existing(conn, first, first).await;
    match there {
        Ok(uids) if uids.is_empty() => Ok(Again::Done),
        Err(error) if !error.session_lives() => Err(error),
        _ => Ok(Again::Unreadable(first)),
    }
}

/// The listed UIDs that did not come, neighbours together.
fn runs(listed: &[u32], catch: &Catch) -> Vec<Vec<u32>> {
    let mut runs: Vec<Vec<u32>> = Vec::new();
    let mut fresh = true;
    for uid in listed.iter().filter(|uid| (catch.from..=catch.to).contains(uid)) {
        if catch.has(*uid) {
            fresh = true;
            continue;
        }
        match runs.last_mut() {
            Some(run) if !fresh => run.push(*uid),
            _ => runs.push(vec![*uid]),
        }
        fresh = false;
    }
    runs
}

/// Whether the server knows X-GUID, which stands in no CAPABILITY: asked of the first mail (imap.md P14).
pub(crate) async fn has_guid<S: Line>(conn: &mut ImapConn<S>) -> Result<bool, ImapError> {
    let mut found = false;
    let asked = conn
        .run("FETCH 1 (X-GUID)", limits::IMAP_ANSWER_BYTES_MAX, &mut |reply| {
            found |= matches!(reply, Reply::Fetch(data) if data.provider_ids.iter().any(|id| id.kind == "guid"));
        })
        .await;
    match asked {
        Err(error) if !error.session_lives() => Err(error),
        _ => Ok(found),
    }
}

/// INTERNALDATE (RFC 3501 section 9, date-time) in ms UTC.
fn instant(text: &str) -> Option<i64> {
    let time = jiff::fmt::strtime::parse("%d-%b-%Y %H:%M:%S %z", text.trim()).ok()?;
    time.to_timestamp().ok().map(|at| at.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_dates_are_read() {
        let case = |text: &str, at: Option<i64>| assert_eq!(instant(text), at, "{text:?}");
        case("17-Jul-1996 02:44:25 -0700", Some(837_596_665_000));
        case(" 7-Jul-1996 02:44:25 +0000", Some(836_707_465_000));
        case("07-Jul-1996 02:44:25 +0000", Some(836_707_465_000));
        case("01-Jan-0001 00:00:00 +0000", Some(-62_135_596_800_000));
        case("yesterday", None);
        case("", None);
    }

    #[test]
    fn the_command_asks_for_what_the_server_has() {
        let case = |ids: Ids, part: Part, expected: &str| {
            assert_eq!(Ask { part, ids }.command(7, 9), expected);
        };
        case(Ids::default(), Part::Prefix, "UID FETCH 7:9 (UID INTERNALDATE BODY.PEEK[]<0.262144>)");
        case(
            Ids { gmail: true, emailid: true, guid: true },
            Part::Header,
            "UID FETCH 7:9 (UID INTERNALDATE X-GM-MSGID EMAILID X-GUID BODY.PEEK[HEADER]<0.262144>)",
        );
    }

    fn data(uid: u32, text: Option<&str>) -> Reply {
        Reply::Fetch(FetchData {
            uid: Some(uid),
            internal_date: Some("07-Jul-1996 02:44:25 +0000".into()),
            prefix: text.map(|text| text.as_bytes().to_vec()),
            ..FetchData::default()
        })
    }

    #[test]
    fn two_responses_for_one_uid_are_one_mail_and_flags_alone_are_none() {
        let mut catch = Catch::new(5, 8);
        catch.add(Reply::Fetch(FetchData { uid: Some(5), ..FetchData::default() }));
        assert!(catch.is_empty(), "flags alone are no mail");
        catch.add(data(5, Some("Subject: a\r\n\r\n")));
        catch.add(data(5, None));
        catch.add(data(4, Some("Subject: below\r\n\r\n")));
        catch.add(data(6, None));
        catch.add(data(8, Some("Subject: c\r\n\r\n")));
        assert_eq!((catch.count(), catch.first_gap(), catch.highest()), (2, 6, Some(8)));
        assert_eq!(runs(&[5, 6, 7, 8], &catch), vec![vec![6, 7]]);
        let below = catch.split_below(6);
        assert_eq!(below.keys().copied().collect::<Vec<_>>(), vec![5]);
        assert_eq!((catch.from, catch.count()), (6, 1));
    }
}
