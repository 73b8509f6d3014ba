//! Marks one mail as read, because its owner asked: a short session of its own, the only one that SELECTs a folder.

use secrecy::SecretString;
use tokio::time::timeout;

use crate::limits;
use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::ImapServer;
use crate::source::imap::place::Spot;
use crate::source::imap::session::conn::{ImapConn, Line};
use crate::source::imap::session::failure::Failure;
use crate::source::imap::session::folder::{existing, lenient, select};
use crate::source::imap::session::login;
use crate::source::imap::session::reply::ImapError;

const CONSEQUENCE: &str = "The mail was not marked as read";

/// What came of one place.
enum Found {
    Marked,
    /// It is not there (any more).
    Not,
    ReadOnly,
}

/// Marks the mail at the first of these places where it still is.
///
/// # Errors
/// Where it is nowhere any more, where it cannot be changed, and what stands between us and the server.
pub async fn mark_read(server: &ImapServer, password: &SecretString, spots: &[Spot]) -> Result<(), Fault> {
    let work = async {
        let session = login::open(server, password).await.map_err(|failure| failure.fault);
        let mut conn = session.map_err(|fault| Fault { consequence: CONSEQUENCE.to_owned(), ..fault })?.conn;
        let marked = mark(&mut conn, &server.host, spots).await;
        conn.logout(limits::IMAP_LOGOUT_WAIT).await;
        marked
    };
    timeout(limits::MARK_READ_MAX, work).await.unwrap_or_else(|_| {
        Err(fault(FaultCode::Unreachable, format!("{} did not answer in time", server.host), "try it again later"))
    })
}

async fn mark<S: Line>(conn: &mut ImapConn<S>, host: &str, spots: &[Spot]) -> Result<(), Fault> {
    let mut read_only = false;
    for spot in spots {
        match mark_at(conn, spot).await {
            Ok(Found::Marked) => return Ok(()),
            Ok(Found::Not) => {}
            Ok(Found::ReadOnly) => read_only = true,
            Err(error) => {
                let broken = Failure::line(host, &error).fault;
                return Err(fault(broken.code, broken.cause, "try it again later"));
            }
        }
    }
    Err(if read_only {
        fault(FaultCode::Protocol, "its folder cannot be changed by you", "mark it in your mail program")
    } else {
        fault(FaultCode::NotFound, "it is not where it was seen: moved, or deleted", "look for it in your mail program")
    })
}

async fn mark_at<S: Line>(conn: &mut ImapConn<S>, spot: &Spot) -> Result<Found, ImapError> {
    // A folder that is gone is refused; the mail may be in another.
    let Some(selected) = lenient(select(conn, &spot.folder).await)? else { return Ok(Found::Not) };
    // Under another UIDVALIDITY the number names another mail.
    if selected.uid_validity != Some(spot.uid_validity) || existing(conn, spot.uid, spot.uid).await?.is_empty() {
        return Ok(Found::Not);
    }
    if selected.read_only {
        return Ok(Found::ReadOnly);
    }
    conn.run_small(&format!("UID STORE {} +FLAGS.SILENT (\\Seen)", spot.uid)).await?;
    Ok(Found::Marked)
}

fn fault(code: FaultCode, cause: impl Into<String>, next_step: &str) -> Fault {
    Fault::new(code, CONSEQUENCE, cause, next_step)
}
