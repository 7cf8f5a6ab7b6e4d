//! The one place where a request leaves the machine: one POST, its bounded reply, nothing more.
//!
//! Redirects are not followed, since the key would go where the server points. Connections are not
//! kept: between two turns minutes pass, and a connection that died meanwhile is a failed request.

use std::{
    error::Error,
    io,
    net::IpAddr,
    sync::Once,
    time::{Duration, SystemTime},
};

use probity_text::one_line;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION},
    redirect::Policy,
};
use serde_json::Value;

use crate::{bounded::EXCERPT_CHARS, chat::retry_after::retry_after};

/// How much of an error's body is read to find the words in it.
const ERROR_BODY_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    url: Url,
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum Failure {
    Status {
        status: u16,
        said: String,
        asked: Option<Duration>,
    },
    /// The connection could not be made or did not last; the next one may.
    Broken(String),
    /// The other side is not who it should be, which no repetition changes.
    Untrusted(String),
    TooLarge,
}

/// Why nothing can be sent to an endpoint.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadEndpoint {
    #[error("the endpoint is not a URL: {0}")]
    NotUrl(String),
    #[error("the endpoint is not an http or https address")]
    NotHttp,
    #[error("cannot prepare: {}", chain(.0))]
    Client(reqwest::Error),
}

impl Http {
    pub(crate) fn new(endpoint: &str) -> Result<Self, BadEndpoint> {
        let url =
            Url::parse(endpoint.trim()).map_err(|error| BadEndpoint::NotUrl(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(BadEndpoint::NotHttp);
        }
        let client = client(&url).map_err(BadEndpoint::Client)?;
        Ok(Self { client, url })
    }

    pub(crate) async fn post(
        &self,
        mut headers: HeaderMap,
        body: Vec<u8>,
        most: usize,
    ) -> Result<Vec<u8>, Failure> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        let request = self.client.post(self.url.clone()).headers(headers).body(body);
        let mut response = request.send().await.map_err(|error| failure(&error.without_url()))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refusal(response).await);
        }
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| failure(&error.without_url()))?
        {
            if bytes.len() + chunk.len() > most {
                return Err(Failure::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// The address without what people hide in it: user, password and query.
    pub(crate) fn shown(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{host}{port}{}", self.url.scheme(), self.url.path())
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }
}

fn client(url: &Url) -> Result<Client, reqwest::Error> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // It fails if somebody else has installed one, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
    let builder =
        || Client::builder().redirect(Policy::none()).pool_max_idle_per_host(0).referer(false);
    let plain = url.scheme() == "http";
    // A proxy of the company is for other machines; this one it cannot reach.
    let builder = || if is_loopback(url) { builder().no_proxy() } else { builder() };
    // Reading all root certificates takes longer than a small model's answer, and fails where
    // there are none. What never leaves this machine, and is not encrypted, needs none.
    if plain && is_loopback(url) {
        return builder().tls_certs_only([]).build();
    }
    builder().build().or_else(
        |error| {
            if plain { builder().tls_certs_only([]).build() } else { Err(error) }
        },
    )
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

async fn refusal(mut response: Response) -> Failure {
    let status = response.status();
    let asked = retry_after(response.headers(), SystemTime::now());
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    if let Some(target) = target
        && status.is_redirection()
    {
        let said = format!("redirected to {}", one_line(target, 200));
        return Failure::Status { status: status.as_u16(), said, asked: None };
    }
    let mut bytes = Vec::new();
    // A body that breaks off is still the best explanation there is.
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() >= ERROR_BODY_BYTES {
            break;
        }
    }
    let said = explanation(&String::from_utf8_lossy(&bytes));
    let said = if said.is_empty() {
        status.canonical_reason().unwrap_or_default().to_owned()
    } else {
        said
    };
    Failure::Status { status: status.as_u16(), said, asked }
}

/// The words in an error body: the message where the provider's form is known, else all of it.
fn explanation(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let message = ["/error/message", "/error", "/message", "/detail"]
        .iter()
        .find_map(|pointer| value.pointer(pointer)?.as_str());
    one_line(message.unwrap_or(body), EXCERPT_CHARS)
}

fn failure(error: &reqwest::Error) -> Failure {
    let text = chain(error);
    if is_tls(error) { Failure::Untrusted(text) } else { Failure::Broken(text) }
}

fn is_tls(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        // An io::Error hides what it wraps from `source`.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if error.is::<rustls::Error>() || inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        next = error.source();
    }
    false
}

/// An error with its causes, in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    one_line(&text, EXCERPT_CHARS)
}
