//! The parts of a mail, in order, found in one pass.
//!
//! The walk over boundaries is own code: identity needs delimiters only where RFC 2046 §5.1.1 has them (a whole line),
//! the end of a part where the mail was cut, and linear time for a mail that nests a thousand parts. The fields
//! of a part are read by mail-parser.

use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderValue};

use super::decoding::{self, Transfer};
use super::header::{self, Header, without_line_end};
use crate::limits::MIME_DEPTH_MAX;

/// A longer Content-Type or Content-Disposition is cut: the library's time grows with the square of their parameters.
const FIELD_BYTES_MAX: usize = 4096;
/// RFC 2046 allows 70 characters; some senders write more.
const BOUNDARY_BYTES_MAX: usize = 512;

/// What a part is, as far as the text of a mail goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// text/plain, not an attachment.
    Plain,
    /// text/html, not an attachment.
    Html,
    /// Everything else: attachments, enclosed messages, multiparts without parts.
    Other,
}

/// A part that holds no other parts.
pub(super) struct Part<'a> {
    pub(super) kind: Kind,
    charset: String,
    transfer: Transfer,
    content: &'a [u8],
    /// The mail was cut inside it.
    cut: bool,
}

impl<'a> Part<'a> {
    /// Its text, decoded.
    pub(super) fn text(&self) -> String {
        let octets = self.transfer.decode(self.content, self.cut);
        decoding::to_text(decoding::charset(&self.charset), &octets, self.cut).into_owned()
    }
}

/// Walks the parts, those inside others too, but not into enclosed messages.
pub(super) struct Parts<'a> {
    data: &'a [u8],
    cut: bool,
    at: usize,
    /// Multiparts that are open, outermost first.
    open: Vec<Multipart>,
    /// The part whose header was read last and whose content comes next.
    next: Option<Fields>,
    /// The delimiter that ended the last part.
    delimiter: Option<Delimiter>,
}

struct Multipart {
    /// `--` and the boundary.
    dashed: Vec<u8>,
    is_digest: bool,
}

struct Delimiter {
    level: usize,
    closes: bool,
}

impl<'a> Parts<'a> {
    /// Of a whole mail whose header was read.
    pub(super) fn of(data: &'a [u8], root: &Header<'_>, cut: bool) -> Self {
        let next = Some(Fields::read(root, false));
        Self { data, cut, at: root.end, open: Vec::new(), next, delimiter: None }
    }

    /// Goes to the beginning of the next part and reads its header. `None` at the end of the mail.
    fn enter(&mut self) -> Option<Fields> {
        loop {
            let delimiter = match self.delimiter.take() {
                Some(delimiter) => delimiter,
                None => self.find_delimiter().1?,
            };
            self.open.truncate(delimiter.level + 1);
            if !delimiter.closes {
                break;
            }
            self.open.pop();
        }
        let is_digest = self.open.last().is_some_and(|multipart| multipart.is_digest);
        let data = self.data.get(self.at..).unwrap_or_default();
        let header = Header::read(data, self.cut, |line| delimiter_of(&self.open, line).is_some());
        self.at += header.end;
        Some(Fields::read(&header, is_digest))
    }

    /// Reads up to the next delimiter of any open multipart: what stands before it, and it, if there is one.
    fn find_delimiter(&mut self) -> (&'a [u8], Option<Delimiter>) {
        let content = self.data.get(self.at..).unwrap_or_default();
        if self.open.is_empty() {
            self.at = self.data.len();
            return (content, None);
        }
        let mut len = 0;
        for line in content.split_inclusive(|&octet| octet == b'\n') {
            if let Some(delimiter) = delimiter_of(&self.open, without_line_end(line)) {
                self.at += len + line.len();
                return (without_line_end(content.get(..len).unwrap_or_default()), Some(delimiter));
            }
            len += line.len();
        }
        self.at = self.data.len();
        (content, None)
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        loop {
            let fields = match self.next.take() {
                Some(fields) => fields,
                None => self.enter()?,
            };
            match fields.boundary {
                Some(boundary) if self.open.len() < MIME_DEPTH_MAX => {
                    let dashed = [b"--", boundary.as_bytes()].concat();
                    self.open.push(Multipart { dashed, is_digest: fields.is_digest });
                }
                _ => {
                    let (content, delimiter) = self.find_delimiter();
                    let cut = self.cut && delimiter.is_none();
                    self.delimiter = delimiter;
                    return Some(Part {
                        kind: fields.kind,
                        charset: fields.charset,
                        transfer: fields.transfer,
                        content,
                        cut,
                    });
                }
            }
        }
    }
}

/// Which open multipart a line delimits, the innermost first.
fn delimiter_of(open: &[Multipart], line: &[u8]) -> Option<Delimiter> {
    if !line.starts_with(b"--") {
        return None;
    }
    open.iter().enumerate().rev().find_map(|(level, multipart)| {
        let rest = line.strip_prefix(multipart.dashed.as_slice())?;
        let (rest, closes) = rest.strip_prefix(b"--").map_or((rest, false), |rest| (rest, true));
        rest.iter().all(|octet| matches!(octet, b' ' | b'\t')).then_some(Delimiter { level, closes })
    })
}

/// What the header of a part says.
struct Fields {
    kind: Kind,
    boundary: Option<String>,
    is_digest: bool,
    charset: String,
    transfer: Transfer,
}

impl Fields {
    fn read(header: &Header<'_>, in_digest: bool) -> Self {
        let content_type = header.content_type.and_then(parameters);
        let content_type = content_type.as_ref();
        let (main, sub) = media_type(content_type, in_digest);
        let is_attachment = header
            .content_disposition
            .and_then(parameters)
            .is_some_and(|disposition| disposition.c_type.eq_ignore_ascii_case("attachment"));
        let kind = match (main, sub) {
            _ if is_attachment => Kind::Other,
            ("text", "plain") => Kind::Plain,
            ("text", "html") => Kind::Html,
            _ => Kind::Other,
        };
        let attribute = |name: &str| content_type.and_then(|found| found.attribute(name)).map(str::trim_end);
        let boundary = attribute("boundary").filter(|boundary| !boundary.is_empty() && main == "multipart");
        Self {
            kind,
            boundary: boundary.filter(|boundary| boundary.len() <= BOUNDARY_BYTES_MAX).map(str::to_owned),
            is_digest: sub == "digest",
            charset: attribute("charset").unwrap_or_default().to_owned(),
            transfer: header
                .content_transfer_encoding
                .map_or(Transfer::Identity, |value| Transfer::parse(&header::text(value))),
        }
    }
}

/// RFC 2045 §5.2: text/plain where there is no type, or none that can be read; in a digest an enclosed message.
fn media_type<'a>(content_type: Option<&'a ContentType<'_>>, in_digest: bool) -> (&'a str, &'a str) {
    match content_type {
        None if in_digest => ("message", "rfc822"),
        Some(found) => match found.c_subtype.as_deref() {
            Some(sub) if !found.c_type.is_empty() && !sub.is_empty() && !sub.contains('/') => (&found.c_type, sub),
            _ => ("text", "plain"),
        },
        None => ("text", "plain"),
    }
}

/// A value with parameters (RFC 2045 §5.1, RFC 2231), type in lower case.
fn parameters(value: &[u8]) -> Option<ContentType<'static>> {
    let text = header::text(value);
    let text = text.get(..text.floor_char_boundary(FIELD_BYTES_MAX.min(text.len())))?;
    // The library reads up to the line end.
    let line = format!("{text}\n");
    match MessageStream::new(line.as_bytes()).parse_content_type().into_owned() {
        HeaderValue::ContentType(found) => Some(found),
        _ => None,
    }
}
