//! TLS as libpq has it: `sslmode` and its files, by the address, the environment or `~/.postgresql`.

use postgres::Config;
use postgres::config::{Host, SslMode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;
use x509_cert::Certificate;
use x509_cert::der::{Decode, oid::db::rfc4519::COMMON_NAME, oid::db::rfc5280::ID_CE_SUBJECT_ALT_NAME};

/// What `sslmode` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    fn from_name(name: &str) -> Option<Mode> {
        Some(match name {
            "disable" => Mode::Disable,
            "allow" => Mode::Allow,
            "prefer" => Mode::Prefer,
            "require" => Mode::Require,
            "verify-ca" => Mode::VerifyCa,
            "verify-full" => Mode::VerifyFull,
            _ => return None,
        })
    }

    /// As `sslmode` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Disable => "disable",
            Mode::Allow => "allow",
            Mode::Prefer => "prefer",
            Mode::Require => "require",
            Mode::VerifyCa => "verify-ca",
            Mode::VerifyFull => "verify-full",
        }
    }
}

/// What is known by these names in an address, and in the environment.
const NAMES: [(&str, &str); 4] = [
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
];

/// How a connection is made safe.
#[derive(Clone, Debug)]
pub(super) struct Tls {
    pub mode: Mode,
    client: Option<Arc<ClientConfig>>,
}

/// An address without what it says of TLS, and that, in the order of [`NAMES`].
fn divided(address: &str) -> (String, [Option<String>; 4]) {
    let mut said = [const { None }; 4];
    let Some((base, options)) = address.split_once('?') else { return (address.to_string(), said) };
    let mut rest = Vec::new();
    for option in options.split('&') {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match NAMES.iter().position(|(known, _)| *known == name) {
            Some(at) => said[at] = Some(crate::programs::serve::http::decode(value, false)),
            None => rest.push(option),
        }
    }
    let rest = rest.join("&");
    (if rest.is_empty() { base.to_string() } else { format!("{base}?{rest}") }, said)
}

/// A file of libpq's folder, if it is there.
fn in_folder(name: &str) -> Option<PathBuf> {
    let path = Path::new(&std::env::var_os("HOME")?).join(".postgresql").join(name);
    path.exists().then_some(path)
}

impl Tls {
    /// What an address and the environment ask for, and the rest of the address.
    pub fn read(address: &str) -> Result<(String, Tls), String> {
        let (rest, mut said) = divided(address);
        for (value, (_, variable)) in said.iter_mut().zip(NAMES) {
            *value = value.take().or_else(|| std::env::var(variable).ok()).filter(|v| !v.is_empty());
        }
        let [mode, root, certificate, key] = said;
        let system = root.as_deref() == Some("system");
        let mode = match (&mode, system) {
            (None, true) => Mode::VerifyFull,
            (None, false) => Mode::Prefer,
            (Some(name), _) => Mode::from_name(name).ok_or_else(|| {
                format!(
                    "sslmode={name} is none: disable, allow, prefer, require, verify-ca and verify-full are"
                )
            })?,
        };
        if system && mode != Mode::VerifyFull {
            // Anybody can have a certificate of a public authority.
            let name = mode.name();
            return Err(format!("sslrootcert=system needs sslmode=verify-full, and it is sslmode={name}"));
        }
        if mode == Mode::Disable {
            return Ok((rest, Tls { mode, client: None }));
        }
        let named = root.filter(|_| !system).map(PathBuf::from);
        let verifier = Verifier::new(mode, system, named.or_else(|| in_folder("root.crt")))?;
        let builder = ClientConfig::builder_with_provider(Arc::clone(&verifier.provider))
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let certificate = certificate.map(PathBuf::from).or_else(|| in_folder("postgresql.crt"));
        let client = match certificate {
            None => builder.with_no_client_auth(),
            Some(certificate) => {
                let key = key.map(PathBuf::from).or_else(|| in_folder("postgresql.key"));
                let key = key.ok_or_else(|| {
                    format!("{} needs its key: name it with sslkey=FILE or PGSSLKEY", certificate.display())
                })?;
                let chain = certificates(&certificate)?;
                builder
                    .with_client_auth_cert(chain, private_key(&key)?)
                    .map_err(|e| format!("{} and {} do not fit: {e}", certificate.display(), key.display()))?
            }
        };
        Ok((rest, Tls { mode, client: Some(Arc::new(client)) }))
    }

    /// The ways to connect, in the order in which they are tried.
    pub fn ways(&self, config: &Config) -> Vec<Way> {
        // A socket of this machine has no TLS, whatever the mode, as libpq has it.
        let local = matches!(config.get_hosts().first(), Some(Host::Unix(_)) | None);
        let tls = || Way { mode: SslMode::Require, client: self.client.clone() };
        let plain = || Way { mode: SslMode::Disable, client: None };
        match self.mode {
            _ if local => vec![plain()],
            Mode::Disable => vec![plain()],
            Mode::Allow => vec![plain(), tls()],
            Mode::Prefer => vec![Way { mode: SslMode::Prefer, ..tls() }, plain()],
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => vec![tls()],
        }
    }
}

/// One way to connect.
pub(super) struct Way {
    pub mode: SslMode,
    client: Option<Arc<ClientConfig>>,
}

impl Way {
    /// What makes TLS of a connection, if this way has it.
    pub fn connector(&self) -> Option<MakeRustlsConnect> {
        self.client.as_ref().map(|client| MakeRustlsConnect::new(ClientConfig::clone(client)))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |why: String| format!("the certificate {}: {why}", path.display());
    let found: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|e| wrong(e.to_string()))?.collect();
    match found {
        Ok(some) if some.is_empty() => Err(wrong("there is none in it, as PEM".to_string())),
        other => other.map_err(|e| wrong(e.to_string())),
    }
}

/// A key that others cannot read: as libpq has it, root's may be read by its group.
fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let wrong = |why: String| format!("the key {}: {why}", path.display());
    let about = std::fs::metadata(path).map_err(|e| wrong(e.to_string()))?;
    let most = if about.uid() == 0 { 0o640 } else { 0o600 };
    if about.permissions().mode() & 0o777 & !most != 0 {
        return Err(wrong("others may read it; chmod 600".to_string()));
    }
    PrivateKeyDer::from_pem_file(path).map_err(|e| wrong(format!("{e}; it must be PEM without a password")))
}

/// Who decides whether a server is the one that it says it is.
#[derive(Debug)]
struct Verifier {
    /// `None` if nobody has asked for that.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that are trusted as they are.
    roots: Vec<CertificateDer<'static>>,
    /// Whether the name must be the server's.
    names: bool,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn new(mode: Mode, system: bool, root: Option<PathBuf>) -> Result<Verifier, String> {
        let provider = Arc::new(ring::default_provider());
        let names = mode == Mode::VerifyFull;
        let roots = match root {
            _ if system => rustls_native_certs::load_native_certs().certs,
            // With a root, the chain is verified in every mode.
            Some(path) => certificates(&path)?,
            None if mode >= Mode::VerifyCa => {
                return Err(format!(
                    "sslmode={} needs the root certificate: name it with sslrootcert=FILE or PGSSLROOTCERT, put it into \
                     ~/.postgresql/root.crt, or use sslrootcert=system",
                    mode.name()
                ));
            }
            None => return Ok(Verifier { chain: None, roots: Vec::new(), names, provider }),
        };
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().cloned());
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider));
        let chain = chain.build().map_err(|e| format!("the root certificate cannot be used: {e}"))?;
        Ok(Verifier { chain: Some(chain), roots, names, provider })
    }

    /// Whether the certificate is for this name.
    fn is_for(&self, certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> Result<(), rustls::Error> {
        if !self.names || has_common_name(certificate, name) {
            return Ok(());
        }
        rustls::client::verify_server_name(&ParsedCertificate::try_from(certificate)?, name)
    }
}

/// Whether a certificate without other names has this one as its common name. libpq looks at that, too.
fn has_common_name(certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> bool {
    let Ok(certificate) = Certificate::from_der(certificate) else { return false };
    let certificate = certificate.tbs_certificate;
    let mut extensions = certificate.extensions.iter().flatten();
    if extensions.any(|e| e.extn_id == ID_CE_SUBJECT_ALT_NAME) {
        return false;
    }
    let parts = certificate.subject.0.iter().flat_map(|part| part.0.iter());
    let mut names = parts.filter(|part| part.oid == COMMON_NAME).map(|part| part.value.value());
    names.any(|common| common.eq_ignore_ascii_case(name.to_str().as_bytes()))
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        use CertificateError::{NotValidForName, NotValidForNameContext, Other};
        match chain.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Ok(verified) => Ok(verified),
            // The chain is looked at before the name.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                self.is_for(certificate, name).map(|()| ServerCertVerified::assertion())
            }
            // One that signed itself is an authority's, which no server should have; but it is the very one
            // that is trusted. When it is valid has been looked at before.
            Err(rustls::Error::InvalidCertificate(Other(_))) if self.roots.contains(certificate) => {
                self.is_for(certificate, name).map(|()| ServerCertVerified::assertion())
            }
            Err(error) => Err(error),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.chain {
            Some(chain) => chain.verify_tls12_signature(message, certificate, signature),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match &self.chain {
            Some(chain) => chain.verify_tls13_signature(message, certificate, signature),
            // Whose certificate it is was not asked for: then it says nothing who signed with it.
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Why there is no TLS, and what to do about it; `None` if the error is another.
pub(super) fn refusal(error: &postgres::Error, mode: Mode) -> Option<String> {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.to_string() == "server does not support TLS" {
            return Some(format!(
                "the server has no TLS, and sslmode={} asks for it; set `ssl = on` and a certificate in its \
                 postgresql.conf, or use a tunnel (ssh -L 5432:localhost:5432 HOST) and sslmode=disable",
                mode.name()
            ));
        }
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if let Some(error) = inner.and_then(|e| e.downcast_ref::<rustls::Error>()) {
            return said(error, mode);
        }
        source = error.source();
    }
    None
}

fn said(error: &rustls::Error, mode: Mode) -> Option<String> {
    use CertificateError::{BadSignature, NotValidForName, NotValidForNameContext, UnknownIssuer};
    let mode = mode.name();
    let is = |what: &str| error.to_string().contains(what);
    Some(match error {
        rustls::Error::InvalidCertificate(_) if is("UnsupportedCertVersion") => format!(
            "sslmode={mode} cannot check the server's certificate, which is of X.509 version 1; make it with extensions, such as \
             a subjectAltName"
        ),
        // A root of the same name, but another one, has not made the signature; and one may have signed
        // itself.
        rustls::Error::InvalidCertificate(why)
            if matches!(why, UnknownIssuer | BadSignature) || is("CaUsedAsEndEntity") =>
        {
            format!(
                "the server's certificate is not signed by the root that sslmode={mode} is to trust; name that one with \
                 sslrootcert=FILE or PGSSLROOTCERT, or ask whose server this is"
            )
        }
        rustls::Error::InvalidCertificate(why @ (NotValidForName | NotValidForNameContext { .. })) => {
            format!(
                "sslmode={mode}: {why}; give the host a name that the certificate has, or use sslmode=verify-ca"
            )
        }
        rustls::Error::InvalidCertificate(why) => {
            format!("sslmode={mode} refuses the server's certificate: {why}")
        }
        rustls::Error::AlertReceived(alert) => {
            format!("the server refuses TLS as it was asked for ({alert:?}); it may want sslcert and sslkey")
        }
        // Cut off in the middle: another time may do.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_what_tls_it_wants() {
        let (rest, said) =
            divided("postgres://me@db/rvv?sslmode=verify-full&application_name=x&sslkey=%2Fa%20b");
        assert_eq!(rest, "postgres://me@db/rvv?application_name=x");
        assert_eq!(said, [Some("verify-full".into()), None, None, Some("/a b".into())]);
        assert_eq!(divided("postgres://db/rvv?sslmode=disable").0, "postgres://db/rvv");
        assert_eq!(divided("postgres://db/rvv"), ("postgres://db/rvv".into(), [const { None }; 4]));
    }

    #[test]
    fn what_cannot_be_had_is_said() {
        for (options, says) in [
            ("sslmode=great", "sslmode=great is none: disable, allow, prefer"),
            ("sslmode=verify-ca&sslrootcert=/no/root.crt", "the certificate /no/root.crt: "),
            ("sslmode=require&sslrootcert=system", "sslrootcert=system needs sslmode=verify-full"),
            ("sslmode=require&sslcert=/no/c.crt&sslkey=/no/c.key", "/no/c.crt: "),
        ] {
            let said = Tls::read(&format!("postgres://me:secret@db/rvv?{options}")).unwrap_err();
            assert!(said.contains(says) && !said.contains("secret"), "{said}");
        }
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, "not a key").unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(private_key(&key).unwrap_err().contains("chmod 600"));
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(private_key(&key).unwrap_err().contains("PEM"));
    }

    #[test]
    fn modes_try_what_libpq_tries() {
        let ways = |host: &str, mode: Mode| {
            let config: Config = format!("host={host} user=x").parse().unwrap();
            let tls = Tls { mode, client: None };
            tls.ways(&config).iter().map(|w| w.mode != SslMode::Disable).collect::<Vec<_>>()
        };
        assert_eq!(ways("db", Mode::Disable), [false]);
        assert_eq!(ways("db", Mode::Allow), [false, true]);
        assert_eq!(ways("db", Mode::Prefer), [true, false]);
        assert_eq!(ways("db", Mode::Require), [true]);
        assert_eq!(ways("/run/postgresql", Mode::VerifyFull), [false]);
    }
}
