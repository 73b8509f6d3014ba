//! What is found out about a mailbox before it is stored or changed: its provider, its server, its folders. Nothing is
//! written here, and a password that was given is gone afterwards.

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::api::mailbox::{check_email, no_password};
use crate::api::mailbox_server::{self as merging, ServerParams};
use crate::api::view::{SecretText, time};
use crate::api::{Api, invalid, named};
use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::ImapServer;
use crate::net::tcp;
use crate::secret::SecretName;
use crate::source::imap::folders::{self, Folder};
use crate::source::imap::probe::{self, Probe};
use crate::source::imap::providers::{self, Provider};

/// Parameters of `mailbox.presets`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct PresetsParams {
    /// The owner's address.
    pub email: String,
}

/// What is known of an address before anything is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Presets {
    /// Its provider; null where that is none of the big ones.
    pub provider: Option<ProviderView>,
    /// Where its mail may be, the likeliest first.
    pub servers: Vec<ServerView>,
}

/// A provider, and what its owner has to do there first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ProviderView {
    /// Stable word.
    pub id: String,
    /// As people know it.
    pub name: String,
    /// What lets a mail program in.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::SignInWay"))]
    pub sign_in: String,
    /// IMAP is off until it is switched on in the provider's settings.
    pub enable_imap: bool,
    /// The provider's page about it.
    pub help: String,
}

/// Where a mailbox is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ServerView {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// `implicit`, `starttls` or `none`.
    #[cfg_attr(feature = "types", ts(as = "crate::api::types::Tls"))]
    pub tls: String,
    /// Name to log in with.
    pub username: String,
}

/// Parameters of `mailbox.probe`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct ProbeParams {
    /// The owner's address.
    pub email: String,
    /// The server; by default those of `mailbox.presets` in turn.
    #[serde(default)]
    pub server: Option<ServerParams>,
}

/// A server that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ProbeView {
    /// Where.
    pub server: ServerView,
    /// From the first octet to the greeting, TLS included.
    pub millis: u32,
    /// The certificate's last moment; null without TLS.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Time>"))]
    pub certificate_until: Option<String>,
    /// SHA-256 of a certificate that nobody vouches for: the server is used only where this is pinned.
    pub pin: Option<String>,
    /// It tells of new mail by itself; false: not said before sign-in.
    pub idle: bool,
}

/// Parameters of `mailbox.folders`: a mailbox that is stored, by its id, or one that is not.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct FoldersParams {
    /// Which stored one; what else is given goes over what is stored.
    pub id: Option<String>,
    /// The owner's address, where it is not stored.
    pub email: Option<String>,
    /// How it is read; by default as its provider says.
    pub server: Option<ServerParams>,
    /// The password, where it is not stored or has changed.
    pub password: Option<SecretText>,
}

/// A folder that can be watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct FolderView {
    /// Its name on the wire, as `mailbox.add` takes it.
    pub name: String,
    /// For people; levels parted by `/`.
    pub label: String,
    /// What it is for; null: nothing special, or the server does not say.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::FolderRole>"))]
    pub special: Option<String>,
    /// Mails in it; null: the server did not say in time.
    pub messages: Option<u32>,
}

/// What is known of an address before anything is asked.
///
/// # Errors
/// `invalid` for what is no address.
pub async fn presets(_: &Api, params: PresetsParams) -> Result<Presets, Fault> {
    let email = check_email(&params.email)?;
    Ok(Presets {
        provider: Provider::of(&email).map(ProviderView::from),
        servers: providers::places(&email).iter().map(ServerView::from).collect(),
    })
}

/// Connects to a server without signing in.
///
/// # Errors
/// `invalid`; `unreachable`, `tls` or `protocol` with what is wrong with it.
pub async fn probe(_: &Api, params: ProbeParams) -> Result<ProbeView, Fault> {
    let email = check_email(&params.email)?;
    let places = match &params.server {
        Some(given) => vec![merging::merge(None, given, &email)?.ok_or_else(no_imap)?],
        None => providers::places(&email),
    };
    let mut looks: FuturesOrdered<_> =
        places.iter().map(|server| async move { (server, probe::probe(server).await) }).collect();
    let (mut stranger, mut faults) = (None, Vec::new());
    while let Some((server, looked)) = looks.next().await {
        match looked {
            Ok(found) if !found.needs_pin => return Ok(show(server, found)),
            // One that nobody vouches for is taken only where no other answers.
            Ok(found) => stranger = stranger.or_else(|| Some(show(server, found))),
            Err(fault) => faults.push(fault),
        }
    }
    stranger.ok_or_else(|| nobody(faults, &email))
}

/// Signs in and lists the folders that can be watched.
///
/// # Errors
/// `not_found`; `invalid`; what is wrong with server, name or password, with what its provider wants.
pub async fn folders(api: &Api, params: FoldersParams) -> Result<Vec<FolderView>, Fault> {
    let (server, email, password) = match params.id {
        Some(id) => {
            let stored = api.find(move |read| named::mailbox(read, &id)).await?;
            let server = merging::merge(stored.imap, &params.server.unwrap_or_default(), &stored.email)?;
            let password = match params.password {
                Some(given) => given.0,
                None => api.secrets.get(&SecretName::mailbox(&stored.account_id)).await?.ok_or_else(no_password)?,
            };
            (server.ok_or_else(no_imap)?, stored.email, password)
        }
        None => draft(params.email, params.server, params.password)?,
    };
    let found = folders::folders(&server, &password).await.map_err(|fault| advise(fault, &email))?;
    Ok(found.into_iter().map(FolderView::from).collect())
}

fn draft(
    email: Option<String>,
    server: Option<ServerParams>,
    password: Option<SecretText>,
) -> Result<(ImapServer, String, SecretString), Fault> {
    let email =
        check_email(&email.ok_or_else(|| invalid("it is not said which mailbox", "give its id or its address"))?)?;
    let server = match server {
        Some(given) => merging::merge(None, &given, &email)?,
        None => Provider::of(&email).map(|provider| provider.server(&email)),
    };
    Ok((server.ok_or_else(no_imap)?, email, password.ok_or_else(no_password)?.0))
}

/// A refused sign-in, with what the provider of the address wants.
pub(super) fn advise(fault: Fault, email: &str) -> Fault {
    match Provider::of(email) {
        Some(provider) if fault.code == FaultCode::SignIn => Fault { next_step: provider.advice(), ..fault },
        _ => fault,
    }
}

fn no_imap() -> Fault {
    invalid("it is not said how the mailbox is read", "give the host of its server")
}

/// Why no place answered: a certificate that does not fit says the most.
fn nobody(mut faults: Vec<Fault>, email: &str) -> Fault {
    let place = faults.iter().position(|fault| fault.code == FaultCode::Tls).unwrap_or(0);
    let tells = faults.len() == 1 || !tcp::has_route() || faults.iter().any(|fault| fault.code == FaultCode::Tls);
    if tells && place < faults.len() {
        return faults.swap_remove(place);
    }
    let domain = email.rsplit_once('@').map_or(email, |(_, domain)| domain);
    Fault::new(
        FaultCode::Unreachable,
        "The mailbox cannot be read",
        format!("there is no IMAP server at the usual places of {domain}"),
        "ask the provider for its host and port",
    )
}

fn show(server: &ImapServer, found: Probe) -> ProbeView {
    let certificate = found.certificate;
    ProbeView {
        server: ServerView::from(server),
        millis: found.millis,
        certificate_until: certificate.as_ref().and_then(|certificate| certificate.until_at).map(time),
        pin: certificate.filter(|_| found.needs_pin).map(|certificate| certificate.sha256),
        idle: found.idle,
    }
}

impl From<&Provider> for ProviderView {
    fn from(provider: &Provider) -> Self {
        Self {
            id: provider.id.to_owned(),
            name: provider.name.to_owned(),
            sign_in: provider.sign_in.as_str().to_owned(),
            enable_imap: provider.enable_imap,
            help: provider.help.to_owned(),
        }
    }
}

impl From<&ImapServer> for ServerView {
    fn from(server: &ImapServer) -> Self {
        Self {
            host: server.host.clone(),
            port: server.port,
            tls: server.tls.as_str().to_owned(),
            username: server.username.clone(),
        }
    }
}

impl From<Folder> for FolderView {
    fn from(folder: Folder) -> Self {
        Self {
            name: folder.wire,
            label: folder.label,
            special: folder.role.map(|role| role.as_str().to_owned()),
            messages: folder.messages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_the_provider_wants() {
        let refused = || Fault::new(FaultCode::SignIn, "c", "refused", "check both");
        let case = |fault: Fault, email: &str, words: &str| {
            let advised = advise(fault, email);
            assert!(advised.next_step.contains(words), "{email}: {advised}");
        };
        case(refused(), "a@gmail.com", "https://myaccount.google.com/apppasswords");
        case(refused(), "a@outlook.com", "not built yet");
        case(refused(), "a@web.de", "switch IMAP on");
        case(refused(), "a@proton.me", "Bridge");
        case(refused(), "a@example.org", "check both");
        case(Fault::new(FaultCode::Unreachable, "c", "away", "check host"), "a@gmail.com", "check host");
    }

    #[test]
    fn of_several_faults_the_telling_one_is_shown() {
        let fault = |code: FaultCode, cause: &str| Fault::new(code, "c", cause, "n");
        let away = || fault(FaultCode::Unreachable, "away");
        assert_eq!(nobody(vec![away()], "a@b.example").cause, "away", "the owner named this one");
        let named = nobody(vec![away(), fault(FaultCode::Tls, "for other names"), away()], "a@b.example");
        assert_eq!(named.cause, "for other names");
    }
}
