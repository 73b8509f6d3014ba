//! How a mailbox is read: what the owner gives, merged into what is stored.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::api::invalid;
use crate::model::error::Fault;
use crate::model::mailbox::{ImapServer, Tls};

/// How a mailbox is read. What is not given keeps its value, or its default where it is new.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields, default)]
pub struct ServerParams {
    /// It is not read by IMAP: only other sources report its mail.
    #[cfg_attr(feature = "types", ts(as = "Option<_>", optional))]
    pub no_imap: bool,
    /// Host name or address.
    pub host: Option<String>,
    /// TCP port; by default 993 with implicit TLS, else 143.
    pub port: Option<u16>,
    /// `implicit` (the default), `starttls` or `none`.
    #[cfg_attr(feature = "types", ts(as = "Option<crate::api::types::Tls>"))]
    pub tls: Option<String>,
    /// Name to log in with; by default the e-mail address.
    pub username: Option<String>,
    /// PEM file with the authorities to trust instead of the system's; an absolute path. Empty: none any more.
    pub ca_file: Option<String>,
    /// SHA-256 of the one certificate to trust. Empty: none any more.
    pub pin: Option<String>,
    /// The password may go unprotected to another machine.
    pub allow_plaintext: Option<bool>,
}

/// What is stored, with what was given put over it; `None`: the mailbox is not read by IMAP.
///
/// # Errors
/// `invalid`, naming what does not fit.
pub(super) fn merge(
    stored: Option<ImapServer>,
    given: &ServerParams,
    email: &str,
) -> Result<Option<ImapServer>, Fault> {
    let others = ServerParams { no_imap: true, ..ServerParams::default() };
    if given.no_imap {
        return if *given == others {
            Ok(None)
        } else {
            Err(invalid("settings of a server were given together with --no-imap", "give one or the other"))
        };
    }
    if stored.is_none() && given.host.is_none() && *given != ServerParams::default() {
        return Err(no_host());
    }
    let tls = given.tls.as_deref().map(parse_tls).transpose()?;
    let port_of = |tls: Tls| if tls == Tls::Implicit { 993 } else { 143 };
    let (host, port, tls) = match (&stored, &given.host) {
        (None, None) => return Err(no_host()),
        (Some(old), host) => {
            let new_tls = tls.unwrap_or(old.tls);
            // A port that was only the default of the old protection follows the new one.
            let port = if old.port == port_of(old.tls) { port_of(new_tls) } else { old.port };
            (host.clone().unwrap_or_else(|| old.host.clone()), given.port.unwrap_or(port), new_tls)
        }
        (None, Some(host)) => {
            let tls = tls.unwrap_or(Tls::Implicit);
            (host.clone(), given.port.unwrap_or(port_of(tls)), tls)
        }
    };
    let old = stored.as_ref();
    let (ca_file, pin) = trusted(given, old)?;
    let server = ImapServer {
        host: check_host(&host)?,
        port,
        tls,
        username: given.username.clone().or(old.map(|old| old.username.clone())).unwrap_or_else(|| email.to_owned()),
        ca_file,
        pin,
        allow_plaintext: given.allow_plaintext.unwrap_or(old.is_some_and(|old| old.allow_plaintext)),
    };
    check_together(&server)?;
    Ok(Some(server))
}

/// Whom to trust. One takes the place of the other, and an empty one of itself.
fn trusted(given: &ServerParams, old: Option<&ImapServer>) -> Result<(Option<String>, Option<String>), Fault> {
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let ca_file = match &given.ca_file {
        Some(file) => Some(file.clone()).filter(|file| !file.is_empty()),
        None => old.filter(|_| !has(&given.pin)).and_then(|old| old.ca_file.clone()),
    };
    let pin = match &given.pin {
        Some(pin) if pin.is_empty() => None,
        Some(pin) => Some(check_pin(pin)?),
        None => old.filter(|_| !has(&given.ca_file)).and_then(|old| old.pin.clone()),
    };
    if let Some(file) = ca_file.as_ref().filter(|file| !Path::new(file).is_absolute()) {
        return Err(invalid(format!("{file:?} is not an absolute path"), "give the file's path from / on"));
    }
    Ok((ca_file, pin))
}

fn check_together(server: &ImapServer) -> Result<(), Fault> {
    if server.port == 0 {
        return Err(invalid("0 is not a port", "give --port 1 to 65535"));
    }
    if server.ca_file.is_some() && server.pin.is_some() {
        return Err(invalid("--ca-file and --pin were both given", "give one or the other"));
    }
    if server.username.is_empty() || server.username.chars().any(char::is_control) {
        return Err(invalid("the user name is empty or has control characters", "give --username"));
    }
    if server.tls == Tls::None && !server.allow_plaintext && !is_loopback(&server.host) {
        return Err(invalid(
            format!("without TLS the password would go to {} for everybody on the way to read", server.host),
            "give --tls implicit or starttls, or --allow-plaintext if you accept that",
        ));
    }
    Ok(())
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn parse_tls(text: &str) -> Result<Tls, Fault> {
    Tls::parse(text)
        .ok_or_else(|| invalid(format!("{text:?} is no protection"), "give --tls implicit, starttls or none"))
}

fn check_host(host: &str) -> Result<String, Fault> {
    let host = host.trim();
    if host.is_empty() || host.chars().any(|c| c.is_control() || c.is_whitespace() || c == '/') {
        return Err(invalid(format!("{host:?} is not the name of a server"), "give --host, such as imap.example.com"));
    }
    Ok(host.to_owned())
}

/// Colons and capitals, as some programs print them, are taken.
fn check_pin(pin: &str) -> Result<String, Fault> {
    let clean: String = pin.chars().filter(|c| *c != ':').collect::<String>().to_ascii_lowercase();
    if clean.len() == 64 && clean.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(clean)
    } else {
        Err(invalid(format!("{pin:?} is not the SHA-256 of a certificate"), "give 64 hex digits"))
    }
}

fn no_host() -> Fault {
    invalid(
        "it is not said how the mailbox is read",
        "give --host, or --no-imap where only other sources report its mail",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(host: &str) -> ServerParams {
        ServerParams { host: Some(host.to_owned()), ..ServerParams::default() }
    }

    fn refused(stored: Option<ImapServer>, params: ServerParams, words: &str) {
        let fault = merge(stored, &params, "o@example.com").unwrap_err();
        assert!(fault.to_string().contains(words), "{params:?}: {fault}");
    }

    #[test]
    fn defaults_are_filled_in_and_kept() {
        let new = merge(None, &given("imap.example.com"), "o@example.com").unwrap().unwrap();
        assert_eq!((new.port, new.tls, new.username.as_str()), (993, Tls::Implicit, "o@example.com"));
        let starttls = ServerParams { tls: Some("starttls".into()), ..ServerParams::default() };
        let changed = merge(Some(new.clone()), &starttls, "x@example.com").unwrap().unwrap();
        assert_eq!((changed.port, changed.tls), (143, Tls::StartTls), "a default port follows");
        assert_eq!((changed.host, changed.username), (new.host.clone(), new.username.clone()), "the rest stays");
        let pinned = ServerParams { pin: Some("AB:".repeat(31) + "AB"), ..ServerParams::default() };
        let with_file = ImapServer { ca_file: Some("/ca.pem".into()), ..new.clone() };
        let pinned = merge(Some(with_file), &pinned, "").unwrap().unwrap();
        assert_eq!((&pinned.ca_file, &pinned.pin), (&None, &Some("ab".repeat(32))), "the pin takes the file's place");
        let cleared =
            ServerParams { pin: Some(String::new()), ca_file: Some(String::new()), ..ServerParams::default() };
        let system = merge(Some(pinned), &cleared, "").unwrap().unwrap();
        assert_eq!((system.ca_file, system.pin), (None, None), "empty: the system's authorities again");
        let no_imap = ServerParams { no_imap: true, ..ServerParams::default() };
        assert_eq!(merge(Some(new), &no_imap, "").unwrap(), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        refused(None, ServerParams::default(), "--no-imap");
        refused(None, ServerParams { port: Some(1), ..ServerParams::default() }, "--host");
        refused(None, ServerParams { no_imap: true, ..given("a") }, "one or the other");
        refused(None, ServerParams { tls: Some("ssl".into()), ..given("a") }, "starttls");
        refused(None, ServerParams { tls: Some("none".into()), ..given("imap.example.com") }, "--allow-plaintext");
        refused(None, ServerParams { pin: Some("abc".into()), ..given("a") }, "64 hex digits");
        refused(None, ServerParams { ca_file: Some("ca.pem".into()), ..given("a") }, "absolute");
        refused(None, ServerParams { port: Some(0), ..given("a") }, "1 to 65535");
        refused(None, given("http://a"), "not the name of a server");
        for host in ["127.0.0.1", "::1", "localhost"] {
            let params = ServerParams { tls: Some("none".into()), ..given(host) };
            assert!(merge(None, &params, "o@example.com").is_ok(), "{host} needs no TLS");
        }
        let accepted =
            ServerParams { tls: Some("none".into()), allow_plaintext: Some(true), ..given("imap.example.com") };
        assert!(merge(None, &accepted, "o@example.com").is_ok(), "the owner accepted it");
    }
}
