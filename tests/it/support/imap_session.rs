//! A bare IMAP client on a plain socket: what a test sees of the server without the program, and the bench's
//! yardstick.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::dovecot::User;

/// Longest silence a test may mean by waiting.
const SILENCE: Duration = Duration::from_secs(30);

/// One session. Every step that fails ends the test.
pub struct ImapSession {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
    tag: u32,
}

impl ImapSession {
    /// Connects and reads the greeting.
    #[must_use]
    pub fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server takes the connection");
        stream.set_nodelay(true).expect("a socket option");
        stream.set_read_timeout(Some(SILENCE)).expect("a socket option");
        let lines = BufReader::new(stream.try_clone().expect("a second handle"));
        let mut session = Self { stream, lines, tag: 0 };
        let greeting = session.line().expect("the greeting");
        assert!(greeting.starts_with("* OK"), "Greeting: {greeting}");
        session
    }

    /// Logs in.
    ///
    /// # Panics
    /// The server refuses.
    pub fn login(&mut self, user: &User) {
        self.try_login(user).unwrap_or_else(|said| panic!("LOGIN {}: {said}", user.name));
    }

    /// Logs in; the password goes as a literal, so it may hold anything.
    ///
    /// # Errors
    /// The tagged NO.
    pub fn try_login(&mut self, user: &User) -> Result<(), String> {
        self.tag += 1;
        let password = user.password.as_bytes();
        self.send(format!("a{} LOGIN {} {{{}}}\r\n", self.tag, user.name, password.len()).as_bytes());
        let go_on = self.line().map_err(|error| error.to_string())?;
        if !go_on.starts_with('+') {
            return Err(go_on);
        }
        self.send(&[password, b"\r\n"].concat());
        self.answer().map(|_| ())
    }

    /// Puts a mail into a folder.
    ///
    /// # Panics
    /// The server does not take it.
    #[track_caller]
    pub fn append(&mut self, folder: &str, mail: &[u8]) {
        self.tag += 1;
        self.send(format!("a{} APPEND {folder} {{{}}}\r\n", self.tag, mail.len()).as_bytes());
        let go_on = self.line().expect("the server goes on");
        assert!(go_on.starts_with('+'), "Expected a continuation: {go_on}");
        self.send(&[mail, b"\r\n"].concat());
        self.answer().unwrap_or_else(|said| panic!("APPEND {folder}: {said}"));
    }

    /// One command; untagged lines of the answer, literals included.
    ///
    /// # Panics
    /// The server says NO or BAD.
    #[track_caller]
    pub fn command(&mut self, command: &str) -> Vec<String> {
        self.try_command(command).unwrap_or_else(|said| panic!("{command}: {said}"))
    }

    /// One command.
    ///
    /// # Errors
    /// The tagged NO or BAD.
    pub fn try_command(&mut self, command: &str) -> Result<Vec<String>, String> {
        self.tag += 1;
        self.send(format!("a{} {command}\r\n", self.tag).as_bytes());
        self.answer()
    }

    /// Starts IDLE; returns once the server said `+`, with what it said before.
    pub fn idle(&mut self) -> Vec<String> {
        self.tag += 1;
        self.send(format!("a{} IDLE\r\n", self.tag).as_bytes());
        let mut before = Vec::new();
        loop {
            let line = self.line().expect("a line");
            if line.starts_with('+') {
                return before;
            }
            before.push(line);
        }
    }

    /// Waits for an untagged line that holds `word`, and says when it came.
    #[track_caller]
    pub fn wait_line(&mut self, word: &str) -> Instant {
        loop {
            let line = self.line().unwrap_or_else(|error| panic!("Waited for {word}: {error}"));
            if line.contains(word) {
                return Instant::now();
            }
        }
    }

    /// Ends IDLE.
    pub fn done(&mut self) -> Vec<String> {
        self.send(b"DONE\r\n");
        self.answer().expect("IDLE ends with OK")
    }

    /// One line with the literals it announces, without its line end.
    ///
    /// # Errors
    /// End of line, or silence for 30 s.
    pub fn line(&mut self) -> io::Result<String> {
        let mut text = Vec::new();
        loop {
            if self.lines.read_until(b'\n', &mut text)? == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "The server closed the line"));
            }
            let end = text.trim_ascii_end().len();
            text.truncate(end);
            let Some(length) = literal(&text) else {
                return Ok(String::from_utf8_lossy(&text).into_owned());
            };
            text.extend_from_slice(b"\r\n");
            let start = text.len();
            text.resize(start + length, 0);
            self.lines.read_exact(&mut text[start..])?;
        }
    }

    fn answer(&mut self) -> Result<Vec<String>, String> {
        let tag = format!("a{} ", self.tag);
        let mut lines = Vec::new();
        loop {
            let line = self.line().map_err(|error| error.to_string())?;
            match line.strip_prefix(&tag) {
                Some(said) if said.starts_with("OK") => return Ok(lines),
                Some(said) => return Err(said.to_owned()),
                None => lines.push(line),
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }
}

/// Length of the literal a line announces at its end (RFC 3501 section 4.3).
fn literal(line: &[u8]) -> Option<usize> {
    let inside = line.strip_suffix(b"}")?;
    let start = inside.iter().rposition(|byte| *byte == b'{')?;
    std::str::from_utf8(&inside[start + 1..]).ok()?.parse().ok()
}
