//! From nothing to a session that is signed in, and what to say where that fails.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;

use crate::limits;
use crate::model::mailbox::{ImapServer, Tls};
use crate::net::error::NetError;
use crate::net::guard::Violation;
use crate::net::stream::Stream;
use crate::net::{tcp, tls};
use crate::source::imap::session::conn::{ImapConn, Line};
use crate::source::imap::session::failure::Failure;
use crate::source::imap::session::folder::{lenient, quoted};
use crate::source::imap::session::quirks::{self, Effect};
use crate::source::imap::session::reply::{ImapError, Note, Reply};

/// A session that is signed in.
#[derive(Debug)]
pub(crate) struct Session<S: Line> {
    /// Its connection.
    pub(crate) conn: ImapConn<S>,
    /// What the server can do, upper case.
    pub(crate) capabilities: Vec<String>,
}

impl<S: Line> Session<S> {
    /// Whether the server can do this.
    pub(crate) fn can(&self, capability: &str) -> bool {
        has(&self.capabilities, capability)
    }
}

fn has(capabilities: &[String], capability: &str) -> bool {
    capabilities.iter().any(|own| own == capability)
}

/// Connects, protects the line as configured, and signs in.
pub(crate) async fn open(server: &ImapServer, password: &SecretString) -> Result<Session<Stream>, Failure> {
    let (conn, greeting) = connect(server).await?;
    sign_in(conn, server, greeting, password).await
}

/// Connects, protects the line as configured, and reads the greeting.
pub(crate) async fn connect(server: &ImapServer) -> Result<(ImapConn<Stream>, Note), Failure> {
    let trust = trust(server);
    if server.tls == Tls::None && !server.allow_plaintext && !tcp::is_loopback(&server.host) {
        return Err(Failure::plaintext(server));
    }
    let config = match server.tls {
        Tls::None => None,
        _ => Some(tls::client_config(&trust).map_err(Failure::owner)?),
    };
    let net = |error: NetError| Failure::net(server, &error);
    let socket = tcp::connect(&server.host, server.port, limits::IMAP_CONNECT_WAIT).await.map_err(net)?;
    let Some(config) = config else {
        let mut conn = ImapConn::new(Stream::Plain(socket));
        let greeting = greet(&mut conn).await.map_err(|error| Failure::greeting(server, &error))?;
        return Ok((conn, greeting));
    };
    if server.tls == Tls::Implicit {
        let line = Stream::protect(socket, &server.host, config, limits::IMAP_CONNECT_WAIT).await.map_err(net)?;
        let mut conn = ImapConn::new(line);
        let greeting = greet(&mut conn).await.map_err(|error| Failure::greeting(server, &error))?;
        return Ok((conn, greeting));
    }
    let mut conn = ImapConn::new(socket);
    let greeting = greet(&mut conn).await.map_err(|error| Failure::greeting(server, &error))?;
    start_tls(&mut conn, &greeting).await.map_err(|error| Failure::start_tls(server, error.as_ref()))?;
    let socket = conn.into_line();
    let line = Stream::protect(socket, &server.host, config, limits::IMAP_CONNECT_WAIT).await.map_err(net)?;
    let mut conn = ImapConn::new(line);
    conn.skip_greeting();
    // What was said before the protection counts for nothing, but for the server's name of itself.
    Ok((conn, Note { preauth: false, capabilities: None, ..greeting }))
}

/// Whom to trust, as configured.
fn trust(server: &ImapServer) -> tls::Trust {
    match (&server.pin, &server.ca_file) {
        (Some(pin), _) => tls::Trust::Pin(pin.clone()),
        (None, Some(file)) => tls::Trust::CaFile(file.into()),
        (None, None) => tls::Trust::System,
    }
}

/// Reads the greeting.
pub(crate) async fn greet<S: Line>(conn: &mut ImapConn<S>) -> Result<Note, ImapError> {
    match conn.greeting().await? {
        Reply::Note(note) => Ok(note),
        _ => Err(ImapError::Guard(Violation::NotUnderstood("no greeting".to_owned()))),
    }
}

/// `Err(None)`: the server does not offer it, or skips sign-in on a line that nothing protects.
async fn start_tls<S: Line>(conn: &mut ImapConn<S>, greeting: &Note) -> Result<(), Option<ImapError>> {
    let capabilities = match &greeting.capabilities {
        Some(capabilities) => capabilities.clone(),
        None => capabilities(conn).await.map_err(Some)?,
    };
    if greeting.preauth || !has(&capabilities, "STARTTLS") {
        return Err(None);
    }
    conn.run_small("STARTTLS").await.map(|_| ()).map_err(Some)
}

/// Asks what the server can do; a refusal means "nothing special".
pub(crate) async fn capabilities<S: Line>(conn: &mut ImapConn<S>) -> Result<Vec<String>, ImapError> {
    let mut found = Vec::new();
    let mut visit = |reply| {
        if let Reply::Capabilities(list) = reply {
            found = list;
        }
    };
    lenient(conn.run("CAPABILITY", limits::IMAP_ANSWER_BYTES_MAX, &mut visit).await)?;
    Ok(found)
}

/// Signs in, then asks anew what the server can do (iCloud's proxy tells less before).
pub(crate) async fn sign_in<S: Line>(
    mut conn: ImapConn<S>,
    server: &ImapServer,
    greeting: Note,
    password: &SecretString,
) -> Result<Session<S>, Failure> {
    let broken = |error: ImapError| Failure::line(&server.host, &error);
    if !greeting.preauth {
        let before = match greeting.capabilities {
            Some(capabilities) => capabilities,
            None => capabilities(&mut conn).await.map_err(broken)?,
        };
        let work = authenticate(&mut conn, server, &greeting.words.text, &before, password);
        match timeout(limits::IMAP_SILENCE_MAX, work).await.unwrap_or(Err(ImapError::Timeout)) {
            Ok(true) => {}
            Ok(false) => return Err(Failure::no_way_to_sign_in(server)),
            Err(error) => return Err(Failure::sign_in(server, &error)),
        }
    }
    let capabilities = capabilities(&mut conn).await.map_err(broken)?;
    if has(&capabilities, "ID") && quirks::applies(Effect::IdAfterLogin, &server.host, &greeting.words.text) {
        let id = concat!("ID (\"name\" \"Ringonce\" \"version\" \"", env!("CARGO_PKG_VERSION"), "\")");
        lenient(conn.run_small(id).await).map_err(broken)?;
    }
    Ok(Session { conn, capabilities })
}

/// `false` where the server offers no way that we know.
async fn authenticate<S: Line>(
    conn: &mut ImapConn<S>,
    server: &ImapServer,
    greeting: &str,
    capabilities: &[String],
    password: &SecretString,
) -> Result<bool, ImapError> {
    let may_login = !has(capabilities, "LOGINDISABLED");
    if has(capabilities, "AUTH=PLAIN") {
        let initial =
            has(capabilities, "SASL-IR") && !quirks::applies(Effect::NoInitialResponse, &server.host, greeting);
        let mut result = plain(conn, &server.username, password, initial).await;
        if initial && matches!(result, Err(ImapError::Bad(_))) {
            result = plain(conn, &server.username, password, false).await;
        }
        // Offered and not understood: LOGIN is the older way.
        if !(may_login && matches!(result, Err(ImapError::Bad(_)))) {
            return result.map(|()| true);
        }
    }
    if !may_login {
        return Ok(false);
    }
    login(conn, &server.username, password).await.map(|()| true)
}

/// AUTHENTICATE PLAIN (RFC 4616), with the credentials in the command itself where `initial` (RFC 4959).
async fn plain<S: Line>(
    conn: &mut ImapConn<S>,
    username: &str,
    password: &SecretString,
    initial: bool,
) -> Result<(), ImapError> {
    let response = STANDARD.encode(format!("\0{username}\0{}", password.expose_secret()));
    let command = if initial { format!("AUTHENTICATE PLAIN {response}") } else { "AUTHENTICATE PLAIN".to_owned() };
    let tag = conn.send("", &command, limits::IMAP_ANSWER_BYTES_MAX).await?;
    if !initial {
        conn.wait_continue(&tag, limits::IMAP_SILENCE_MAX, &mut |_| {}).await?;
        conn.send_line(&response).await?;
    }
    conn.finish(&tag, &mut |_| {}).await.map(|_| ())
}

/// LOGIN (RFC 3501 section 6.2.3): what a quoted string cannot hold goes as a literal.
async fn login<S: Line>(conn: &mut ImapConn<S>, username: &str, password: &SecretString) -> Result<(), ImapError> {
    let mut line = "LOGIN".to_owned();
    let mut tag = None;
    for text in [username, password.expose_secret()] {
        if text.chars().all(|c| matches!(c, ' '..='~')) {
            line = format!("{line} {}", quoted(text));
            continue;
        }
        let announced = format!("{line} {{{}}}", text.len());
        let tag = match &tag {
            None => tag.insert(conn.send("", &announced, limits::IMAP_ANSWER_BYTES_MAX).await?),
            Some(tag) => {
                conn.send_line(&announced).await?;
                tag
            }
        };
        conn.wait_continue(tag, limits::IMAP_SILENCE_MAX, &mut |_| {}).await?;
        line = text.to_owned();
    }
    let tag = match tag {
        None => conn.send("", &line, limits::IMAP_ANSWER_BYTES_MAX).await?,
        Some(tag) => {
            conn.send_line(&line).await?;
            tag
        }
    };
    conn.finish(&tag, &mut |_| {}).await.map(|_| ())
}
