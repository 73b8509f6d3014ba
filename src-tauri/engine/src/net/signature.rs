//! Signatures of Standard Webhooks (standardwebhooks.com, symmetric `v1`): HMAC-SHA256 over `id.timestamp.body`.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sha2::Sha256;

/// How every secret begins.
const PREFIX: &str = "whsec_";
/// Random bytes of a new secret; the specification asks for 24 to 64.
const NEW_SECRET_BYTES: usize = 32;
const VERSION: &str = "v1";
/// Signatures looked at in one header: several keys may be in use while one is replaced.
const SIGNATURES_MAX: usize = 16;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A signing key.
#[derive(Debug, Clone)]
pub struct Key(SecretSlice<u8>);

impl Key {
    /// From a secret `whsec_…`; `None` where it is not one.
    #[must_use]
    pub fn parse(secret: &SecretString) -> Option<Self> {
        let bytes = LENIENT.decode(secret.expose_secret().trim().strip_prefix(PREFIX)?).ok()?;
        (!bytes.is_empty()).then(|| Self(bytes.into()))
    }

    /// The value of `webhook-signature`; `timestamp` in seconds since 1970.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut message = self.message(id, timestamp);
        message.update(body);
        format!("{VERSION},{}", BASE64_STANDARD.encode(message.0.finalize().into_bytes()))
    }

    /// Begins with a message whose body comes piece by piece.
    #[must_use]
    pub fn message(&self, id: &str, timestamp: i64) -> Message {
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(self.0.expose_secret());
        // HMAC takes a key of any length (RFC 2104 section 2), so the other arm is never taken.
        let mut mac = mac.unwrap_or_else(|_| <Hmac<Sha256> as KeyInit>::new(&Default::default()));
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        Message(mac)
    }
}

/// A message whose signature is to be checked.
#[derive(Clone)]
pub struct Message(Hmac<Sha256>);

impl Message {
    /// The next piece of its body.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Whether one of the signatures in a header fits. The comparison takes the same time wherever they differ.
    #[must_use]
    pub fn is_signed(&self, header: &str) -> bool {
        let candidates = header.split(' ').filter_map(|part| part.split_once(',')).take(SIGNATURES_MAX);
        candidates.filter(|(version, _)| *version == VERSION).any(|(_, signature)| {
            LENIENT.decode(signature).is_ok_and(|signature| self.0.clone().verify_slice(&signature).is_ok())
        })
    }
}

/// A new random secret `whsec_…`.
///
/// # Errors
/// Where the system has no random numbers.
pub fn new_secret() -> Result<SecretString, getrandom::Error> {
    let mut bytes = [0; NEW_SECRET_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(SecretString::from(format!("{PREFIX}{}", BASE64_STANDARD.encode(bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification and its libraries.
    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const ID: &str = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
    const AT: i64 = 1_649_367_553;
    const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;
    const SIGNATURE: &str = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";

    fn key(secret: &str) -> Option<Key> {
        Key::parse(&SecretString::from(secret.to_owned()))
    }

    #[test]
    fn the_official_vector_is_met() {
        assert_eq!(key(SECRET).unwrap().sign(ID, AT, BODY), SIGNATURE);
    }

    #[test]
    fn only_a_signature_of_this_very_message_fits() {
        let key = key(SECRET).unwrap();
        let check = |id: &str, at: i64, body: &[u8], header: &str, expected: bool, why: &str| {
            let mut message = key.message(id, at);
            for piece in body.chunks(7) {
                message.update(piece);
            }
            assert_eq!(message.is_signed(header), expected, "{why}");
        };
        check(ID, AT, BODY, SIGNATURE, true, "the right one");
        check(ID, AT, BODY, &format!("v1,AAAA v1a,xyz {SIGNATURE} v1,BBBB"), true, "one of several");
        check(ID, AT, BODY, SIGNATURE.trim_end_matches('='), true, "without padding");
        check(ID, AT, BODY, "v1,R3PTzyfHASBKHH98a7yexTwaJ4yNIcGhFQc1yuN+BPU=", false, "of another");
        check(ID, AT, BODY, &SIGNATURE.replace("v1,", "v2,"), false, "of another version");
        check(ID, AT, BODY, SIGNATURE.trim_start_matches("v1,"), false, "without version");
        check(ID, AT, BODY, "v1,", false, "empty");
        check(ID, AT, BODY, &SIGNATURE[..11], false, "only its beginning");
        check(ID, AT, BODY, "", false, "none");
        check(ID, AT + 1, BODY, SIGNATURE, false, "another time");
        check("msg_2", AT, BODY, SIGNATURE, false, "another id");
        check(ID, AT, b"{}", SIGNATURE, false, "another body");
    }

    #[test]
    fn secrets_have_their_form() {
        assert!(key("C2FVsBQIhrscChlQIMV+b5sSYspob7oD").is_none(), "without prefix");
        assert!(key("whsec_").is_none(), "empty");
        assert!(key("whsec_!!!").is_none(), "not base64");
        assert!(key(&format!(" {SECRET}\n")).is_some(), "as pasted");
        let (one, two) = (new_secret().unwrap(), new_secret().unwrap());
        assert!(Key::parse(&one).is_some(), "a new one can be used");
        assert_ne!(one.expose_secret(), two.expose_secret(), "and is not always the same");
        assert!(!format!("{:?}", key(SECRET)).contains("11"), "the key is not printed");
    }
}
