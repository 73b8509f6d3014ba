//! The octets identity is computed from: the beginning of a mail, with CRLF line ends.

use std::borrow::Cow;

use crate::limits::IDENTITY_PREFIX_BYTES;

/// The beginning of a mail, whatever path brought how much of it.
pub(super) struct Prefix<'a> {
    /// At most `limits::IDENTITY_PREFIX_BYTES` octets; every line end but one broken at the cut is CRLF.
    pub(super) bytes: Cow<'a, [u8]>,
    /// The limit is reached, so the end may be broken. A path that fetched just the limit cannot tell whether
    /// there was more, so a mail of exactly that length counts as cut on every path.
    pub(super) cut: bool,
}

/// Makes line ends CRLF (a lone CR is one too) and cuts.
///
/// Conversion only ever makes text longer, so no octet past the limit of the input is ever needed.
pub(super) fn of(raw: &[u8]) -> Prefix<'_> {
    let raw = raw.get(..IDENTITY_PREFIX_BYTES).unwrap_or(raw);
    let bytes = if is_crlf(raw) { Cow::Borrowed(raw) } else { Cow::Owned(to_crlf(raw)) };
    Prefix { cut: bytes.len() >= IDENTITY_PREFIX_BYTES, bytes }
}

fn is_crlf(raw: &[u8]) -> bool {
    let mut after_cr = false;
    for &octet in raw {
        if after_cr != (octet == b'\n') {
            return false;
        }
        after_cr = octet == b'\r';
    }
    // A CR at the limit may be half of a CRLF; at the end of a shorter mail it is a line end of its own.
    !after_cr || raw.len() == IDENTITY_PREFIX_BYTES
}

fn to_crlf(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity((raw.len() + raw.len() / 16 + 2).min(IDENTITY_PREFIX_BYTES + 1));
    let mut after_cr = false;
    for &octet in raw {
        match octet {
            b'\n' if after_cr => {}
            b'\r' | b'\n' => out.extend_from_slice(b"\r\n"),
            _ => out.push(octet),
        }
        after_cr = octet == b'\r';
        if out.len() >= IDENTITY_PREFIX_BYTES {
            break;
        }
    }
    out.truncate(IDENTITY_PREFIX_BYTES);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_become_crlf() {
        let table: &[(&[u8], &[u8])] = &[
            (b"", b""),
            (b"a\r\nb\r\n", b"a\r\nb\r\n"),
            (b"a\nb\n", b"a\r\nb\r\n"),
            (b"a\rb\r", b"a\r\nb\r\n"),
            (b"a\r\n\nb\r\r\nc", b"a\r\n\r\nb\r\n\r\nc"),
            (b"\r\r\r", b"\r\n\r\n\r\n"),
            (b"a\r", b"a\r\n"),
            (b"a\0b", b"a\0b"),
        ];
        for (raw, expected) in table {
            assert_eq!(of(raw).bytes.as_ref(), *expected, "{}", raw.escape_ascii());
        }
    }

    #[test]
    fn every_path_is_cut_at_the_same_octet() {
        let lf = "abcdefg\n".repeat(IDENTITY_PREFIX_BYTES / 8 + 100).into_bytes();
        let crlf = "abcdefg\r\n".repeat(IDENTITY_PREFIX_BYTES / 8 + 100).into_bytes();
        let from_lf = of(&lf);
        let from_crlf = of(&crlf);
        let fetched = of(crlf.get(..IDENTITY_PREFIX_BYTES).unwrap());
        assert!(from_lf.cut && from_crlf.cut && fetched.cut, "all reach the limit");
        assert_eq!(from_lf.bytes.len(), IDENTITY_PREFIX_BYTES);
        assert_eq!(from_lf.bytes, from_crlf.bytes, "LF and CRLF copies of one mail have one prefix");
        assert_eq!(from_crlf.bytes, fetched.bytes, "a partial FETCH has the prefix of the whole mail");

        // The cut falls between CR and LF.
        let mut split = vec![b'x'; IDENTITY_PREFIX_BYTES - 1];
        split.extend_from_slice(b"\r\nrest");
        assert_eq!(
            of(&split).bytes,
            of(split.get(..IDENTITY_PREFIX_BYTES).unwrap()).bytes,
            "half a line end is cut alike"
        );
    }
}
