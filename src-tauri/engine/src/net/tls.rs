//! TLS as a client: whom to trust, and what exactly is wrong where trust fails.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::model::error::{Fault, FaultCode};
use crate::net::error::{NetError, NetErrorKind};
use crate::net::named_certificate::FileVerifier;
use crate::net::tcp;

/// Whose word is taken for who the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The authorities this system trusts.
    System,
    /// Only the authorities in this PEM file, or the server's own certificate in it.
    CaFile(PathBuf),
    /// Only the certificate with this SHA-256 (hex; colons allowed), whatever its name, issuer and dates.
    Pin(String),
}

/// What is wrong with a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsProblem {
    /// Its issuer is not trusted.
    UntrustedIssuer,
    /// It is for other names.
    WrongName {
        /// The names it is for, as far as known.
        presented: Vec<String>,
    },
    /// Its time is over.
    Expired,
    /// Its time has not begun.
    NotValidYet,
    /// It is not the pinned one.
    PinDiffers(PinDiffers),
    /// Anything else.
    Other,
}

/// The server showed another certificate than the pinned one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinDiffers {
    /// SHA-256 of the certificate it showed, 64 lower-case hex digits.
    pub found: String,
}

impl fmt::Display for PinDiffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the certificate's SHA-256 is {}", self.found)
    }
}

impl std::error::Error for PinDiffers {}

impl TlsProblem {
    /// What an error of rustls says of the certificate; `None` where it is about something else.
    #[must_use]
    pub fn of(error: &rustls::Error) -> Option<Self> {
        let rustls::Error::InvalidCertificate(error) = error else { return None };
        Some(match error {
            CertificateError::UnknownIssuer => Self::UntrustedIssuer,
            CertificateError::NotValidForName => Self::WrongName { presented: Vec::new() },
            CertificateError::NotValidForNameContext { presented, .. } => {
                Self::WrongName { presented: presented.iter().map(|name| plain_name(name)).collect() }
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotValidYet,
            CertificateError::Other(OtherError(other)) => {
                // What else path building refuses is a certificate that vouches for itself (`CaUsedAsEndEntity`).
                other.downcast_ref::<PinDiffers>().map_or(Self::UntrustedIssuer, |pin| Self::PinDiffers(pin.clone()))
            }
            _ => Self::Other,
        })
    }
}

/// The settings of a client that trusts as told. Those for [`Trust::System`] are made once and shared.
///
/// # Errors
/// `tls` where the system has no trusted authorities; `invalid` for a file without a certificate or a bad pin.
pub fn client_config(trust: &Trust) -> Result<Arc<ClientConfig>, Fault> {
    match trust {
        Trust::System => system_config(),
        Trust::CaFile(path) => with_file(path).map(Arc::new),
        Trust::Pin(pin) => pinned(pin).map(Arc::new),
    }
}

/// Agrees on TLS over a connection; `host` is the name the certificate has to be for.
///
/// # Errors
/// `Tls` (with what is wrong with the certificate), `Timeout` after `limit`, `Closed` or `Io`.
pub async fn handshake<S>(
    stream: S,
    host: &str,
    config: Arc<ClientConfig>,
    limit: Duration,
) -> Result<TlsStream<S>, NetError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let name = ServerName::try_from(tcp::bare(host).to_owned())
        .map_err(|_| NetError::new(NetErrorKind::Tls, format!("{host:?} is not a name a certificate can be for")))?;
    match timeout(limit, TlsConnector::from(config).connect(name, stream)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(NetError::from_io(&error, host)),
        Err(_) => Err(NetError::timeout(host)),
    }
}

/// A fingerprint as it is kept: 64 lower-case hex digits; `None` where it is not one.
#[must_use]
pub fn normal_pin(text: &str) -> Option<String> {
    let digits: String =
        text.chars().filter(|c| *c != ':' && !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect();
    (digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit())).then_some(digits)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn system_config() -> Result<Arc<ClientConfig>, Fault> {
    static SHARED: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = SHARED.get() {
        return Ok(config.clone());
    }
    let mut roots = RootCertStore::empty();
    let (added, ignored) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        return Err(Fault::new(
            FaultCode::Tls,
            "No protected connection can be made",
            format!("this system has no usable list of trusted authorities ({ignored} could not be read)"),
            "install the package ca-certificates",
        ));
    }
    tracing::debug!(added, ignored, "Loaded the system's trusted authorities");
    let config = Arc::new(with_roots(roots)?);
    Ok(SHARED.get_or_init(|| config).clone())
}

fn with_file(path: &PathBuf) -> Result<ClientConfig, Fault> {
    let refused = |cause: String| {
        Fault::new(
            FaultCode::Invalid,
            "The server cannot be trusted",
            format!("{}: {cause}", path.display()),
            "give a PEM file with the certificates of the authorities",
        )
    };
    let mut roots = RootCertStore::empty();
    let mut named = Vec::new();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))? {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots.add(certificate.clone()).map_err(|error| refused(error.to_string()))?;
        named.push(certificate);
    }
    if roots.is_empty() {
        return Err(refused("there is no certificate in it".to_owned()));
    }
    let by_authority = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|error| refused(error.to_string()))?;
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let verifier = Arc::new(FileVerifier { by_authority, named });
    Ok(builder.map_err(unsupported)?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

fn with_roots(roots: RootCertStore) -> Result<ClientConfig, Fault> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    Ok(builder.map_err(unsupported)?.with_root_certificates(roots).with_no_client_auth())
}

fn pinned(pin: &str) -> Result<ClientConfig, Fault> {
    let Some(expected) = normal_pin(pin) else {
        return Err(Fault::new(
            FaultCode::Invalid,
            "The server cannot be trusted",
            format!("{pin:?} is not the SHA-256 of a certificate"),
            "give 64 hex digits, as `openssl x509 -noout -fingerprint -sha256` prints them",
        ));
    };
    let provider = provider();
    let verifier = PinVerifier { expected, algorithms: provider.signature_verification_algorithms };
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(unsupported)?.dangerous();
    Ok(builder.with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn unsupported(error: rustls::Error) -> Fault {
    Fault::new(FaultCode::Internal, "No protected connection can be made", error.to_string(), "report this as a bug")
}

/// `DnsName("a.example")` is how rustls prints some of the names; people want the name.
fn plain_name(name: &str) -> String {
    name.split('"').nth(1).unwrap_or(name).to_owned()
}

/// Trusts one certificate, by its hash, and lets the server prove that it has the key to it.
#[derive(Debug)]
struct PinVerifier {
    expected: String,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found: String = Sha256::digest(end_entity.as_ref()).iter().map(|byte| format!("{byte:02x}")).collect();
        if found == self.expected {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::Other(OtherError(Arc::new(PinDiffers { found }))).into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::net::scripted::{Act, Certificates, Peer};
    use crate::net::stream::Stream;

    async fn shake(certificates: &Certificates, host: &str, trust: &Trust) -> Result<Stream, NetError> {
        let peer = Peer::start_tls(vec![Act::Hang], certificates.server.clone()).await;
        let limit = Duration::from_secs(10);
        let socket = tcp::connect("127.0.0.1", peer.port, limit).await.unwrap();
        Stream::protect(socket, host, client_config(trust).unwrap(), limit).await
    }

    fn ca_file(certificates: &Certificates) -> (tempfile::NamedTempFile, Trust) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(certificates.authority.as_bytes()).unwrap();
        let trust = Trust::CaFile(file.path().to_owned());
        (file, trust)
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_certificate_is_told_apart() {
        let good = Certificates::make("mail.example.com", false);
        let (_kept, trusted) = ca_file(&good);
        let expired = Certificates::make("mail.example.com", true);
        let (_kept_too, expired_trusted) = ca_file(&expired);
        let pin = |text: &str| Trust::Pin(text.to_owned());

        shake(&good, "mail.example.com", &trusted).await.expect("trusted by its authority");
        shake(&good, "127.0.0.1", &pin(&good.pin)).await.expect("a pin asks neither for name nor issuer");
        shake(&expired, "mail.example.com", &pin(&expired.pin)).await.expect("a pin does not ask for dates");
        shake(&good, "mail.example.com", &pin(&colons(&good.pin))).await.expect("as openssl prints it");

        let problem = async |certificates: &Certificates, host: &str, trust: &Trust| {
            let error = shake(certificates, host, trust).await.unwrap_err();
            assert_eq!(error.kind, NetErrorKind::Tls, "{error}");
            let fault = error.fault("Cannot read the mailbox");
            assert_eq!(fault.code, FaultCode::Tls);
            (error.tls.clone().expect("about the certificate"), fault.to_string())
        };
        let (what, words) = problem(&good, "mail.example.com", &Trust::System).await;
        assert_eq!(what, TlsProblem::UntrustedIssuer, "{words}");
        assert!(words.contains("--ca-file") && words.contains("--pin"), "the ways out are named: {words}");
        let (what, words) = problem(&good, "other.example.com", &trusted).await;
        assert_eq!(what, TlsProblem::WrongName { presented: vec!["mail.example.com".to_owned()] }, "{words}");
        assert!(words.contains("other names: mail.example.com"), "{words}");
        let (what, words) = problem(&good, "127.0.0.1", &trusted).await;
        assert!(matches!(what, TlsProblem::WrongName { .. }), "an address is a name too: {words}");
        let (what, words) = problem(&expired, "mail.example.com", &expired_trusted).await;
        assert_eq!(what, TlsProblem::Expired, "{words}");
        let (what, words) = problem(&good, "mail.example.com", &pin(&expired.pin)).await;
        assert_eq!(what, TlsProblem::PinDiffers(PinDiffers { found: good.pin.clone() }), "{words}");
        assert!(words.contains(&good.pin), "the found fingerprint is shown: {words}");
    }

    #[tokio::test]
    async fn a_server_without_tls_is_told_from_a_silent_one() {
        let config = client_config(&Trust::Pin("0".repeat(64))).unwrap();
        let greeting = Peer::start(vec![Act::Hang]).await;
        let socket = tcp::connect("127.0.0.1", greeting.port, Duration::from_secs(5)).await.unwrap();
        let error = handshake(socket, "localhost", config.clone(), Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(error.kind, NetErrorKind::Timeout, "{error}");

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut socket, b"* OK IMAP4rev1 ready\r\n").await.unwrap();
            std::future::pending::<()>().await;
        });
        let socket = tcp::connect("127.0.0.1", port, Duration::from_secs(5)).await.unwrap();
        let error = handshake(socket, "localhost", config, Duration::from_secs(10)).await.unwrap_err();
        assert_eq!((error.kind, &error.tls), (NetErrorKind::Tls, &None), "not about the certificate: {error}");
    }

    #[tokio::test]
    async fn a_file_may_hold_the_servers_own_certificate() {
        let own = Certificates::make_self_signed("mail.example.com");
        let (_kept, trusted) = ca_file(&own);
        shake(&own, "mail.example.com", &trusted).await.expect("the owner named this very certificate");
        let error = shake(&own, "other.example.com", &trusted).await.unwrap_err();
        assert!(matches!(error.tls, Some(TlsProblem::WrongName { .. })), "its names still count: {error}");
        let other = Certificates::make_self_signed("mail.example.com");
        let error = shake(&other, "mail.example.com", &trusted).await.unwrap_err();
        assert_eq!(error.tls, Some(TlsProblem::UntrustedIssuer), "another one of that name is not trusted: {error}");
        let error = shake(&own, "mail.example.com", &Trust::System).await.unwrap_err();
        assert_eq!(error.tls, Some(TlsProblem::UntrustedIssuer), "it vouches for itself: {error}");
    }

    #[test]
    fn trust_that_cannot_be_used_is_refused_with_the_reason() {
        let refused = |trust: Trust| client_config(&trust).expect_err("must be refused").to_string();
        assert!(refused(Trust::Pin("abc".to_owned())).contains("64 hex digits"));
        assert!(refused(Trust::CaFile("/nonexistent/ca.pem".into())).contains("/nonexistent/ca.pem"));
        let empty = tempfile::NamedTempFile::new().unwrap();
        assert!(refused(Trust::CaFile(empty.path().to_owned())).contains("no certificate"));
    }

    fn colons(pin: &str) -> String {
        let pairs: Vec<&str> = (0..32).map(|at| &pin[at * 2..at * 2 + 2]).collect();
        pairs.join(":").to_uppercase()
    }
}
