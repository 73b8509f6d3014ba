//! The way into a session.

use std::time::Duration;

use secrecy::SecretString;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::source::imap::session::conn::ImapConn;
use crate::source::imap::session::failure::Next;
use crate::source::imap::session::login::{greet, sign_in};

use super::*;

#[tokio::test(start_paused = true)]
async fn signing_in_as_each_server_wants_it() {
    // "\0owner\0secret"
    const PLAIN: &str = "AG93bmVyAHNlY3JldA==";
    let case = async |username: &str, password: &str, script: &[&str], expected: Result<(), Next>| {
        let (near, far) = tokio::io::duplex(1 << 16);
        let server = tokio::spawn(serve(far, text(script)));
        let mut conn = ImapConn::new(near);
        let greeting = greet(&mut conn).await.unwrap();
        let session = sign_in(conn, &account(username), greeting, &SecretString::from(password)).await;
        assert_eq!(session.map(|_| ()).map_err(|failure| failure.next), expected, "{script:?}");
        timeout(Duration::from_secs(5), server).await.expect("the script is not over").unwrap();
    };
    let after = ["S: $ OK [CAPABILITY IMAP4rev1] in", "C: $ CAPABILITY", "S: * CAPABILITY IMAP4rev1 IDLE", "S: $ OK"];
    let with = |before: &[&'static str]| -> Vec<&'static str> { [before, &after].concat() };
    let ir = format!("C: $ AUTHENTICATE PLAIN {PLAIN}").leak() as &str;
    let answer = format!("C: {PLAIN}").leak() as &str;
    let plain = with(&["S: * OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi", ir]);
    case("owner", "secret", &plain, Ok(())).await;
    let no_ir = with(&["S: * OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hi", "C: $ AUTHENTICATE PLAIN", "S: +", answer]);
    case("owner", "secret", &no_ir, Ok(())).await;
    let refused_ir = with(&[
        "S: * OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi",
        ir,
        "S: $ BAD what",
        "C: $ AUTHENTICATE PLAIN",
        "S: + ",
        answer,
    ]);
    case("owner", "secret", &refused_ir, Ok(())).await;
    let login = with(&[
        "S: * OK hi",
        "C: $ CAPABILITY",
        "S: * CAPABILITY IMAP4rev1",
        "S: $ OK",
        "C: $ LOGIN \"ow ner\" \"se\\\"cr\\\\et\"",
    ]);
    case("ow ner", "se\"cr\\et", &login, Ok(())).await;
    let literal = with(&["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN \"owner\" {3}", "S: + go on", "C: sü"]);
    case("owner", "sü", &literal, Ok(())).await;
    let both = with(&["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN {2}", "S: +", "C: ü {2}", "S: +", "C: ö"]);
    case("ü", "ö", &both, Ok(())).await;
    let preauth = ["S: * PREAUTH hi", "C: $ CAPABILITY", "S: * CAPABILITY IMAP4rev1", "S: $ OK"];
    case("owner", "secret", &preauth, Ok(())).await;
    let odd = [
        "S: * OK [CAPABILITY IMAP4rev1] Coremail ready",
        "C: $ LOGIN *",
        "S: $ OK",
        "C: $ CAPABILITY",
        "S: * CAPABILITY IMAP4rev1 ID",
        "S: $ OK",
        "C: $ ID (\"name\" \"Ringonce\"*",
        "S: $ BAD no",
    ];
    case("owner", "secret", &odd, Ok(())).await;
    case("owner", "secret", &["S: * OK [CAPABILITY IMAP4rev1 LOGINDISABLED] hi"], Err(Next::Owner)).await;
    let wrong = ["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN *", "S: $ NO [AUTHENTICATIONFAILED] no"];
    case("owner", "secret", &wrong, Err(Next::Refused { certain: true })).await;
    let busy = ["S: * OK [CAPABILITY IMAP4rev1] hi", "C: $ LOGIN *", "S: $ NO [LIMIT] too many", "S: * BYE"];
    case("owner", "secret", &busy, Err(Next::Retry)).await;
}

#[tokio::test]
async fn what_comes_after_starttls_ok_is_dropped() {
    let (mut conn, server) = conn(text(&["C: $ STARTTLS", "S~ $ OK go\r\n* OK injected\r\nR2 OK injected\r\n"]));
    conn.run_small("STARTTLS").await.unwrap();
    server.await.unwrap();
    let mut rest = Vec::new();
    conn.into_line().read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"", "it was said before the protection and counts for nothing");
}
