//! What the caller decides about requests, and the HTTP clients made of it.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::Once,
    time::{Duration, Instant},
};

use reqwest::{Certificate, Client, NoProxy, Proxy, Url, redirect::Policy};
use secrecy::SecretString;

use crate::{Error, error::one_line, reference::is_registry};

/// A registry that does not accept a connection in this time is not there.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How registries are asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// No request goes on after it.
    pub deadline: Instant,
    /// Images that are looked up at the same time.
    pub parallel: usize,
    /// By the registry as references name it.
    pub credentials: BTreeMap<String, Credential>,
    /// Registries that are asked before the one that a reference names, by that one.
    pub mirrors: BTreeMap<String, Vec<String>>,
    /// Certificates of authorities beside the system's, in PEM.
    pub certificates: Vec<Vec<u8>>,
    /// The same for single registries, by host and port. Unreadable ones do not count.
    pub own_certificates: BTreeMap<String, Vec<Vec<u8>>>,
    pub proxies: Proxies,
    /// Registries on this machine that are asked over plain http.
    pub insecure: Vec<String>,
}

/// Proxies by the scheme of a request.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    pub http: Option<String>,
    pub https: Option<String>,
    /// Hosts that are reached without a proxy, separated by commas.
    pub except: Option<String>,
}

/// Who asks.
#[derive(Clone, Debug)]
pub enum Credential {
    Password {
        user: String,
        password: SecretString,
    },
    /// Exchanged for a token at the registry's token server.
    IdentityToken(SecretString),
    /// Sent to the registry as it is.
    RegistryToken(SecretString),
}

/// The clients of one run: a proxy is for other machines, this one it cannot reach.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    usual: Pair,
    /// For registries with authorities of their own, by host and port.
    own: BTreeMap<String, Pair>,
}

#[derive(Clone, Debug)]
struct Pair {
    remote: Client,
    loopback: Client,
}

impl Clients {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Error> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // It fails if somebody else has installed one, which serves as well.
            drop(rustls::crypto::ring::default_provider().install_default());
        });
        let failed = |error: reqwest::Error| Error::Client { reason: one_line(&error.to_string()) };
        let mut certificates = Vec::new();
        for bundle in &settings.certificates {
            certificates.extend(Certificate::from_pem_bundle(bundle).map_err(failed)?);
        }
        let usual = Pair::new(settings, &certificates)?;
        let mut own = BTreeMap::new();
        for (registry, bundles) in &settings.own_certificates {
            let more =
                bundles.iter().filter_map(|bundle| Certificate::from_pem_bundle(bundle).ok());
            let all: Vec<Certificate> =
                certificates.iter().cloned().chain(more.flatten()).collect();
            own.insert(registry.clone(), Pair::new(settings, &all)?);
        }
        Ok(Self { usual, own })
    }

    pub(crate) fn of(&self, url: &Url) -> &Client {
        let host = url.host_str().unwrap_or_default();
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let pair = self.own.get(&authority).unwrap_or(&self.usual);
        if is_loopback(url) { &pair.loopback } else { &pair.remote }
    }
}

impl Pair {
    fn new(settings: &Settings, certificates: &[Certificate]) -> Result<Self, Error> {
        let failed = |error: reqwest::Error| Error::Client { reason: one_line(&error.to_string()) };
        let builder = || {
            let builder = Client::builder().redirect(Policy::none()).referer(false).no_proxy();
            builder.connect_timeout(CONNECT_LIMIT).tls_certs_merge(certificates.to_vec())
        };
        let mut remote = builder();
        let except = settings.proxies.except.as_deref().and_then(NoProxy::from_string);
        if let Some(url) = &settings.proxies.http {
            remote = remote.proxy(Proxy::http(url).map_err(failed)?.no_proxy(except.clone()));
        }
        if let Some(url) = &settings.proxies.https {
            remote = remote.proxy(Proxy::https(url).map_err(failed)?.no_proxy(except));
        }
        let (remote, loopback) = (remote.build(), builder().build());
        Ok(Self { remote: remote.map_err(failed)?, loopback: loopback.map_err(failed)? })
    }
}

/// Where the API of a registry begins.
pub(crate) fn endpoint(registry: &str, insecure: &[String]) -> Result<Url, Error> {
    let host = match registry {
        // The name of Docker Hub that people write has a web site behind it.
        "docker.io" => "registry-1.docker.io",
        other => other,
    };
    let is_plain = insecure.iter().any(|listed| listed == registry);
    let scheme = if is_plain { "http" } else { "https" };
    let unusable = || Error::Reference { reference: registry.to_owned() };
    if !is_registry(registry) {
        return Err(unusable());
    }
    let url = Url::parse(&format!("{scheme}://{host}/v2/")).map_err(|_| unusable())?;
    if is_plain && !is_loopback(&url) {
        return Err(Error::Insecure { registry: registry.to_owned() });
    }
    Ok(url)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}
