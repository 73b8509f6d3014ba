//! What is told of a server's certificate.

use rustls_pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use x509_parser::parse_x509_certificate;

/// A certificate as its owner would recognise it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// When its time is over, ms UTC; `None` where it does not say so in a way that is understood.
    pub until_at: Option<i64>,
    /// SHA-256, 64 lower-case hex digits, as a pin takes it.
    pub sha256: String,
}

impl Certificate {
    pub(super) fn of(der: &CertificateDer<'_>) -> Self {
        let sha256 = Sha256::digest(der).iter().map(|byte| format!("{byte:02x}")).collect();
        let parsed = parse_x509_certificate(der).ok();
        let until_at = parsed.map(|(_, found)| found.validity().not_after.timestamp().saturating_mul(1000));
        Self { until_at, sha256 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_day_is_read_and_rubbish_has_none() {
        let mut params = rcgen::CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(2031, 5, 17);
        let key = rcgen::KeyPair::generate().unwrap();
        let made = params.self_signed(&key).unwrap();
        let found = Certificate::of(made.der());
        assert_eq!(found.until_at, Some(1_936_742_400_000), "2031-05-17 in ms");
        assert_eq!(found.sha256.len(), 64);
        let rubbish = Certificate::of(&CertificateDer::from(b"no certificate".to_vec()));
        assert_eq!(rubbish.until_at, None, "and no panic");
    }
}
