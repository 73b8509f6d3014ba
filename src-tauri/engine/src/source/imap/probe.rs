//! A look at a server before anything is stored: connects, reads the greeting and what it can do, leaves. No name and no
//! password are sent.

use std::time::Instant;

use tokio::time::timeout;

use crate::limits;
use crate::model::error::Fault;
use crate::model::mailbox::ImapServer;
use crate::net::certificate::Certificate;
use crate::net::tls::{PinDiffers, TlsProblem};
use crate::source::imap::session::failure::Failure;
use crate::source::imap::session::login;
use crate::source::imap::session::reply::ImapError;

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// From the first octet to the greeting, TLS included.
    pub millis: u32,
    /// Its certificate; `None` without TLS.
    pub certificate: Option<Certificate>,
    /// Nobody trusted here vouches for that certificate: only a pin would make it trusted.
    pub needs_pin: bool,
    /// It said that it tells of new mail by itself. Some say so only after sign-in.
    pub idle: bool,
}

/// Looks at a server.
///
/// # Errors
/// What is wrong with host, port or TLS, in words for the owner. A certificate that nobody vouches for is none, where
/// neither a file nor a pin says whom to trust: the owner may recognise it.
pub async fn probe(server: &ImapServer) -> Result<Probe, Fault> {
    let late = || Failure::line(&server.host, &ImapError::Timeout);
    let looked = timeout(limits::IMAP_PROBE_WAIT, look_twice(server)).await;
    looked.unwrap_or_else(|_| Err(late())).map_err(|failure| failure.fault)
}

async fn look_twice(server: &ImapServer) -> Result<Probe, Failure> {
    let failure = match look(server).await {
        Err(failure) if failure.tls.as_deref() == Some(&TlsProblem::UntrustedIssuer) => failure,
        other => return other,
    };
    if server.pin.is_some() || server.ca_file.is_some() {
        return Err(failure);
    }
    // The hash of the certificate is told by a pin that cannot fit.
    let pinned = |pin: String| ImapServer { pin: Some(pin), ..server.clone() };
    let refused = look(&pinned("0".repeat(64))).await.err().and_then(|failure| failure.tls);
    let Some(TlsProblem::PinDiffers(PinDiffers { found })) = refused.map(|problem| *problem) else {
        return Err(failure);
    };
    look(&pinned(found)).await.map(|probe| Probe { needs_pin: true, ..probe })
}

async fn look(server: &ImapServer) -> Result<Probe, Failure> {
    let began = Instant::now();
    let (mut conn, greeting) = login::connect(server).await?;
    let millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
    let capabilities = match greeting.capabilities {
        Some(capabilities) => capabilities,
        None => login::capabilities(&mut conn).await.map_err(|error| Failure::line(&server.host, &error))?,
    };
    let idle = capabilities.iter().any(|one| one == "IDLE");
    let certificate = conn.line().certificate();
    conn.logout(limits::IMAP_LOGOUT_WAIT).await;
    Ok(Probe { millis, certificate, needs_pin: false, idle })
}
