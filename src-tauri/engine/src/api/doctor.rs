//! Doctor: looks at everything Ringonce needs and says of each thing whether it is well, and if not, what to do.
//! Nothing is changed, and nobody is told anything.

mod folder;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt};
use hyper::{HeaderMap, Method};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use url::Url;

use crate::api::Api;
use crate::api::view::Nothing;
use crate::channel::desktop::Seat;
use crate::model::destination::{Destination, PauseReason};
use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::Mailbox;
use crate::model::settings::Settings;
use crate::net::http::{Client, Request};
use crate::net::{tcp, tls::Trust};
use crate::secret::SecretName;
use crate::source::imap::check::check;
use crate::store::table::{destination, mailbox};
use crate::store::{figures, verify};
use crate::supervise::wanted::build;

pub use folder::folder;

/// Things looked at beside each other.
const AT_ONCE: usize = 4;
/// A mailbox or destination may take this long.
const LIMIT: Duration = Duration::from_secs(60);
/// A name may take this long.
const NAME_LIMIT: Duration = Duration::from_secs(15);
/// Clocks may differ by this much; a webhook's signature allows five minutes.
const CLOCK_MS_MAX: i64 = 60_000;

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Finding {
    /// `data_folder`, `database`, `secrets`, `network`, `mailbox`, `destination` or `clock`.
    pub check: String,
    /// Which one, for people.
    pub about: String,
    /// `ok`, `warn` or `fail`.
    pub result: String,
    /// What was found; unless it is well: consequence, cause and next step.
    pub detail: String,
}

impl Finding {
    fn ok(check: &str, about: &str, detail: impl Into<String>) -> Self {
        Self { check: check.to_owned(), about: about.to_owned(), result: "ok".to_owned(), detail: detail.into() }
    }

    fn warn(check: &str, about: &str, fault: &Fault) -> Self {
        Self { result: "warn".to_owned(), ..Self::ok(check, about, fault.to_string()) }
    }

    /// Something that does not work.
    #[must_use]
    pub fn fail(check: &str, about: &str, fault: &Fault) -> Self {
        Self { result: "fail".to_owned(), ..Self::ok(check, about, fault.to_string()) }
    }

    fn of(check: &str, about: &str, found: Result<impl Into<String>, Fault>) -> Self {
        match found {
            Ok(detail) => Self::ok(check, about, detail),
            Err(fault) => Self::fail(check, about, &fault),
        }
    }
}

/// Looks at everything but the folder itself.
///
/// # Errors
/// `storage`, where not even the configuration can be read.
pub async fn run(api: &Api, _: Nothing) -> Result<Vec<Finding>, Fault> {
    let (mailboxes, destinations) = api.read(|read| Ok((mailbox::list(read)?, destination::list(read)?))).await?;
    let mut findings = vec![database(api).await, secrets(api, &mailboxes, &destinations).await];
    findings.extend(network(&mailboxes, &destinations).await);
    let each_mailbox = mailboxes.iter().map(|mailbox| one_mailbox(api, mailbox).boxed());
    let each_destination = destinations.iter().map(|destination| one_destination(api, destination).boxed());
    let each: Vec<BoxFuture<'_, Finding>> = each_mailbox.chain(each_destination).collect();
    findings.extend(stream::iter(each).buffered(AT_ONCE).collect::<Vec<_>>().await);
    findings.push(clock(api, &destinations).await);
    Ok(findings)
}

async fn database(api: &Api) -> Finding {
    let damaged = |cause: String| {
        Fault::new(
            FaultCode::Storage,
            "History and keys may be lost",
            cause,
            "stop Ringonce and start it again: it puts the newest copy in place; or use `ringonce restore FILE`",
        )
    };
    let found = api.read(verify::quick_check).await.map_err(|error| damaged(error.cause));
    let found =
        found.and_then(|said| if said == "ok" { Ok("sound") } else { Err(damaged(format!("it is damaged ({said})"))) });
    Finding::of("database", "", found)
}

async fn secrets(api: &Api, mailboxes: &[Mailbox], destinations: &[Destination]) -> Finding {
    let place = api.secrets.place();
    let mailbox = mailboxes.iter().find(|mailbox| mailbox.imap.is_some());
    let name = mailbox.map(|mailbox| SecretName::mailbox(&mailbox.account_id));
    let name = name.or_else(|| destinations.first().map(|destination| SecretName::destination(&destination.id, "any")));
    let Some(name) = name else { return Finding::ok("secrets", &place, "none are kept yet") };
    let read = async { api.secrets.open()?.get(&name).await };
    match read.await {
        Ok(None) if mailbox.is_some() => Finding::fail(
            "secrets",
            &place,
            &Fault::new(
                FaultCode::Secret,
                "A mailbox is not read",
                "its password is not there",
                "give it again with `ringonce mailbox set ID --password-stdin`",
            ),
        ),
        found => Finding::of("secrets", &place, found.map(|_| "they can be read")),
    }
}

async fn network(mailboxes: &[Mailbox], destinations: &[Destination]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if tcp::has_route() {
        findings.push(Finding::ok("network", "", "there is a way out"));
    } else {
        let fault = Fault::new(
            FaultCode::Unreachable,
            "Only servers on this computer can be reached",
            "it has no way to any network",
            "connect it to one",
        );
        findings.push(Finding::warn("network", "", &fault));
    }
    let urls = destinations.iter().flat_map(|destination| destination.fields.values()).filter_map(|value| web(value));
    let hosts = urls.filter_map(|url| url.host_str().map(str::to_owned));
    let hosts: BTreeSet<String> = mailboxes
        .iter()
        .filter_map(|mailbox| mailbox.imap.as_ref().map(|imap| imap.host.clone()))
        .chain(hosts)
        .collect();
    let looked_up = stream::iter(hosts).map(|host| async move {
        let limit = timeout(NAME_LIMIT, tcp::look_up(&host)).await;
        let found = limit.unwrap_or_else(|_| Err(crate::net::error::NetError::timeout(&host)));
        Finding::of("network", &host, found.map(|_| "has an address").map_err(|error| error.fault("It is not reached")))
    });
    findings.extend(looked_up.buffered(AT_ONCE).collect::<Vec<_>>().await);
    findings
}

fn web(value: &str) -> Option<Url> {
    Url::parse(value).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

async fn one_mailbox(api: &Api, mailbox: &Mailbox) -> Finding {
    let about = mailbox.email.as_str();
    if mailbox.paused {
        return Finding::ok("mailbox", about, "paused by you");
    }
    if mailbox.imap.is_none() {
        return Finding::ok("mailbox", about, "not read by Ringonce: others report its mail");
    }
    let looked = async {
        let password = api.secrets.open()?.get(&SecretName::mailbox(&mailbox.account_id)).await?;
        let password = password.ok_or_else(crate::api::mailbox::no_password)?;
        check(mailbox, &password, api.clock.now()).await
    };
    let found = timeout(LIMIT, looked).await.unwrap_or_else(|_| Err(too_slow("The mailbox is not read")));
    let report = match found {
        Ok(report) => report,
        Err(fault) => return Finding::fail("mailbox", about, &fault),
    };
    let how =
        if report.capabilities.iter().any(|one| one == "IDLE") { "IDLE" } else { "asked every minute, without IDLE" };
    let health = api.live().map(|live| live.health_of(mailbox.account_id.as_str()));
    match health.and_then(|health| health.error) {
        // It works for us and not for the reader.
        Some(fault) => Finding::warn("mailbox", about, &fault),
        None => Finding::ok("mailbox", about, format!("signed in, {} folders opened, {how}", report.folders.len())),
    }
}

async fn one_destination(api: &Api, destination: &Destination) -> Finding {
    let about = destination.name.as_str();
    match destination.paused {
        Some(PauseReason::Owner) => return Finding::ok("destination", about, "paused by you"),
        Some(PauseReason::SignIn) => {
            let fault = Fault::new(
                FaultCode::SignIn,
                "Nothing is sent to it",
                "it refused the sign-in",
                "give its secret again with `ringonce destination set`, then `ringonce destination resume`",
            );
            return Finding::fail("destination", about, &fault);
        }
        None => {}
    }
    let limit = Settings::default().call_timeout;
    let asked = async { build(&api.clock, Seat::default(), &api.secrets, destination, limit).await?.check().await };
    let found = timeout(LIMIT, asked).await.unwrap_or_else(|_| Err(too_slow("The destination cannot be reached")));
    Finding::of("destination", about, found.map(|()| "it answers"))
}

async fn clock(api: &Api, destinations: &[Destination]) -> Finding {
    let now_at = api.clock.now();
    let wrong = |cause: String| {
        Fault::new(
            FaultCode::Invalid,
            "Certificates, signatures and times in the history may be taken for wrong",
            cause,
            "set this computer's clock, by the network if it can",
        )
    };
    if let Ok(Some(newest_at)) = api.read(figures::newest_at).await
        && newest_at > now_at + CLOCK_MS_MAX
    {
        let cause = format!("the newest mail was stored {} s in the future", (newest_at - now_at) / 1000);
        return Finding::fail("clock", "", &wrong(cause));
    }
    let servers = destinations.iter().filter_map(|destination| destination.fields.get("server")?.parse().ok());
    for server in servers {
        let Some(their_at) = server_time(&server).await else { continue };
        let host = server.host_str().unwrap_or_default();
        let ahead_ms = api.clock.now() - their_at;
        return if ahead_ms.abs() > CLOCK_MS_MAX {
            let cause = format!("it differs by {} s from that of {host}", ahead_ms.abs() / 1000);
            Finding::fail("clock", host, &wrong(cause))
        } else {
            Finding::ok("clock", host, "agrees with it")
        };
    }
    Finding::ok("clock", "", "later than everything stored; there was no server to compare it with")
}

/// The time on a server, by the head of its first page, which tells nobody anything.
async fn server_time(server: &Url) -> Option<i64> {
    let request = Request { method: Method::GET, headers: HeaderMap::new(), body: Default::default() };
    let answer = Client::new(Trust::System).ask(server, request, NAME_LIMIT).await.ok()?;
    let date = answer.headers.get("date")?.to_str().ok()?;
    jiff::fmt::rfc2822::parse(date).ok().map(|date| date.timestamp().as_millisecond())
}

fn too_slow(consequence: &str) -> Fault {
    Fault::new(
        FaultCode::Unreachable,
        consequence,
        format!("the server did not answer within {} s", LIMIT.as_secs()),
        "check host and port, and whether a firewall stands between",
    )
}
