//! TLS to a PostgreSQL server, by rustls, with libpq's degrees of verification.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::{TlsConnector, client};

use super::address::{Tls, Verification};
use crate::history::{HistoryError, database};

/// Makes connections of one configuration.
#[derive(Clone)]
pub(super) struct Connector {
    connector: TlsConnector,
}

impl Connector {
    pub(super) fn new(tls: &Tls) -> Result<Self, HistoryError> {
        let provider = Arc::new(ring::default_provider());
        let inner = match tls.verification {
            Verification::None => None,
            Verification::Authority | Verification::AuthorityAndName => {
                let roots = Arc::new(roots(tls)?);
                let builder = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
                Some(builder.build().map_err(failed)?)
            }
        };
        let verifier = Verifier {
            inner,
            checks_name: tls.verification == Verification::AuthorityAndName,
            provider: provider.clone(),
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let config = match &tls.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = CertificateDer::pem_file_iter(certificate).map_err(failed)?;
                let chain = chain.collect::<Result<_, _>>().map_err(failed)?;
                let key = PrivateKeyDer::from_pem_file(key).map_err(failed)?;
                builder.with_client_auth_cert(chain, key).map_err(failed)?
            }
        };
        Ok(Self { connector: TlsConnector::from(Arc::new(config)) })
    }
}

/// The named file's certificates, or those that the system trusts.
fn roots(tls: &Tls) -> Result<RootCertStore, HistoryError> {
    let mut roots = RootCertStore::empty();
    match &tls.authorities {
        Some(file) => {
            for certificate in CertificateDer::pem_file_iter(file).map_err(failed)? {
                roots.add(certificate.map_err(failed)?).map_err(failed)?;
            }
        }
        None => {
            let system = rustls_native_certs::load_native_certs().certs;
            // One of them that cannot be read is no reason to refuse the others.
            let (_added, _ignored) = roots.add_parsable_certificates(system);
        }
    }
    Ok(roots)
}

fn failed(error: impl std::fmt::Display) -> HistoryError {
    database("cannot prepare TLS for the database", &error.to_string())
}

impl<S> MakeTlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type TlsConnect = Connection;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Connection> {
        Ok(Connection { connector: self.connector.clone(), host: host.to_owned() })
    }
}

/// A connection to be made to one host.
pub(super) struct Connection {
    connector: TlsConnector,
    /// Empty for a socket, over which no TLS is spoken.
    host: String,
}

impl<S> TlsConnect<S> for Connection
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            self.connector.connect(name, stream).await.map(Stream)
        })
    }
}

/// The encrypted stream, as the PostgreSQL client wants to see it.
pub(super) struct Stream<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// Asks for what the mode asks for. The server's possession of its key is verified in every mode.
#[derive(Debug)]
struct Verifier {
    inner: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(certificate, intermediates, name, stapled, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
