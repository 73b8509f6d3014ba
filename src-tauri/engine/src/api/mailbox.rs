//! Mailboxes.

use serde::{Deserialize, Serialize};

use crate::api::view::{ErrorView, SecretText};

/// How a mailbox is read. What is not given keeps its value, or its default where it is new.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerParams {
    /// It is not read by IMAP: only other sources report its mail.
    pub no_imap: bool,
    /// Host name or address.
    pub host: Option<String>,
    /// TCP port; by default 993 with implicit TLS, else 143.
    pub port: Option<u16>,
    /// `implicit` (the default), `starttls` or `none`.
    pub tls: Option<String>,
    /// Name to log in with; by default the e-mail address.
    pub username: Option<String>,
    /// PEM file with the authorities to trust instead of the system's; an absolute path.
    pub ca_file: Option<String>,
    /// SHA-256 of the one certificate to trust.
    pub pin: Option<String>,
    /// The password may go unprotected to another machine.
    pub allow_plaintext: Option<bool>,
}

/// Parameters of `mailbox.add`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The owner's address there.
    pub email: String,
    /// Scope of keys; by default the address in lower case.
    #[serde(default)]
    pub mailbox_id: Option<String>,
    /// How it is read.
    #[serde(default)]
    pub server: ServerParams,
    /// Folders to watch; by default `INBOX`.
    #[serde(default)]
    pub folders: Vec<String>,
    /// The password.
    #[serde(default)]
    pub password: Option<SecretText>,
    /// Log in and look at each folder before it is kept.
    pub test: bool,
}

/// Parameters of `mailbox.set`; what is not given stays.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    pub server: ServerParams,
    /// Folders to watch, instead of the present ones; empty: they stay.
    #[serde(default)]
    pub folders: Vec<String>,
    /// The new password.
    #[serde(default)]
    pub password: Option<SecretText>,
    /// Log in and look at each folder before it is kept.
    pub test: bool,
}

/// How a mailbox is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailboxStatus {
    /// Its account id.
    pub id: String,
    /// Scope of keys.
    pub mailbox_id: String,
    /// The owner's address there.
    pub email: String,
    /// `starting`, `watching`, `offline`, `sign_in`, `failing`, `paused`; `stopped` while nothing runs.
    pub state: String,
    /// `idle`, `poll`, `push` or `none`.
    pub method: String,
    /// When the last whole check ended.
    pub last_check_at: Option<String>,
    /// When its last mail was reported.
    pub last_mail_at: Option<String>,
    /// What is wrong.
    pub error: Option<ErrorView>,
}

/// A row of `mailbox.list`: how it is doing, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailboxView {
    /// How it is doing.
    #[serde(flatten)]
    pub status: MailboxStatus,
    /// Host name or address; null without IMAP.
    pub host: Option<String>,
    /// TCP port.
    pub port: Option<u16>,
    /// `implicit`, `starttls` or `none`.
    pub tls: Option<String>,
    /// Name to log in with.
    pub username: Option<String>,
    /// Wire names of the folders watched.
    pub folders: Vec<String>,
    /// PEM file with the authorities to trust.
    pub ca_file: Option<String>,
    /// SHA-256 of the one certificate to trust.
    pub pin: Option<String>,
    /// The password may go unprotected to another machine.
    pub allow_plaintext: bool,
}
