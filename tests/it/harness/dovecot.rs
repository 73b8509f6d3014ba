//! A real Dovecot starts, takes mail by every way, and is gone afterwards.

use std::net::TcpStream;
use std::path::Path;

use crate::support::dovecot::{Dovecot, Options};
use crate::support::imap_session::ImapSession;
use crate::support::mail::{self, Mail};
use crate::support::wait::{self, secs};

#[test]
fn a_mail_comes_by_each_way() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let sent = Mail::new("By LMTP").body("A line\r\n.\r\n..dots\r\n").bytes();
    dovecot.deliver(&user, &sent);
    dovecot.put(&user, "INBOX", &Mail::new("By rename").bytes());
    dovecot.save(&user, "Sent", &Mail::new("By doveadm").bytes());

    let mut session = dovecot.session(&user);
    assert!(session.command("EXAMINE INBOX").contains(&"* 2 EXISTS".to_owned()), "LMTP and the rename fill INBOX");
    let found = session.command("FETCH 1:2 BODY.PEEK[]").join("\n");
    assert!(found.contains("Subject: By LMTP") && found.contains("Subject: By rename"), "{found}");
    assert!(found.contains("A line\r\n.\r\n..dots\r\n"), "dots on a line of their own survive LMTP: {found}");
    assert!(session.command("EXAMINE Sent").contains(&"* 1 EXISTS".to_owned()), "doveadm save fills Sent");
}

#[test]
fn idle_hears_of_a_delivery_and_of_a_kick() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let mut session = dovecot.session(&user);
    session.command("EXAMINE INBOX");
    session.idle();
    dovecot.deliver(&user, &Mail::new("Ding").bytes());
    session.wait_line("1 EXISTS");
    assert_eq!(dovecot.sessions(&user), 1, "the session is listed");
    dovecot.kick(&user);
    session.wait_line("BYE");
    assert!(session.line().is_err(), "a kick ends the line");
    wait::until("the session is gone", secs(10), || dovecot.sessions(&user) == 0);
}

#[test]
fn uid_validity_can_be_set() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    dovecot.deliver(&user, &Mail::new("Before").bytes());
    dovecot.set_uid_validity(&user, "INBOX", 4711);
    let lines = dovecot.session(&user).command("EXAMINE INBOX");
    assert!(lines.iter().any(|line| line.contains("[UIDVALIDITY 4711]")), "{lines:?}");
}

#[test]
fn a_wrong_password_is_refused_at_once_and_delays_nobody() {
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    let start = std::time::Instant::now();
    for _ in 0..4 {
        let refused = ImapSession::connect(dovecot.imap_port).try_command(&format!("LOGIN {} wrong", user.name));
        assert!(refused.is_err_and(|said| said.contains("AUTHENTICATIONFAILED")), "a wrong password is said so");
    }
    drop(dovecot.session(&user));
    let took = start.elapsed();
    assert!(took < secs(6), "the penalty of seconds would slow every other test: {took:?}");
}

#[test]
fn starttls_is_offered_although_loopback_is_trusted() {
    let mut session = ImapSession::connect(Dovecot::shared().imap_port);
    let capabilities = session.command("CAPABILITY").join(" ");
    assert!(capabilities.contains("STARTTLS"), "{capabilities}");
    session.command("STARTTLS");
}

#[test]
fn the_certificate_holds_the_names_and_ca_file_and_pin_belong_to_it() {
    let dovecot = Dovecot::start_with(&Options { certificate_names: vec!["elsewhere.example"], ..Options::default() });
    let connect = |verify: &str| {
        std::process::Command::new("openssl")
            .args(["s_client", "-verify_return_error", "-CAfile"])
            .arg(dovecot.ca_file())
            .args(["-verify_hostname", verify, "-connect", &format!("127.0.0.1:{}", dovecot.imaps_port)])
            .stdin(std::process::Stdio::null())
            .output()
            .expect("openssl runs")
    };
    let right = connect("elsewhere.example");
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stderr));
    assert!(!connect("localhost").status.success(), "a name that is not in the certificate is refused");
    let pem = right.stdout;
    let mut digest = std::process::Command::new("openssl")
        .args(["x509", "-noout", "-fingerprint", "-sha256"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("openssl runs");
    std::io::Write::write_all(&mut digest.stdin.take().expect("a pipe"), &pem).expect("openssl reads");
    let said = digest.wait_with_output().expect("openssl ends").stdout;
    let said = String::from_utf8_lossy(&said).replace(':', "").to_lowercase();
    assert!(said.contains(&dovecot.certificate_sha256), "{said} has not {}", dovecot.certificate_sha256);
}

#[test]
fn it_starts_at_once() {
    let start = std::time::Instant::now();
    let dovecot = Dovecot::start();
    let user = dovecot.fresh_user();
    drop(dovecot.session(&user));
    let took = start.elapsed();
    assert!(took < secs(4), "the first login must not wait 5 s for a socket that is not made: {took:?}");
}

#[test]
fn it_is_gone_when_dropped_with_its_folder() {
    let dovecot = Dovecot::start();
    let user = dovecot.fresh_user();
    let session = dovecot.session(&user);
    let (port, ca_file) = (dovecot.imap_port, dovecot.ca_file());
    let dir = ca_file.parent().expect("its folder").to_owned();
    dovecot.stop();
    drop(session);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "nobody listens any more");
    assert!(!Path::exists(&dir), "its folder is gone");
}

#[test]
fn a_large_mail_has_its_size() {
    let mut sent = Vec::new();
    mail::write_large(&Mail::new("Large"), 3_000_000, &mut sent).expect("a Vec takes it");
    assert!((2_900_000..3_100_000).contains(&sent.len()), "{} is not about 3 MB", sent.len());
    let dovecot = Dovecot::shared();
    let user = dovecot.fresh_user();
    dovecot.put(&user, "INBOX", &sent);
    let mut session = dovecot.session(&user);
    session.command("EXAMINE INBOX");
    let size = session.command("FETCH 1 RFC822.SIZE").join("");
    assert_eq!(size, format!("* 1 FETCH (RFC822.SIZE {})", sent.len()), "put changes nothing");
}
