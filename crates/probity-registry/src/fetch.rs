//! One request and its bounded reply. Redirects and waits are decided here, not by the HTTP client.

use std::{
    error::Error as _,
    io,
    time::{Instant, SystemTime},
};

use reqwest::{
    Method, Response, StatusCode, Url,
    header::{
        ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION,
    },
};

use crate::{
    Error,
    client::{Clients, is_loopback},
    error::one_line,
    retry_after::retry_after,
};

/// A registry sends a blob from its storage after one or two of them.
const MOST_REDIRECTS: usize = 5;

/// How often a request is repeated that the registry asks us to send later.
const MOST_REPEATS: usize = 3;

/// How much of an error's body is read to find the words in it.
const ERROR_BODY_BYTES: usize = 16 << 10;

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) accept: &'static str,
    pub(crate) authorization: Option<HeaderValue>,
    /// A form, for a POST.
    pub(crate) form: Option<String>,
    /// What the body is, and how much of it is read at most.
    pub(crate) what: &'static str,
    pub(crate) limit: usize,
    /// The registry as messages name it.
    pub(crate) registry: &'a str,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Sends a request, follows redirects, and repeats it if the registry says when, as long as that is
/// before the deadline.
pub(crate) async fn fetch(
    clients: &Clients,
    request: &Request<'_>,
    deadline: Instant,
) -> Result<Reply, Error> {
    let mut repeats = 0;
    loop {
        let reply = follow(clients, request).await?;
        if reply.status != StatusCode::TOO_MANY_REQUESTS {
            return Ok(reply);
        }
        let wait = retry_after(&reply.headers, SystemTime::now());
        let until = wait.and_then(|wait| Instant::now().checked_add(wait));
        match until {
            Some(until) if until < deadline && repeats < MOST_REPEATS => {
                tokio::time::sleep_until(until.into()).await;
            }
            _ => {
                let registry = request.registry.to_owned();
                return Err(Error::TooManyRequests { registry, wait });
            }
        }
        repeats += 1;
    }
}

async fn follow(clients: &Clients, request: &Request<'_>) -> Result<Reply, Error> {
    let mut url = request.url.clone();
    let mut authorization = request.authorization.clone();
    for _ in 0..=MOST_REDIRECTS {
        let response = send(clients, request, &url, authorization.as_ref()).await?;
        if !response.status().is_redirection() {
            return read(request, response).await;
        }
        let target = response.headers().get(LOCATION);
        let Some(target) = target else { return read(request, response).await };
        let refused = |target: &str, reason| Error::Redirect {
            registry: request.registry.to_owned(),
            target: one_line(target),
            reason,
        };
        let text = String::from_utf8_lossy(target.as_bytes()).into_owned();
        let Ok(next) = url.join(&text) else {
            return Err(refused(&text, "it is not a URL"));
        };
        let shown = format!("{}://{}", next.scheme(), next.host_str().unwrap_or_default());
        if request.form.is_some() {
            return Err(refused(&shown, "the request carries a token"));
        }
        let is_plain_here = url.scheme() == "http" && is_loopback(&url);
        match next.scheme() {
            "https" => {}
            "http" if is_plain_here && is_loopback(&next) => {}
            _ => return Err(refused(&shown, "the connection would not be encrypted")),
        }
        let origin = |url: &Url| (url.host_str().map(str::to_owned), url.port_or_known_default());
        if origin(&next) != origin(&url) || next.scheme() != url.scheme() {
            // Whoever the registry points at gets no credentials of the registry.
            authorization = None;
        }
        url = next;
    }
    Err(Error::Redirect {
        registry: request.registry.to_owned(),
        target: one_line(url.host_str().unwrap_or_default()),
        reason: "there are too many redirects",
    })
}

async fn send(
    clients: &Clients,
    request: &Request<'_>,
    url: &Url,
    authorization: Option<&HeaderValue>,
) -> Result<Response, Error> {
    let mut builder = clients.of(url).request(request.method.clone(), url.clone());
    builder = builder.header(ACCEPT, request.accept).header(ACCEPT_ENCODING, "identity");
    if let Some(value) = authorization {
        builder = builder.header(AUTHORIZATION, value.clone());
    }
    if let Some(form) = &request.form {
        let kind = "application/x-www-form-urlencoded";
        builder = builder.header("content-type", kind).body(form.clone());
    }
    builder.send().await.map_err(|error| unreached(request.registry, &error.without_url()))
}

/// The body, as far as its limit; more is an error, unless it is one already.
async fn read(request: &Request<'_>, mut response: Response) -> Result<Reply, Error> {
    let (status, headers) = (response.status(), response.headers().clone());
    let registry = || request.registry.to_owned();
    let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
    if status.is_success() && encoding.is_some_and(|encoding| encoding != b"identity") {
        // Nothing is unpacked: what is small on the wire can be any size behind it.
        let reason = "it is compressed, which was not asked for".to_owned();
        return Err(Error::Malformed { registry: registry(), what: request.what, reason });
    }
    let limit = if status.is_success() { request.limit } else { ERROR_BODY_BYTES };
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| unreached(request.registry, &error.without_url()))?
    {
        if body.len() + chunk.len() > limit {
            if status.is_success() {
                return Err(Error::TooLarge { registry: registry(), what: request.what, limit });
            }
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Reply { status, headers, body })
}

/// An io::Error hides what it wraps from `source`, and may wrap another one.
fn is_of_tls(cause: &(dyn std::error::Error + 'static)) -> bool {
    let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    cause.is::<rustls::Error>() || inner.is_some_and(|inner| is_of_tls(inner))
}

fn unreached(registry: &str, error: &reqwest::Error) -> Error {
    let mut reason = error.to_string();
    let mut is_tls = false;
    let mut next = error.source();
    while let Some(cause) = next {
        is_tls |= is_of_tls(cause);
        reason = cause.to_string();
        next = cause.source();
    }
    let (registry, reason) = (registry.to_owned(), one_line(&reason));
    if is_tls {
        Error::Untrusted { registry, reason }
    } else {
        Error::Unreachable { registry, reason }
    }
}
