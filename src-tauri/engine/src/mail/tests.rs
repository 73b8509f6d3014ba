//! Whole mails: what is read of them, and what no octets can do.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;
use crate::identity::keys::sha256_hex;
use crate::limits::{IDENTITY_PREFIX_BYTES, PREVIEW_CHARS_MAX};

/// A pass over any octets the limit lets in; very generous, so that a busy computer does not fail it, and far under what
/// time that grows with the square would take.
const READ_MAX: Duration = Duration::from_secs(3);

fn whole(mail: &str) -> MailFacts {
    read(mail.as_bytes(), Completeness::Mail)
}

/// Reads twice and checks what holds for any octets.
fn survive(raw: &[u8], what: &str) -> MailFacts {
    let started = Instant::now();
    let facts = read(raw, Completeness::Mail);
    let took = started.elapsed();
    assert!(took < READ_MAX, "{what} took {took:?}");
    assert_eq!(facts, read(raw, Completeness::Mail), "{what}: the same octets give the same facts");
    assert!(facts.to.len() <= RECIPIENTS_MAX, "{what}");
    assert!(facts.body.is_some() || raw.len() >= IDENTITY_PREFIX_BYTES / 2, "{what}: a mail has a body");
    let preview = facts.body.as_ref().map(|body| body.preview.as_str()).unwrap_or_default();
    assert!(preview.chars().count() <= PREVIEW_CHARS_MAX && !preview.contains('\n'), "{what}");
    let header = MailFacts { body: None, ..facts.clone() };
    assert_eq!(header, read(raw, Completeness::Header), "{what}: the header alone says the same");
    facts
}

#[test]
fn facts_for_people_and_rules() {
    let facts = whole(
        "From: =?UTF-8?Q?J=C3=BCrgen?= <J@X.example>\n\
         To: \"A, B\" <A@x.example>, c@x.example\n\
         Cc: team: d@x.example;, nobody\n\
         List-Id: The list <The.List.example>\n\
         Subject: =?UTF-8?Q?H=C3=A9?=\n \
         llo\n\
         Date: Tue, 1 Dec 2026 07:00:00 +0000\n\
         Message-ID: <a@B>\n\n\
         Dear   owner,\n\n\nlook.\n",
    );
    assert_eq!(facts.from_address.as_deref(), Some("j@x.example"));
    assert_eq!(facts.from_name.as_deref(), Some("Jürgen"));
    assert_eq!(facts.to, ["a@x.example", "c@x.example", "d@x.example"]);
    assert_eq!(facts.list_id.as_deref(), Some("the.list.example"));
    assert_eq!(facts.subject.as_deref(), Some("Hé llo"));
    assert_eq!(facts.sent_at.as_ref().and_then(|sent| sent.at), Some(1_796_108_400_000));
    assert_eq!(facts.message_id.as_deref(), Some("a@b"));
    let body = facts.body.unwrap();
    assert_eq!(body.preview, "Dear owner, look.");
    assert_eq!(body.sha256, sha256_hex(b"Dear   owner,\n\n\nlook."));
}

#[test]
fn line_ends_do_not_matter() {
    let lf = "From: a@b\nSubject: x\n y\n\nline  \n\nlast\n";
    let expected = whole(lf);
    assert_eq!(expected.subject.as_deref(), Some("x y"));
    assert_eq!(expected.body.as_ref().unwrap().sha256, sha256_hex(b"line\n\nlast"));
    assert_eq!(whole(&lf.replace('\n', "\r\n")), expected, "CRLF");
    assert_eq!(whole(&lf.replace('\n', "\r")), expected, "lone CR");
    assert_eq!(whole(&format!("\u{feff}{lf}")), expected, "a byte order mark before it");
}

#[test]
fn a_header_alone_has_no_body() {
    let facts = read(b"From: a@b\r\nSubject: x\r\n\r\n", Completeness::Header);
    assert_eq!(facts.body, None);
    assert_eq!(facts.subject.as_deref(), Some("x"));
    assert!(!facts.is_headerless());
}

#[test]
fn single_values_give_the_facts_of_a_header() {
    let raw = from_values(
        Some("<a@B>"),
        Some("=?UTF-8?Q?J=C3=BCrgen?= <J@X>"),
        Some("=?UTF-8?Q?H=C3=A9?=\r\n llo"),
        Some("Tue, 1 Dec 2026 10:00:00 +0300"),
    );
    let decoded = from_values(Some("a@b"), Some("Jürgen <j@x>"), Some("Hé llo"), Some("2026-12-01T07:00:00Z"));
    assert_eq!(raw, decoded);
    assert_eq!(raw.message_id.as_deref(), Some("a@b"));
    assert_eq!(raw.body, None);
    assert!(from_values(Some("a@b"), None, None, None).is_headerless());
    assert_eq!(from_values(Some(""), Some(" "), Some(""), Some("")), MailFacts::default(), "empty values are none");
}

#[test]
fn what_is_shown_is_the_part_a_reader_would_see() {
    let shown = |mail: &str| whole(mail).body.unwrap().preview;
    let alternative = "Content-Type: multipart/alternative; boundary=b\n\n--b\n\n \n--b\nContent-Type: text/html\n\n";
    assert_eq!(shown(&format!("{alternative}<p>Hello</p>\n--b--\n")), "Hello", "a blank text is passed over");
    assert_eq!(shown("Content-Type: text/html\n\n<style>x</style><p>a</p>"), "a");
    assert_eq!(shown("\n\n"), "");
    assert_eq!(shown("Content-Type: application/pdf\n\n%PDF"), "");
}

#[test]
fn the_cut_falls_anywhere() {
    let head = "From: a@b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: a/b\r\n\r\n";
    let part = |transfer: &str| {
        format!("\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: {transfer}\r\n\r\n")
    };
    let check = |transfer: &str, text: &str, kept: usize, expected: &str| {
        let part = part(transfer);
        let filler = "x".repeat(IDENTITY_PREFIX_BYTES - head.len() - part.len() - kept);
        let mail = format!("{head}{filler}{part}{text}");
        let facts = survive(mail.as_bytes(), transfer);
        assert_eq!(facts.body.unwrap().sha256, sha256_hex(expected.as_bytes()), "{transfer} {text:?} cut after {kept}");
    };
    check("8bit", "Hellö and more", 5, "Hell");
    check("8bit", "Hellö and more", 6, "Hellö");
    check("8bit", "Hello\r\nmore", 6, "Hello");
    check("quoted-printable", "a=C3=B6b and more", 5, "a");
    check("quoted-printable", "a=C3=B6b and more", 7, "aö");
    check("quoted-printable", "ab=3D and more", 4, "ab");
    check("quoted-printable", "ab=3D and more", 3, "ab");
    check("base64", "SGVsbG8gd29ybGQ= and more", 6, "Hell");
    check("base64", "SGVsbG8gd29ybGQ= and more", 5, "Hel");

    let long = format!("Subject: whole\r\nX: {}", "x".repeat(2 * IDENTITY_PREFIX_BYTES));
    let facts = survive(format!("{long}\r\nFrom: a@b\r\n\r\nbody").as_bytes(), "a header without end");
    assert_eq!((facts.subject.as_deref(), facts.from_address), (Some("whole"), None));
}

#[test]
fn hostile_mails_are_read_in_time() {
    let nested = |depth: usize, kind: &str| {
        (0..depth).map(|i| format!("Content-Type: {kind}; boundary=b{i}\n\n--b{i}\n")).collect::<String>()
    };
    let many = |piece: &str| piece.repeat(IDENTITY_PREFIX_BYTES / piece.len() + 1);
    let recipients: String = (0..10_000).map(|i| format!(" p{i}@x.example,\n")).collect();
    let table: Vec<(&str, String)> = vec![
        ("nothing", String::new()),
        ("only CR", many("\r")),
        ("only LF", many("\n")),
        ("only NUL", many("\0")),
        ("one header of megabytes", format!("Subject: {}", "y".repeat(5_000_000))),
        ("a header that folds for ever", format!("Subject: x\n{}", many(" y\n"))),
        ("100,000 headers", "X-A: b\n".repeat(100_000)),
        ("100,000 lines that are no headers", "no header\n".repeat(100_000)),
        ("10,000 recipients", format!("From: a@b\nTo:{recipients} z@y\n\nHello")),
        ("parts 1,500 deep", nested(1_500, "multipart/mixed")),
        ("boundaries that never come", nested(5_000, "multipart/mixed").replace("\n--b", "\n--c")),
        ("5,000 parts with a boundary each", {
            let part = "--b\nContent-Type: multipart/mixed; boundary=zz\n\nx\n";
            format!("Content-Type: multipart/mixed; boundary=b\n\n{}", part.repeat(5_000))
        }),
        ("enclosed messages 5,000 deep", many("Content-Type: message/rfc822\n\n")),
        ("almost boundaries", format!("{}{}", nested(64, "multipart/mixed"), many("--b\n"))),
        ("parameters without end", format!("Content-Type: multipart/mixed{}\n\nx", many("; a*0=b"))),
        (
            "comments without end",
            format!("Content-Type: text/plain {}\nDate: {}\n\nx", "(".repeat(90_000), "(".repeat(90_000)),
        ),
        (
            "words without end",
            format!("Subject: {}\nFrom: {}\n\nx", "=?u?q?x".repeat(15_000), "=?u?q?x".repeat(15_000)),
        ),
        ("words within words", format!("Subject: {}\n\nx", many("=?=?"))),
        ("tags without end", format!("Content-Type: text/html\n\n{}", many("<div"))),
        ("entities without end", format!("Content-Type: text/html\n\n{}", many("&&#x;"))),
        ("a comment without end", format!("Content-Type: text/html\n\n<!--{}", many("- "))),
        ("marks without a letter", format!("Subject: {0}\n\n{0}", "\u{301}\u{323}".repeat(30_000))),
        ("base64 of nothing", format!("Content-Transfer-Encoding: base64\n\n{}", many("="))),
        ("escapes of nothing", format!("Content-Transfer-Encoding: quoted-printable\n\n{}", many("="))),
    ];
    for (what, mail) in &table {
        survive(mail.as_bytes(), what);
    }
    let facts = whole(&table.iter().find(|(what, _)| *what == "10,000 recipients").unwrap().1);
    assert_eq!(
        (facts.to.len(), facts.body.unwrap().preview.as_str()),
        (RECIPIENTS_MAX, "Hello"),
        "the body is reached"
    );
}

#[test]
fn a_mail_that_makes_a_parser_panic_is_a_mail_all_the_same() {
    let of = |raw: &'static [u8]| {
        let header = Header::read(raw, false, |_| false);
        body_of(raw, &header, |_, _| panic!("as a library might"))
    };
    let one = of(b"Subject: a\r\n\r\nHello  \r\n");
    assert_eq!(one.sha256, sha256_hex(b"Hello"), "what follows the header stands for the text");
    assert_eq!(one, of(b"Subject: b\r\n\r\nHello\r\n"), "the same for the same text");
    assert_ne!(one, of(b"Subject: a\r\n\r\nOther\r\n"), "two such mails are two");
}

#[test]
fn random_octets_and_mutations_are_survived() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/identity"));
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "eml"));
    names.sort();
    let mut mails: Vec<_> = names.iter().map(|name| std::fs::read(name).unwrap()).collect();
    mails.retain(|mail| mail.len() < 4096);
    assert!(mails.len() >= 40, "the fixtures are there");

    let mut random = fastrand::Rng::with_seed(41);
    let pieces: [&[u8]; 14] = [
        b"\r\n",
        b"\r",
        b"\n\n",
        b"\0",
        b"--b1",
        b"--b1--\r\n",
        b"=?UTF-8?B?",
        b"?=",
        b"=\r\n",
        b"\xff\xfe",
        b"<",
        b"(",
        b"\"",
        b"Content-Type: multipart/mixed; boundary=b1\r\n",
    ];
    let until = Instant::now() + Duration::from_millis(1200);
    for round in 0..4_000 {
        let mut mail = mails[random.usize(..mails.len())].clone();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(..=mail.len());
            match random.u8(..4) {
                0 if at < mail.len() => mail[at] = random.u8(..),
                1 => mail.truncate(at),
                2 => drop(mail.splice(at..at, pieces[random.usize(..pieces.len())].iter().copied())),
                _ => {
                    let other = &mails[random.usize(..mails.len())];
                    mail.extend_from_slice(&other[random.usize(..=other.len())..]);
                }
            }
        }
        survive(&mail, &format!("round {round}: {}", mail.escape_ascii()));
        let noise: Vec<u8> = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
        survive(&noise, &format!("round {round}: {}", noise.escape_ascii()));
        if Instant::now() > until {
            assert!(round > 50, "enough rounds were made");
            break;
        }
    }
}

#[test]
fn a_header_longer_than_what_is_looked_at_leaves_the_body_unknown() {
    let long = |fill: &str| {
        format!("From: a@b.example\r\nX-Fill: {}\r\nSubject: {fill}\r\n\r\nText\r\n", fill.repeat(300_000))
    };
    let facts = read(long("x").as_bytes(), Completeness::Mail);
    assert_eq!((facts.from_address.as_deref(), facts.body), (Some("a@b.example"), None));
    assert!(read(b"From: a@b.example\r\n", Completeness::Mail).body.is_some(), "a short one is whole");
}
