//! The test of a mailbox before it is watched: signs in, opens each folder, and fixes where the watching will begin.

use std::time::Duration;

use secrecy::SecretString;
use tokio::time::sleep;

use crate::limits;
use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::{FolderCursor, ImapServer, Mailbox, SpecialUse};
use crate::net::stream::Stream;
use crate::source::imap::first_sight;
use crate::source::imap::session::failure::{Failure, Next};
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::session::{folder, login, utf7};

/// What the server told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// What the server can do, upper case.
    pub capabilities: Vec<String>,
    /// The folders of the mailbox, in its order.
    pub folders: Vec<CheckedFolder>,
    /// Every folder there is, by its name for people.
    pub offered: Vec<String>,
}

/// One folder that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedFolder {
    /// Its name on the wire: what to store.
    pub wire: String,
    /// What it is for.
    pub special_use: SpecialUse,
    /// Where its watching begins: what comes from here on rings.
    pub cursor: FolderCursor,
}

/// Signs in to the mailbox and opens each of its folders, read-only. A folder may be given by its name for people or
/// on the wire. `now` is the time in ms UTC.
///
/// # Errors
/// What is wrong with host, port, TLS, name or password, or with a folder; in words for the owner.
pub async fn check(mailbox: &Mailbox, password: &SecretString, now: i64) -> Result<CheckReport, Fault> {
    let Some(server) = &mailbox.imap else {
        return Err(Fault::new(
            FaultCode::Invalid,
            "The mailbox cannot be tested",
            "it is not read over IMAP",
            "give --host and --port",
        ));
    };
    let mut session = open_patiently(server, password).await.map_err(|failure| failure.fault)?;
    let broken = |error: ImapError| Failure::line(&server.host, &error).fault;
    let special_use_known = session.can("SPECIAL-USE");
    let uses = folder::lenient(folder::list(&mut session.conn, special_use_known).await).map_err(broken)?;
    let uses = uses.unwrap_or_default();
    let mut folders = Vec::new();
    for given in &mailbox.folders {
        let wire = wire_name(given, uses.keys());
        let numbers = folder::examine(&mut session.conn, &wire)
            .await
            .map_err(|error| if error.session_lives() { Failure::folder(given, &error) } else { broken(error) })?;
        let start = first_sight::start(None, &numbers, now).ok_or_else(|| first_sight::no_uidnext(&wire))?;
        let special_use = SpecialUse::of(uses.get(&wire).and_then(|listed| listed.role));
        folders.push(CheckedFolder { wire, special_use, cursor: start.cursor });
    }
    let mut offered: Vec<String> = uses.keys().map(|wire| utf7::decode(wire)).collect();
    offered.sort_unstable();
    let capabilities = session.capabilities.clone();
    session.conn.logout(limits::IMAP_LOGOUT_WAIT).await;
    Ok(CheckReport { capabilities, folders, offered })
}

/// Signs in within the limits of [`login::open`], and once more where the password was refused: some servers know a new
/// user only after a second.
async fn open_patiently(server: &ImapServer, password: &SecretString) -> Result<login::Session<Stream>, Failure> {
    match login::open(server, password).await {
        Err(Failure { next: Next::Refused { .. }, .. }) => {
            sleep(Duration::from_millis(1500)).await;
            login::open(server, password).await
        }
        opened => opened,
    }
}

/// The wire name of what the owner gave.
fn wire_name<'a>(given: &str, mut offered: impl Iterator<Item = &'a String> + Clone) -> String {
    if given.eq_ignore_ascii_case("INBOX") {
        return "INBOX".to_owned();
    }
    let exact = offered.clone().find(|wire| *wire == given);
    let named = exact.or_else(|| offered.find(|wire| utf7::decode(wire) == given));
    match named {
        Some(wire) => wire.clone(),
        None if given.is_ascii() => given.to_owned(),
        None => utf7::encode(given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_found_by_either_name() {
        let offered = ["INBOX", "Entw&APw-rfe", "A&-B", "A&B"].map(str::to_owned);
        let case = |given: &str, wire: &str| assert_eq!(wire_name(given, offered.iter()), wire, "{given}");
        case("inbox", "INBOX");
        case("Entwürfe", "Entw&APw-rfe");
        case("Entw&APw-rfe", "Entw&APw-rfe");
        case("A&B", "A&B");
        case("Nein", "Nein");
        case("Näin", "N&AOQ-in");
    }
}
