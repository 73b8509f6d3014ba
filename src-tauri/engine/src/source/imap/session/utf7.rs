//! Folder names as IMAP writes them: modified UTF-7 (RFC 3501 section 5.1.3). The wire name is the folder's identity;
//! the decoded one is for people.

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD};

const BASE64: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);
/// Reads sloppy encoders too: left-over bits need not be zero.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &IMAP_MUTF7,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_encode_padding(false)
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// The wire name of a name for people.
#[must_use]
pub fn encode(name: &str) -> String {
    let mut wire = String::with_capacity(name.len());
    let mut shifted: Vec<u8> = Vec::new();
    let flush = |shifted: &mut Vec<u8>, wire: &mut String| {
        if !shifted.is_empty() {
            wire.push('&');
            wire.push_str(&BASE64.encode(&shifted));
            wire.push('-');
            shifted.clear();
        }
    };
    for c in name.chars() {
        if matches!(c, ' '..='~') {
            flush(&mut shifted, &mut wire);
            wire.push(c);
            if c == '&' {
                wire.push('-');
            }
        } else {
            let mut units = [0_u16; 2];
            shifted.extend(c.encode_utf16(&mut units).iter().flat_map(|unit| unit.to_be_bytes()));
        }
    }
    flush(&mut shifted, &mut wire);
    wire
}

/// The name for people; what is not modified UTF-7 stays as it is.
#[must_use]
pub fn decode(wire: &str) -> String {
    decoded(wire).unwrap_or_else(|| wire.to_owned())
}

fn decoded(wire: &str) -> Option<String> {
    let mut name = String::with_capacity(wire.len());
    let mut rest = wire;
    while let Some((plain, shifted)) = rest.split_once('&') {
        name.push_str(plain);
        let (shifted, after) = shifted.split_once('-')?;
        rest = after;
        if shifted.is_empty() {
            name.push('&');
            continue;
        }
        let octets = LENIENT.decode(shifted).ok().filter(|octets| octets.len() % 2 == 0)?;
        let units: Vec<u16> = octets
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |unit, octet| (unit << 8) | u16::from(*octet)))
            .collect();
        name.push_str(&String::from_utf16(&units).ok()?);
    }
    name.push_str(rest);
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        let case = |name: &str, wire: &str| {
            assert_eq!(encode(name), wire, "{name}");
            assert_eq!(decode(wire), name, "{wire}");
        };
        case("INBOX", "INBOX");
        case("Entwürfe", "Entw&APw-rfe");
        case("Tom & Jerry", "Tom &- Jerry");
        case("台北", "&U,BTFw-");
        case("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-");
        case("😀", "&2D3eAA-");
        case("", "");
    }

    #[test]
    fn what_is_not_utf7_stays() {
        for wire in ["A&B", "A&AB-", "&2D0-", "Entwürfe", "&!!!-"] {
            assert_eq!(decode(wire), wire, "{wire}");
        }
    }
}
