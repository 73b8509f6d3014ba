//! HTTP/1.1 as far as a scripted peer needs it, on a blocking socket, so that each byte and each end of the line is
//! in the test's hands.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustls::{ServerConnection, StreamOwned};
use serde_json::Value;

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST`, `GET` …
    pub method: String,
    /// Path with query.
    pub target: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
    /// When its last byte was read.
    pub at: Instant,
    /// The same, ms UTC.
    pub received_at: i64,
    /// Number of the connection it came on, from 1.
    pub connection: usize,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Headers besides the length of the body.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// A header by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    #[track_caller]
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("Not JSON ({error}): {}", String::from_utf8_lossy(&self.body)))
    }

    /// The path without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A parameter of the query; values of these tests need no decoding.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Reads the next one; `None` where the client is done.
    ///
    /// # Errors
    /// The line breaks, or what comes is no HTTP.
    pub fn read<R: Read>(stream: &mut BufReader<R>, connection: usize) -> io::Result<Option<Self>> {
        let Some(first) = line(stream)? else {
            return Ok(None);
        };
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1")) = (words.next(), words.next(), words.next()) else {
            return Err(bad(format!("Not a request: {first}")));
        };
        let mut headers = Vec::new();
        loop {
            let text = line(stream)?.ok_or_else(|| bad("The header has no end"))?;
            if text.is_empty() {
                break;
            }
            let (name, value) = text.split_once(':').ok_or_else(|| bad(format!("Not a header: {text}")))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers,
            body: Vec::new(),
            at: Instant::now(),
            received_at: 0,
            connection,
        };
        request.body = request.read_body(stream)?;
        request.at = Instant::now();
        request.received_at = jiff::Timestamp::now().as_millisecond();
        Ok(Some(request))
    }

    fn read_body<R: Read>(&self, stream: &mut BufReader<R>) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            loop {
                let size = line(stream)?.ok_or_else(|| bad("A chunk is missing"))?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(|_| bad(format!("Not a size: {size}")))?;
                let start = body.len();
                body.resize(start + size, 0);
                stream.read_exact(&mut body[start..])?;
                line(stream)?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        if let Some(length) = self.header("content-length") {
            let length = length.parse().map_err(|_| bad(format!("Not a length: {length}")))?;
            body.resize(length, 0);
            stream.read_exact(&mut body)?;
        }
        Ok(body)
    }
}

impl Answer {
    /// One without a body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    /// One with JSON.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status).header("Content-Type", "application/json").body(body.to_string())
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// With this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// As it goes over the line.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {} Scripted\r\n", self.status);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        [text.as_bytes(), &self.body].concat()
    }
}

/// The server's side of a connection.
pub(crate) enum Line {
    /// Without TLS.
    Plain(TcpStream),
    /// Inside TLS.
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Line {
    /// The socket itself.
    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &stream.sock,
        }
    }
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(bytes),
            Self::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

fn line<R: Read>(stream: &mut BufReader<R>) -> io::Result<Option<String>> {
    let mut text = String::new();
    if stream.read_line(&mut text)? == 0 {
        return Ok(None);
    }
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn bad(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}
