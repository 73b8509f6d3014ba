//! Certificates of the tests: one authority of its own and what it issues.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest as _, Sha256};

/// An authority that only a test trusts.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key.
pub struct Issued {
    /// The certificate, then the authority's.
    pub chain_pem: String,
    /// The private key.
    pub key_pem: String,
    /// SHA-256 of the certificate's DER, 64 lower hex digits, as `--pin` takes it.
    pub sha256: String,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// A new one.
    #[must_use]
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names, so none is bad");
        params.distinguished_name.push(DnType::CommonName, "Authority of a test");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("a key");
        Self { issuer: CertifiedIssuer::self_signed(params, key).expect("a certificate of the authority") }
    }

    /// Its own certificate, as `--ca-file` takes it.
    #[must_use]
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Writes its own certificate.
    pub fn write_pem(&self, path: &Path) {
        fs::write(path, self.pem()).expect("the authority's file is written");
    }

    /// A certificate for these host names and addresses, valid now.
    #[must_use]
    pub fn issue(&self, names: &[&str]) -> Issued {
        self.issue_until(names, 4096)
    }

    /// One that ran out years ago.
    #[must_use]
    pub fn issue_expired(&self, names: &[&str]) -> Issued {
        self.issue_until(names, 2001)
    }

    fn issue_until(&self, names: &[&str], year: i32) -> Issued {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).expect("names of a test are good names");
        params.distinguished_name.push(DnType::CommonName, "Server of a test");
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Issued {
            chain_pem: format!("{}{}", certificate.pem(), self.issuer.pem()),
            key_pem: key.serialize_pem(),
            sha256: hex(&Sha256::digest(certificate.der())),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }
}

impl Issued {
    /// For a server in this process.
    #[must_use]
    pub fn server_config(&self) -> Arc<rustls::ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], key)
            .expect("the key belongs to the certificate");
        Arc::new(config)
    }
}

/// Lower hex digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
