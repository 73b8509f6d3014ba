//! Why a connection could not be made or broke. Errors are told apart by type, never by their text.

use std::fmt;
use std::io;

use crate::model::error::{Fault, FaultCode};
use crate::net::tcp;
use crate::net::tls::{PinDiffers, TlsProblem};

/// A connection failed. `detail` is one clause for people, without secrets, URL paths or mail content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetError {
    /// What kind.
    pub kind: NetErrorKind,
    /// What exactly, with the host's name; it is the `cause` of a [`Fault`].
    pub detail: String,
    /// What is wrong with the certificate, where `kind` is [`NetErrorKind::Tls`] and it is about that.
    pub tls: Option<TlsProblem>,
}

/// The kinds of failure that callers treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetErrorKind {
    /// The name could not be looked up.
    Dns,
    /// This computer has no way to any network.
    NoNetwork,
    /// Nobody listens at that port.
    Refused,
    /// It took too long.
    Timeout,
    /// No protected connection could be agreed upon.
    Tls,
    /// The other side ended the connection.
    Closed,
    /// Anything else the system reports.
    Io,
}

impl NetError {
    /// An error of a kind.
    pub fn new(kind: NetErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), tls: None }
    }

    /// From an error of the system; `peer` names the other side, e.g. `mail.example.com:993`.
    #[must_use]
    pub fn from_io(error: &io::Error, peer: &str) -> Self {
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return Self::from_tls(tls, peer);
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                Self::new(NetErrorKind::Refused, format!("{peer} refused the connection"))
            }
            io::ErrorKind::TimedOut => Self::timeout(peer),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            | io::ErrorKind::UnexpectedEof => Self::new(NetErrorKind::Closed, format!("{peer} closed the connection")),
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown | io::ErrorKind::HostUnreachable
                if !tcp::has_route() =>
            {
                Self::no_network()
            }
            _ => Self::new(NetErrorKind::Io, format!("{peer}: {error}")),
        }
    }

    /// The time for `peer` is over.
    #[must_use]
    pub fn timeout(peer: &str) -> Self {
        Self::new(NetErrorKind::Timeout, format!("{peer} did not answer in time"))
    }

    pub(crate) fn no_network() -> Self {
        Self::new(NetErrorKind::NoNetwork, "this computer has no network")
    }

    fn from_tls(error: &rustls::Error, peer: &str) -> Self {
        let problem = TlsProblem::of(error);
        let detail = match &problem {
            Some(TlsProblem::UntrustedIssuer) => {
                format!("the certificate of {peer} is from an authority not trusted here")
            }
            Some(TlsProblem::WrongName { presented }) if presented.is_empty() => {
                format!("the certificate of {peer} is for another name")
            }
            Some(TlsProblem::WrongName { presented }) => {
                format!("the certificate of {peer} is for other names: {}", presented.join(", "))
            }
            Some(TlsProblem::Expired) => format!("the certificate of {peer} has expired"),
            Some(TlsProblem::NotValidYet) => format!("the certificate of {peer} is not valid yet"),
            Some(TlsProblem::PinDiffers(PinDiffers { found })) => {
                format!("the certificate of {peer} is not the pinned one; its SHA-256 is {found}")
            }
            Some(TlsProblem::Other) => format!("the certificate of {peer} was refused: {error}"),
            None => format!("no protected connection to {peer}: {error}"),
        };
        Self { kind: NetErrorKind::Tls, detail, tls: problem }
    }

    /// The same for people: what it means is the caller's to say.
    pub fn fault(&self, consequence: impl Into<String>) -> Fault {
        let code = if self.kind == NetErrorKind::Tls { FaultCode::Tls } else { FaultCode::Unreachable };
        Fault::new(code, consequence, self.detail.clone(), self.next_step())
    }

    fn next_step(&self) -> &'static str {
        match (self.kind, &self.tls) {
            (NetErrorKind::Dns, _) => "check the spelling of the host name",
            (NetErrorKind::NoNetwork, _) => "connect this computer to a network",
            (NetErrorKind::Refused, _) => "check host and port, and that the server runs",
            (NetErrorKind::Timeout, _) => "check host and port, and whether a firewall stands between",
            (NetErrorKind::Closed, _) => "try again, and check that port and TLS mode belong together",
            (NetErrorKind::Io, _) => "check the network and try again",
            (NetErrorKind::Tls, Some(TlsProblem::UntrustedIssuer)) => {
                "if the server is your own, trust its authority (--ca-file) or this one certificate (--pin)"
            }
            (NetErrorKind::Tls, Some(TlsProblem::WrongName { .. })) => "use the name the certificate is for",
            (NetErrorKind::Tls, Some(TlsProblem::Expired)) => {
                "check this computer's clock, else the server's owner has to renew it"
            }
            (NetErrorKind::Tls, Some(TlsProblem::NotValidYet)) => "check this computer's clock",
            (NetErrorKind::Tls, Some(TlsProblem::PinDiffers(_))) => {
                "if the server's certificate was changed on purpose, pin the new one"
            }
            (NetErrorKind::Tls, Some(TlsProblem::Other)) => {
                "ask the server's owner, or pin this one certificate (--pin)"
            }
            (NetErrorKind::Tls, None) => "check that port and TLS mode belong together",
        }
    }
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for NetError {}
