//! The folders of an account, for its owner to choose from: signs in, lists, counts, leaves. It opens none.

use secrecy::SecretString;
use tokio::time::{Instant, timeout, timeout_at};

use crate::limits;
use crate::model::error::Fault;
use crate::model::mailbox::{FolderRole, ImapServer};
use crate::net::stream::Stream;
use crate::source::imap::session::failure::Failure;
use crate::source::imap::session::reply::{ImapError, Listed};
use crate::source::imap::session::{folder, login, utf7};

/// One folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its name on the wire.
    pub wire: String,
    /// Its name for people, its levels parted by `/`.
    pub label: String,
    /// What it is for.
    pub role: Option<FolderRole>,
    /// Mails in it; `None`: the server did not say in time.
    pub messages: Option<u32>,
}

/// Every folder that can be watched, the inbox first, then by name.
///
/// # Errors
/// What is wrong with host, port, TLS, name or password, in words for the owner.
pub async fn folders(server: &ImapServer, password: &SecretString) -> Result<Vec<Folder>, Fault> {
    let broken = |error: ImapError| Failure::line(&server.host, &error).fault;
    let work = async {
        let mut session = login::open(server, password).await.map_err(|failure| failure.fault)?;
        let special_use_known = session.can("SPECIAL-USE");
        let listed = folder::list(&mut session.conn, special_use_known).await.map_err(broken)?;
        Ok((session, sorted(listed.into_values())))
    };
    let done = timeout(limits::IMAP_FOLDERS_WAIT, work).await;
    let (session, mut found) = done.unwrap_or_else(|_| Err(broken(ImapError::Timeout)))?;
    count(session, &mut found).await;
    Ok(found)
}

/// Counts as many as the time allows. What fails here leaves folders uncounted and is no reason to show none.
async fn count(mut session: login::Session<Stream>, folders: &mut [Folder]) {
    let until = Instant::now() + limits::IMAP_COUNT_WAIT;
    for one in folders {
        match timeout_at(until, folder::messages(&mut session.conn, &one.wire)).await {
            Ok(Ok(messages)) => one.messages = messages,
            Ok(Err(error)) => return tracing::debug!("The mails of folders are not counted: {error}"),
            Err(_) => return tracing::debug!("The mails of the other folders are not counted: the time is over"),
        }
    }
    session.conn.logout(limits::IMAP_LOGOUT_WAIT).await;
}

fn sorted(listed: impl Iterator<Item = Listed>) -> Vec<Folder> {
    let mut folders: Vec<Folder> = listed
        .filter(|one| one.selectable)
        .map(|one| Folder {
            label: label(&one.name, one.delimiter.as_deref()),
            wire: if one.role == Some(FolderRole::Inbox) { "INBOX".to_owned() } else { one.name },
            role: one.role,
            messages: None,
        })
        .collect();
    folders.sort_by_cached_key(|one| (one.role != Some(FolderRole::Inbox), one.label.to_lowercase()));
    folders
}

/// The name for people, with one sign between its levels whatever the server's is.
fn label(wire: &str, delimiter: Option<&str>) -> String {
    match delimiter {
        Some(delimiter) => wire.split(delimiter).map(utf7::decode).collect::<Vec<_>>().join("/"),
        None => utf7::decode(wire),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_for_people() {
        let case = |wire: &str, delimiter: Option<&str>, expected: &str| {
            assert_eq!(label(wire, delimiter), expected, "{wire}");
        };
        case("INBOX.Entw&APw-rfe", Some("."), "INBOX/Entwürfe");
        case("Work/Projects", Some("/"), "Work/Projects");
        case("a\\b", Some("\\"), "a/b");
        case("a.b", None, "a.b");
        case("&U,BTFw-", Some("/"), "台北");
    }

    #[test]
    fn what_cannot_be_opened_is_left_out_and_the_inbox_is_first() {
        let one = |name: &str, selectable: bool, role: Option<FolderRole>| Listed {
            name: name.to_owned(),
            delimiter: Some("/".to_owned()),
            selectable,
            role,
        };
        let listed = [
            one("[Gmail]", false, None),
            one("[Gmail]/Sent", true, Some(FolderRole::Sent)),
            one("archive", true, None),
            one("Inbox", true, Some(FolderRole::Inbox)),
            one("Zoo", true, None),
        ];
        let found: Vec<String> = sorted(listed.into_iter()).into_iter().map(|one| one.wire).collect();
        assert_eq!(found, ["INBOX", "[Gmail]/Sent", "archive", "Zoo"]);
    }
}
