//! Mailboxes.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::api::mailbox_server::{self as server, ServerParams};
use crate::api::mailbox_setup::advise;
use crate::api::view::{ErrorView, Id, Nothing, SecretText, time};
use crate::api::{Api, demo, invalid, mailbox_link as link, named};
use crate::decide::reason;
use crate::model::error::Fault;
use crate::model::ids::{AccountId, MailboxId};
use crate::model::mailbox::{DEMO_MAILBOX, Mailbox};
use crate::model::sighting::CursorMove;
use crate::model::topic::Topic;
use crate::outbox::route::cancel;
use crate::payload::SELF_MAILBOX;
use crate::secret::SecretName;
use crate::source::imap::check::{CheckedFolder, check};
use crate::source::{Health, HealthState, Method};
use crate::store::figures::{LastSeen, last_seen, unfinished_of};
use crate::store::table::{folder, mailbox, operation, outbox, source};

/// State of what nobody runs.
pub(super) const STOPPED: &str = "stopped";

/// Parameters of `mailbox.add`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MailboxAddParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The owner's address there.
    pub email: String,
    /// Scope of keys; by default the address in lower case.
    #[serde(default)]
    pub mailbox_id: Option<String>,
    /// How it is read.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub server: ServerParams,
    /// Folders to watch; by default `INBOX`.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub folders: Vec<String>,
    /// What a press on a notification opens, with `{message_id}` in it.
    #[serde(default)]
    pub link_template: Option<String>,
    /// The password.
    #[serde(default)]
    pub password: Option<SecretText>,
    /// Log in and look at each folder before it is kept.
    pub test: bool,
}

/// Parameters of `mailbox.set`; what is not given stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MailboxSetParams", optional_fields))]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// Which.
    pub id: String,
    /// The owner's address there.
    #[serde(default)]
    pub email: Option<String>,
    /// Scope of keys: it is fixed, and another than the present one is refused.
    #[serde(default)]
    pub mailbox_id: Option<String>,
    /// How it is read.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub server: ServerParams,
    /// Folders to watch, instead of the present ones; empty: they stay.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub folders: Vec<String>,
    /// What a press on a notification opens, with `{message_id}` in it; empty: its history.
    #[serde(default)]
    pub link_template: Option<String>,
    /// The new password.
    #[serde(default)]
    pub password: Option<SecretText>,
    /// Log in and look at each folder before it is kept.
    pub test: bool,
}

/// How a mailbox is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct MailboxStatus {
    /// Its account id.
    pub id: String,
    /// Scope of keys.
    pub mailbox_id: String,
    /// The owner's address there.
    pub email: String,
    /// `starting`, `watching`, `offline`, `sign_in`, `failing`, `paused`; `stopped` while nothing runs.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::MailboxState"))]
    pub state: String,
    /// `idle`, `poll`, `push` or `none`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::WatchMethod"))]
    pub method: String,
    /// When the last whole check ended.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub last_check_at: Option<String>,
    /// When its last mail was reported.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub last_mail_at: Option<String>,
    /// What is wrong.
    pub error: Option<ErrorView>,
    /// Its mail is invented.
    pub demo: bool,
}

/// A row of `mailbox.list`: how it is doing, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct MailboxView {
    /// How it is doing.
    #[serde(flatten)]
    pub status: MailboxStatus,
    /// Host name or address; null without IMAP.
    pub host: Option<String>,
    /// TCP port.
    pub port: Option<u16>,
    /// `implicit`, `starttls` or `none`.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Tls>"))]
    pub tls: Option<String>,
    /// Name to log in with.
    pub username: Option<String>,
    /// Wire names of the folders watched.
    pub folders: Vec<String>,
    /// What a press on a notification opens; null: its history.
    pub link_template: Option<String>,
    /// PEM file with the authorities to trust.
    pub ca_file: Option<String>,
    /// SHA-256 of the one certificate to trust.
    pub pin: Option<String>,
    /// The password may go unprotected to another machine.
    pub allow_plaintext: bool,
}

/// Adds a mailbox; gives its account id.
///
/// # Errors
/// `invalid` for values that do not fit, `secret` where the password cannot be kept, else what the test says.
pub async fn add(api: &Api, params: AddParams) -> Result<Id, Fault> {
    let email = check_email(&params.email)?;
    let mailbox_id = params.mailbox_id.unwrap_or_else(|| email.to_lowercase());
    let is_ours = [SELF_MAILBOX, DEMO_MAILBOX].contains(&mailbox_id.as_str());
    if mailbox_id.is_empty() || is_ours || mailbox_id.chars().any(char::is_control) {
        return Err(invalid(format!("{mailbox_id:?} cannot be the scope of a mailbox"), "give another --mailbox-id"));
    }
    let imap = server::merge(None, &params.server, &email)?;
    let folders = if params.folders.is_empty() { vec!["INBOX".to_owned()] } else { check_folders(params.folders)? };
    let account_id = AccountId(api.new_id());
    let link_template = link::check(params.link_template.as_deref())?.flatten();
    let mailbox_id = MailboxId(mailbox_id);
    let mailbox = Mailbox { account_id, mailbox_id, email, imap, folders, link_template, paused: false };
    let name = SecretName::mailbox(&mailbox.account_id);
    let mut first = FirstSight { mailbox, cursors: Vec::new() };
    if first.mailbox.imap.is_some() {
        let password = params.password.ok_or_else(no_password)?.0;
        if params.test {
            first = examine(api, first.mailbox, &password).await?;
        }
        api.keep_secret(&name, password).await?;
    }
    let id = first.mailbox.account_id.0.clone();
    if let Err(fault) = store(api, first).await {
        api.forget_secret(&name).await;
        return Err(fault);
    }
    Ok(Id { id })
}

/// Changes a mailbox.
///
/// # Errors
/// `not_found`; as for [`add`].
pub async fn set(api: &Api, params: SetParams) -> Result<Nothing, Fault> {
    let id = params.id.clone();
    let mut mailbox = api.find(move |read| named::mailbox(read, &id)).await?;
    if mailbox.is_demo() {
        return Err(invalid("the demo cannot be changed", "add a mailbox of your own"));
    }
    if params.mailbox_id.is_some_and(|wanted| wanted != mailbox.mailbox_id.as_str()) {
        return Err(invalid(
            format!("the scope of keys of a mailbox is fixed; here it is {}", mailbox.mailbox_id),
            "add the mailbox again with another --mailbox-id",
        ));
    }
    if let Some(email) = &params.email {
        mailbox.email = check_email(email)?;
    }
    if !params.folders.is_empty() {
        mailbox.folders = check_folders(params.folders)?;
    }
    if let Some(link_template) = link::check(params.link_template.as_deref())? {
        mailbox.link_template = link_template;
    }
    mailbox.imap = server::merge(mailbox.imap, &params.server, &mailbox.email)?;
    let name = SecretName::mailbox(&mailbox.account_id);
    let given = params.password.map(|password| password.0);
    let mut changed = FirstSight { mailbox, cursors: Vec::new() };
    if changed.mailbox.imap.is_some() {
        let password = match given.clone() {
            Some(password) => password,
            None => api.secrets.get(&name).await?.ok_or_else(no_password)?,
        };
        if params.test {
            changed = examine(api, changed.mailbox, &password).await?;
        }
    }
    let id = changed.mailbox.account_id.0.clone();
    let replaced = given.is_some();
    if let Some(password) = given {
        api.keep_secret(&name, password).await?;
    }
    store(api, changed).await?;
    if replaced {
        api.kernel()?.secret_replaced(&id);
    }
    Ok(Nothing {})
}

/// Signs in to a mailbox and looks at each of its folders.
///
/// # Errors
/// `not_found`; `invalid`, where it is not read by IMAP; what is wrong with its server, password or folders.
pub async fn test(api: &Api, params: Id) -> Result<Nothing, Fault> {
    let found = api.find(move |read| named::mailbox(read, &params.id)).await?;
    let password = api.secrets.get(&SecretName::mailbox(&found.account_id)).await?;
    if found.imap.is_none() {
        return Err(invalid("it is not read by IMAP", "give it a server with `ringonce mailbox set`"));
    }
    let checked = check(&found, &password.ok_or_else(no_password)?, api.clock.now()).await;
    checked.map(|_| Nothing {}).map_err(|fault| advise(fault, &found.email))
}

/// Every mailbox, oldest first.
///
/// # Errors
/// `storage`.
pub async fn list(api: &Api, _: Nothing) -> Result<Vec<MailboxView>, Fault> {
    let rows: Vec<(Mailbox, LastSeen)> = api
        .read(|read| {
            let mailboxes = mailbox::list(read)?.into_iter();
            mailboxes.map(|mailbox| last_seen(read, &mailbox.account_id).map(|seen| (mailbox, seen))).collect()
        })
        .await?;
    Ok(rows.into_iter().map(|(mailbox, seen)| show(api, mailbox, seen)).collect())
}

/// Stops watching a mailbox until it is resumed.
///
/// # Errors
/// `not_found`.
pub async fn pause(api: &Api, params: Id) -> Result<Nothing, Fault> {
    mark_paused(api, params.id, true).await
}

/// Watches a paused mailbox again.
///
/// # Errors
/// `not_found`.
pub async fn resume(api: &Api, params: Id) -> Result<Nothing, Fault> {
    mark_paused(api, params.id, false).await
}

/// Removes a mailbox and its password. Its history stays; added again it is a new one.
///
/// # Errors
/// `not_found`; `secret`, where the password cannot be removed (then the mailbox stays too).
pub async fn remove(api: &Api, params: Id) -> Result<Nothing, Fault> {
    let found = api.find(move |read| named::mailbox(read, &params.id)).await?;
    if found.is_demo() {
        return demo::stop(api, Nothing {}).await;
    }
    if found.imap.is_some() {
        api.secrets.remove(&SecretName::mailbox(&found.account_id)).await?;
    }
    let now_at = api.clock.now();
    let topics = [Topic::Mailboxes, Topic::Sources, Topic::Status, Topic::Attention];
    api.change(&topics, move |tx| {
        for row in source::list(*tx)?.iter().filter(|row| row.account_id == found.account_id) {
            source::mark_removed(tx, &row.id, now_at)?;
        }
        for key in unfinished_of(*tx, &found.account_id)? {
            if let Some(row) = outbox::get(*tx, &key)? {
                cancel(tx, &row, reason::MAILBOX_REMOVED, now_at)?;
            }
        }
        operation::end_held_of(tx, &found.account_id, reason::MAILBOX_REMOVED, now_at)?;
        mailbox::mark_removed(tx, &found.account_id, now_at)?;
        Ok(Ok(Nothing {}))
    })
    .await
}

async fn mark_paused(api: &Api, id: String, paused: bool) -> Result<Nothing, Fault> {
    let found = api.find(move |read| named::mailbox(read, &id)).await?;
    store(api, FirstSight { mailbox: Mailbox { paused, ..found }, cursors: Vec::new() }).await.map(|()| Nothing {})
}

/// A mailbox, and where the watching of folders begins that were looked at.
struct FirstSight {
    mailbox: Mailbox,
    cursors: Vec<CursorMove>,
}

/// Signs in and looks at each folder: mail that comes from now on rings.
async fn examine(api: &Api, mailbox: Mailbox, password: &SecretString) -> Result<FirstSight, Fault> {
    let report = check(&mailbox, password, api.clock.now()).await.map_err(|fault| advise(fault, &mailbox.email))?;
    let folders = report.folders.iter().map(|folder| folder.wire.clone()).collect();
    let cursor_of = |folder: CheckedFolder| CursorMove {
        account_id: mailbox.account_id.clone(),
        folder: folder.wire,
        cursor: folder.cursor,
    };
    let cursors = report.folders.into_iter().map(cursor_of).collect();
    Ok(FirstSight { mailbox: Mailbox { folders, ..mailbox }, cursors })
}

async fn store(api: &Api, first: FirstSight) -> Result<(), Fault> {
    let now_at = api.clock.now();
    api.change(&[Topic::Mailboxes, Topic::Status], move |tx| {
        mailbox::put(tx, &first.mailbox, now_at)?;
        for step in &first.cursors {
            // Where a folder is known its cursor is the reader's alone.
            if folder::get(*tx, &step.account_id, &step.folder)?.is_none() {
                folder::put(tx, step)?;
            }
        }
        Ok(Ok(()))
    })
    .await
}

pub(super) fn no_password() -> Fault {
    invalid("the password is missing", "give it with --password-stdin")
}

fn show(api: &Api, mailbox: Mailbox, seen: LastSeen) -> MailboxView {
    let health = api.live().map(|live| live.health_of(mailbox.account_id.as_str()));
    let state = match &health {
        _ if mailbox.paused => HealthState::Paused.as_str(),
        None => STOPPED,
        Some(health) => health.state.as_str(),
    };
    let Health { method, last_check_at, last_mail_at, error, .. } = health.unwrap_or_default();
    let status = MailboxStatus {
        demo: mailbox.is_demo(),
        id: mailbox.account_id.0,
        mailbox_id: mailbox.mailbox_id.0,
        email: mailbox.email,
        state: state.to_owned(),
        method: if mailbox.paused { Method::None } else { method }.as_str().to_owned(),
        last_check_at: last_check_at.or(seen.check_at).map(time),
        last_mail_at: last_mail_at.max(seen.mail_at).map(time),
        error: error.as_ref().map(ErrorView::from),
    };
    let imap = mailbox.imap;
    MailboxView {
        status,
        host: imap.as_ref().map(|server| server.host.clone()),
        port: imap.as_ref().map(|server| server.port),
        tls: imap.as_ref().map(|server| server.tls.as_str().to_owned()),
        username: imap.as_ref().map(|server| server.username.clone()),
        folders: mailbox.folders,
        link_template: mailbox.link_template,
        ca_file: imap.as_ref().and_then(|server| server.ca_file.clone()),
        pin: imap.as_ref().and_then(|server| server.pin.clone()),
        allow_plaintext: imap.is_some_and(|server| server.allow_plaintext),
    }
}

pub(super) fn check_email(text: &str) -> Result<String, Fault> {
    let text = text.trim();
    let sides = text.rsplit_once('@').filter(|(local, domain)| !local.is_empty() && !domain.is_empty());
    match sides {
        Some(_) if !text.chars().any(|c| c.is_control() || c.is_whitespace()) => Ok(text.to_owned()),
        _ => Err(invalid(format!("{text:?} is not an e-mail address"), "give one such as owner@example.com")),
    }
}

fn check_folders(folders: Vec<String>) -> Result<Vec<String>, Fault> {
    let mut clean: Vec<String> = Vec::new();
    for folder in folders {
        if folder.is_empty() || folder.chars().any(char::is_control) {
            return Err(invalid(format!("{folder:?} is not the name of a folder"), "give it as the server lists it"));
        }
        if !clean.contains(&folder) {
            clean.push(folder);
        }
    }
    Ok(clean)
}
