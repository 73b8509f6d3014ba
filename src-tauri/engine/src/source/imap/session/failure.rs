//! Why there is no session: in words for the owner, and what it means for the next try (imap.md rule 10).

use std::time::Duration;

use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::{ImapServer, Tls};
use crate::net::error::{NetError, NetErrorKind};
use crate::net::guard::Violation;
use crate::net::tls::TlsProblem;
use crate::source::HealthState;
use crate::source::imap::session::reply::{ImapError, Words};

const CONSEQUENCE: &str = "The mailbox cannot be read";

/// There is no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// For people.
    pub(crate) fault: Fault,
    /// For the next try.
    pub(crate) next: Next,
    /// What is wrong with the server's certificate, where it is that.
    pub(crate) tls: Option<Box<TlsProblem>>,
}

/// What a failure means for the next try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Try again after the usual pause.
    Retry,
    /// Try again no sooner than this.
    After(Duration),
    /// The credentials were refused; `certain` where the server says just that.
    Refused {
        /// The code was AUTHENTICATIONFAILED.
        certain: bool,
    },
    /// It cannot work before the owner changes something.
    Owner,
}

impl Failure {
    fn new(next: Next, code: FaultCode, cause: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { fault: Fault::new(code, CONSEQUENCE, cause, next_step), next, tls: None }
    }

    /// Only the owner can help.
    pub(crate) fn owner(fault: Fault) -> Self {
        Self { fault: Fault { consequence: CONSEQUENCE.to_owned(), ..fault }, next: Next::Owner, tls: None }
    }

    /// An unprotected line to another machine, which the owner has not allowed.
    pub(crate) fn plaintext(server: &ImapServer) -> Self {
        Self::new(
            Next::Owner,
            FaultCode::Invalid,
            format!("{} is another computer, and without TLS the password would go there unprotected", server.host),
            "use --tls implicit or starttls, or accept the risk with --allow-plaintext",
        )
    }

    /// No connection.
    pub(crate) fn net(server: &ImapServer, error: &NetError) -> Self {
        let mut fault = error.fault(CONSEQUENCE);
        if error.kind == NetErrorKind::Tls && error.tls.is_none() {
            fault.next_step = match server.tls {
                Tls::Implicit => {
                    "check the port: 993 takes TLS from the first byte; a port like 143 wants --tls starttls".to_owned()
                }
                _ => fault.next_step,
            };
        }
        Self { fault, next: Next::Retry, tls: error.tls.clone().map(Box::new) }
    }

    /// Whoever answered did not greet as an IMAP server does.
    pub(crate) fn greeting(server: &ImapServer, error: &ImapError) -> Self {
        let at = format!("{}:{}", server.host, server.port);
        let cause = match error {
            ImapError::Guard(Violation::NotUnderstood(said)) => format!("{at} is not an IMAP server; it said {said:?}"),
            ImapError::Bye(words) => return Self::turned_away(server, words),
            ImapError::Timeout => format!("{at} accepted the connection and did not greet"),
            ImapError::Eof => format!("{at} closed the connection without a greeting"),
            other => format!("{at} did not greet as an IMAP server: {other}"),
        };
        let next_step = match server.tls {
            Tls::Implicit => "check the port: IMAP with TLS from the first byte is usually 993",
            Tls::StartTls | Tls::None => {
                "check the port: without TLS at first it is usually 143; where TLS starts at once use --tls implicit"
            }
        };
        Self::new(Next::Retry, FaultCode::Protocol, cause, next_step)
    }

    /// BYE instead of a greeting: too many connections, or the server is closing.
    fn turned_away(server: &ImapServer, words: &Words) -> Self {
        let next = words.suggested_wait().map_or(Next::Retry, Next::After);
        let cause = format!("{} turned the connection away: {words}", server.host);
        Self::new(next, FaultCode::Unreachable, cause, "nothing; it is tried again")
    }

    /// STARTTLS was not offered (`None`) or refused.
    pub(crate) fn start_tls(server: &ImapServer, error: Option<&ImapError>) -> Self {
        let cause = match error {
            None => format!("{}:{} does not offer STARTTLS", server.host, server.port),
            Some(error) => format!("{}:{} did not start TLS: {error}", server.host, server.port),
        };
        Self::new(Next::Retry, FaultCode::Tls, cause, "use --tls implicit, usually with port 993")
    }

    /// The server takes no password on this line.
    pub(crate) fn no_way_to_sign_in(server: &ImapServer) -> Self {
        let (cause, next_step) = if server.tls == Tls::None {
            ("takes no password without TLS", "use --tls starttls or --tls implicit")
        } else {
            ("offers neither AUTHENTICATE PLAIN nor LOGIN", "ask the provider for an app password or another server")
        };
        Self::new(Next::Owner, FaultCode::SignIn, format!("{} {cause}", server.host), next_step)
    }

    /// Signing in failed. Only a plain "no" is about the password: LIMIT, UNAVAILABLE and "not connected" pass by
    /// themselves, even as BAD (mailcore2#1642, php-imap#464).
    pub(crate) fn sign_in(server: &ImapServer, error: &ImapError) -> Self {
        let ImapError::No(words) = error else { return Self::line(&server.host, error) };
        if let Some(wait) = words.suggested_wait() {
            return Self::line_after(&server.host, error, Next::After(wait));
        }
        if words.is_about_load() {
            return Self::line(&server.host, error);
        }
        let certain = words.code == "AUTHENTICATIONFAILED";
        if !certain && !matches!(words.code.as_str(), "" | "AUTHORIZATIONFAILED" | "EXPIRED" | "PRIVACYREQUIRED") {
            return Self::line(&server.host, error);
        }
        Self::new(
            Next::Refused { certain },
            FaultCode::SignIn,
            format!("{} refused user name or password of {:?}: {words}", server.host, server.username),
            "check both; many providers want an app password for mail programs, and IMAP switched on in their settings",
        )
    }

    /// The session broke, or a command every server knows was refused.
    pub(crate) fn line(host: &str, error: &ImapError) -> Self {
        let next = error.words().and_then(Words::suggested_wait).map_or(Next::Retry, Next::After);
        Self::line_after(host, error, next)
    }

    fn line_after(host: &str, error: &ImapError, next: Next) -> Self {
        let code = match error {
            ImapError::No(_) | ImapError::Bad(_) | ImapError::Guard(_) => FaultCode::Protocol,
            _ => FaultCode::Unreachable,
        };
        Self::new(next, code, format!("{host}: {error}"), "nothing; it is tried again")
    }

    /// A folder that cannot be opened.
    pub(crate) fn folder(wire: &str, error: &ImapError) -> Fault {
        let name = super::utf7::decode(wire);
        let said = error.words().cloned().unwrap_or_default();
        Fault::new(
            FaultCode::NotFound,
            format!("The folder {name:?} is not watched"),
            format!("the server does not open it: {said}"),
            "check its name; `ringonce mailbox test` lists the folders there are",
        )
    }

    /// The state in one word.
    pub(crate) fn state(&self) -> HealthState {
        match (self.next, self.fault.code) {
            (Next::Refused { .. }, _) => HealthState::SignIn,
            (_, FaultCode::Unreachable) => HealthState::Offline,
            _ => HealthState::Failing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> ImapServer {
        ImapServer {
            host: "imap.example.com".into(),
            port: 993,
            tls: Tls::Implicit,
            username: "owner".into(),
            ca_file: None,
            pin: None,
            allow_plaintext: false,
        }
    }

    #[test]
    fn only_a_plain_no_is_about_the_password() {
        let case = |error: fn(Words) -> ImapError, code: &str, text: &str, next: Next| {
            let words = Words { code: code.into(), text: text.into() };
            assert_eq!(Failure::sign_in(&server(), &error(words)).next, next, "{code} {text}");
        };
        case(ImapError::No, "AUTHENTICATIONFAILED", "bad", Next::Refused { certain: true });
        case(ImapError::No, "", "Login failed", Next::Refused { certain: false });
        case(ImapError::No, "", "Too many open connections (2 of 2 for ada)", Next::Retry);
        case(ImapError::No, "", "Temporary authentication failure", Next::Retry);
        case(ImapError::No, "AUTHENTICATIONFAILED", "Too many failures", Next::Refused { certain: true });
        case(ImapError::No, "UNAVAILABLE", "", Next::Retry);
        case(ImapError::No, "LIMIT", "Rate limit hit", Next::Retry);
        case(ImapError::No, "ALERT", "Too many simultaneous connections", Next::Retry);
        case(ImapError::Bad, "", "User is authenticated but not connected", Next::Retry);
        case(ImapError::Bad, "AUTHENTICATIONFAILED", "", Next::Retry);
        case(
            ImapError::Bad,
            "",
            "Request is throttled. Suggested Backoff Time: 92415 milliseconds",
            Next::After(Duration::from_millis(92_415)),
        );
    }
}
