//! A small LMTP client (RFC 2033): gives one mail to the server of a test.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Delivers `mail` to `recipient` on loopback. Line ends are made CRLF, lines that begin with a dot are stuffed.
///
/// # Errors
/// The line breaks, or the server refuses; its words are in the error.
pub fn deliver(port: u16, recipient: &str, mail: &[u8]) -> io::Result<()> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    expect(&mut lines, "220")?;
    for (line, code) in [
        ("LHLO localhost\r\n".to_owned(), "250"),
        ("MAIL FROM:<sender@example.org>\r\n".to_owned(), "250"),
        (format!("RCPT TO:<{recipient}>\r\n"), "250"),
        ("DATA\r\n".to_owned(), "354"),
    ] {
        stream.write_all(line.as_bytes())?;
        expect(&mut lines, code)?;
    }
    stream.write_all(&stuffed(mail))?;
    expect(&mut lines, "250")?;
    stream.write_all(b"QUIT\r\n")?;
    expect(&mut lines, "221")
}

/// As it goes over the line, with the closing dot (RFC 5321 section 4.5.2).
fn stuffed(mail: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(mail.len() + mail.len() / 32 + 8);
    for line in mail.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.first() == Some(&b'.') {
            out.push(b'.');
        }
        out.extend_from_slice(line);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
    out
}

/// Reads one answer, however many lines it has.
fn expect(lines: &mut BufReader<TcpStream>, code: &str) -> io::Result<()> {
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "The LMTP server closed the line"));
        }
        if !line.starts_with(code) {
            return Err(io::Error::other(format!("The LMTP server answered: {}", line.trim_end())));
        }
        if line.as_bytes().get(3) != Some(&b'-') {
            return Ok(());
        }
    }
}
