//! From a registry's challenge to the header that answers it.

use reqwest::{Method, Url, header::HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::{
    Credential, Error,
    challenge::Challenge,
    client::is_loopback,
    error::one_line,
    fetch::{Request, fetch},
    look_up::Run,
};

/// Larger than any token that a server would accept in a header.
const TOKEN_BYTES: usize = 256 << 10;

/// The header for a repository, or none if there is nothing to answer with.
pub(crate) async fn authorize(
    run: &Run,
    registry: &str,
    endpoint: &Url,
    repository: &str,
    challenge: &Challenge,
) -> Result<Option<HeaderValue>, Error> {
    let credential = run.settings.credentials.get(registry);
    match (challenge, credential) {
        (_, Some(Credential::RegistryToken(token))) => {
            Ok(header(&format!("Bearer {}", token.expose_secret())))
        }
        (Challenge::Basic, Some(Credential::Password { user, password })) => {
            Ok(header(&basic(user, password)))
        }
        (Challenge::Basic, _) => Ok(None),
        (Challenge::Bearer { realm, service }, credential) => {
            let scope = format!("repository:{repository}:pull");
            let url = token_server(registry, endpoint, realm)?;
            let service = service.as_deref().unwrap_or_default();
            let request = token_request(registry, url, service, &scope, credential);
            let reply = fetch(&run.clients, &request, run.settings.deadline).await?;
            if !reply.status.is_success() {
                return Ok(None);
            }
            let malformed = |reason: String| Error::Malformed {
                registry: registry.to_owned(),
                what: "token",
                reason,
            };
            let tokens: Tokens = serde_json::from_slice(&reply.body)
                .map_err(|error| malformed(one_line(&error.to_string())))?;
            let token = tokens.token.or(tokens.access_token).unwrap_or_default();
            let value = header(&format!("Bearer {token}"));
            value.map(Some).ok_or_else(|| malformed("it cannot be sent".to_owned()))
        }
    }
}

/// The registry names its token server. A password goes there only over an encrypted connection, or
/// if both are on this machine.
fn token_server(registry: &str, endpoint: &Url, realm: &str) -> Result<Url, Error> {
    let url = Url::parse(realm).ok().filter(Url::has_host);
    let is_plain_here =
        |url: &Url| endpoint.scheme() == "http" && url.scheme() == "http" && is_loopback(url);
    match url {
        Some(url) if url.scheme() == "https" || is_plain_here(&url) => Ok(url),
        _ => Err(Error::Malformed {
            registry: registry.to_owned(),
            what: "challenge",
            reason: format!("its token server `{}` is not an https URL", one_line(realm)),
        }),
    }
}

fn token_request<'a>(
    registry: &'a str,
    mut url: Url,
    service: &str,
    scope: &str,
    credential: Option<&Credential>,
) -> Request<'a> {
    let mut form = None;
    let mut authorization = None;
    if let Some(Credential::IdentityToken(token)) = credential {
        // The encoder of a URL's query is that of a form.
        let mut encoder = url.clone();
        encoder.query_pairs_mut().clear().extend_pairs([
            ("grant_type", "refresh_token"),
            ("service", service),
            ("client_id", "probity"),
            ("scope", scope),
            ("refresh_token", token.expose_secret()),
        ]);
        form = encoder.query().map(str::to_owned);
    } else {
        if !service.is_empty() {
            url.query_pairs_mut().append_pair("service", service);
        }
        url.query_pairs_mut().append_pair("scope", scope);
        if let Some(Credential::Password { user, password }) = credential {
            authorization = header(&basic(user, password));
        }
    }
    let method = if form.is_some() { Method::POST } else { Method::GET };
    let (accept, what) = ("application/json", "token");
    Request { method, url, accept, authorization, form, what, limit: TOKEN_BYTES, registry }
}

/// A header that no log shows; none if the text cannot be one.
fn header(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn basic(user: &str, password: &SecretString) -> String {
    format!("Basic {}", base64(format!("{user}:{}", password.expose_secret()).as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |group: u32, index: usize| {
        let value = usize::try_from(group >> (18 - 6 * index) & 63).unwrap_or_default();
        char::from(DIGITS.get(value).copied().unwrap_or_default())
    };
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        text.extend(
            (0..4).map(|index| if index <= chunk.len() { digit(group, index) } else { '=' }),
        );
    }
    text
}

#[derive(Deserialize)]
struct Tokens {
    token: Option<String>,
    access_token: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_encoded_as_the_standard_says() {
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob>?", "Zm9vYj4/")]
        {
            assert_eq!(base64(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn tokens_are_fetched_over_encrypted_connections() {
        let url = |text| Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for (endpoint, realm, is_taken) in [
            ("https://a.example/v2/", "https://b.example/token", true),
            ("https://a.example/v2/", "http://b.example/token", false),
            ("https://a.example/v2/", "http://127.0.0.1/token", false),
            ("http://127.0.0.1:5000/v2/", "http://127.0.0.1:5001/token", true),
            ("http://127.0.0.1:5000/v2/", "http://b.example/token", false),
            ("https://a.example/v2/", "file:///etc/passwd", false),
            ("https://a.example/v2/", "token", false),
        ] {
            let taken = token_server("a", &url(endpoint), realm).is_ok();
            assert_eq!(taken, is_taken, "{endpoint} {realm}");
        }
    }
}
