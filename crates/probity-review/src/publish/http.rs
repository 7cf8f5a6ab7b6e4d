//! Requests to a forge: bounded, encrypted, and repeated only if the forge has refused them for now.

use std::{
    cell::Cell,
    error::Error as _,
    net::IpAddr,
    sync::Once,
    time::{Duration, SystemTime},
};

use reqwest::{
    Client, Method, Response, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT},
    redirect::Policy,
};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::{ForgeKind, PublishError, PullTarget};
use crate::clean::one_line;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const REQUEST_LIMIT: Duration = Duration::from_secs(60);
/// Of one answer.
const MOST_BYTES: usize = 32 << 20;
/// Of a list, each with up to a hundred entries.
const MOST_PAGES: usize = 50;
/// How long all requests together wait because the forge asks for it.
const PATIENCE: Duration = Duration::from_secs(90);

/// How many entries a page has, and what the parameter is called.
#[derive(Clone, Copy)]
pub(super) enum PageSize {
    Exactly(&'static str, usize),
    /// An administrator may have set a lower limit, so a short page is not the last one.
    AtMost(&'static str, usize),
}

/// One forge, as one account.
pub(super) struct Http {
    runtime: Runtime,
    client: Client,
    base: Url,
    headers: HeaderMap,
    /// What is left of the patience.
    patience: Cell<Duration>,
}

impl Http {
    pub(super) fn new(target: &PullTarget) -> Result<Self, PublishError> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // It fails if somebody else has installed one, which serves as well.
            drop(rustls::crypto::ring::default_provider().install_default());
        });
        let shown = || one_line(&target.endpoint, 200);
        let base = Url::parse(&format!("{}/", target.endpoint.trim_end_matches('/')));
        let base = base.map_err(|_| PublishError::BadEndpoint(shown()))?;
        let is_here = is_loopback(&base);
        match base.scheme() {
            "https" => {}
            "http" if is_here => {}
            "http" => return Err(PublishError::Insecure(shown())),
            _ => return Err(PublishError::BadEndpoint(shown())),
        }
        // A redirect could take the token to another host.
        let mut builder = Client::builder().redirect(Policy::none()).referer(false);
        builder = builder.connect_timeout(CONNECT_LIMIT).timeout(REQUEST_LIMIT);
        if is_here {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| PublishError::Client(cause(&error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self {
            runtime: runtime.map_err(PublishError::Runtime)?,
            client,
            base,
            headers: headers(target)?,
            patience: Cell::new(PATIENCE),
        })
    }

    pub(super) fn get(&self, what: &'static str, path: &str) -> Result<Value, PublishError> {
        self.send(what, Method::GET, path, None)
    }

    /// Sends a request, and reads its answer; no answer is null.
    pub(super) fn send(
        &self,
        what: &'static str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, PublishError> {
        let answer = self.bytes(what, &method, path, body)?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        let host = self.host();
        serde_json::from_slice(&answer).map_err(|_| PublishError::Malformed { what, host })
    }

    pub(super) fn text(&self, what: &'static str, path: &str) -> Result<String, PublishError> {
        let answer = self.bytes(what, &Method::GET, path, None)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// All entries of a list that comes in pages of `size`.
    pub(super) fn list(
        &self,
        what: &'static str,
        path: &str,
        size: PageSize,
    ) -> Result<Vec<Value>, PublishError> {
        let (name, size, mut longest) = match size {
            PageSize::Exactly(name, size) => (name, size, size),
            PageSize::AtMost(name, size) => (name, size, 1),
        };
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let sign = if path.contains('?') { '&' } else { '?' };
            let found = self.get(what, &format!("{path}{sign}{name}={size}&page={page}"))?;
            let Value::Array(entries) = found else {
                return Err(PublishError::Malformed { what, host: self.host() });
            };
            let count = entries.len();
            all.extend(entries);
            if count < longest {
                break;
            }
            longest = count;
        }
        Ok(all)
    }

    pub(super) fn host(&self) -> String {
        self.base.host_str().unwrap_or_default().to_owned()
    }

    pub(super) fn malformed(&self, what: &'static str) -> PublishError {
        PublishError::Malformed { what, host: self.host() }
    }

    fn bytes(
        &self,
        what: &'static str,
        method: &Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Vec<u8>, PublishError> {
        let url = self.url(path)?;
        loop {
            let (status, headers, answer) = self.once(what, method, &url, body)?;
            if status.is_success() {
                return Ok(answer);
            }
            let host = self.host();
            let Some(wait) = asked_to_wait(status, &headers) else {
                let why = told(status, &answer);
                return Err(PublishError::Rejected { what, host, status: status.as_u16(), why });
            };
            // A request that was refused for now was not carried out, whatever its method.
            let left = self.patience.get().checked_sub(wait.max(Duration::from_millis(100)));
            let Some(left) = left else {
                return Err(PublishError::TooManyRequests { what, host, wait: Some(wait) });
            };
            self.patience.set(left);
            std::thread::sleep(wait);
        }
    }

    fn once(
        &self,
        what: &'static str,
        method: &Method,
        url: &Url,
        body: Option<&Value>,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), PublishError> {
        let mut request = self.client.request(method.clone(), url.clone());
        request = request.headers(self.headers.clone());
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let host = self.host();
        let unreachable = |error: reqwest::Error| PublishError::Unreachable {
            host: host.clone(),
            why: cause(&error.without_url()),
        };
        self.runtime.block_on(async {
            let mut response: Response = request.send().await.map_err(unreachable)?;
            let (status, headers) = (response.status(), response.headers().clone());
            let mut answer = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
                if answer.len() + chunk.len() > MOST_BYTES {
                    let host = self.host();
                    return Err(PublishError::TooLarge { what, host, limit: MOST_BYTES });
                }
                answer.extend_from_slice(&chunk);
            }
            Ok((status, headers, answer))
        })
    }

    /// Below the base, or a whole URL of the same host.
    fn url(&self, path: &str) -> Result<Url, PublishError> {
        let bad = || PublishError::BadEndpoint(one_line(path, 200));
        let url = self.base.join(path).map_err(|_| bad())?;
        let is_same = url.host_str() == self.base.host_str() && url.scheme() == self.base.scheme();
        if is_same { Ok(url) } else { Err(bad()) }
    }
}

fn headers(target: &PullTarget) -> Result<HeaderMap, PublishError> {
    let token = target.token.expose_secret().trim();
    let (name, value) = match target.forge {
        ForgeKind::Github => (AUTHORIZATION, format!("Bearer {token}")),
        ForgeKind::Gitlab => {
            ("private-token".parse().map_err(|_| PublishError::BadToken)?, token.to_owned())
        }
        ForgeKind::Gitea => (AUTHORIZATION, format!("token {token}")),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| PublishError::BadToken)?;
    value.set_sensitive(true);
    let accept = match target.forge {
        ForgeKind::Github => "application/vnd.github+json",
        ForgeKind::Gitlab | ForgeKind::Gitea => "application/json, text/plain",
    };
    let mut headers = HeaderMap::new();
    headers.insert(name, value);
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    let agent = concat!("probity/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    Ok(headers)
}

/// How long a forge asks us to wait, if that is what it does.
fn asked_to_wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |name: &str| text(name).and_then(|value| value.trim().parse::<u64>().ok());
    let is_used_up = number("x-ratelimit-remaining") == Some(0);
    let is_limit = status == StatusCode::TOO_MANY_REQUESTS
        || (status == StatusCode::FORBIDDEN && (is_used_up || text("retry-after").is_some()));
    if !is_limit {
        return None;
    }
    let reset = number("x-ratelimit-reset").or_else(|| number("ratelimit-reset"));
    let until = reset.map(|reset| {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(reset.min(1 << 40));
        then.duration_since(SystemTime::now()).unwrap_or_default()
    });
    let wait = number("retry-after").map(Duration::from_secs).or(until);
    Some(wait.unwrap_or(Duration::from_secs(60)))
}

/// What the forge says, on one line.
fn told(status: StatusCode, answer: &[u8]) -> String {
    let said = serde_json::from_slice::<Value>(answer).ok().and_then(|answer| {
        let words = ["/message", "/error/message", "/error", "/errors/0/message"];
        let found = words.iter().find_map(|pointer| answer.pointer(pointer));
        found.map(|found| found.as_str().map_or_else(|| found.to_string(), str::to_owned))
    });
    let usual = || status.canonical_reason().unwrap_or("no reason").to_owned();
    one_line(&said.unwrap_or_else(usual), 300)
}

/// The innermost cause has the words.
fn cause(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(inner) = next {
        words = inner.to_string();
        next = inner.source();
    }
    one_line(&words, 300)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost",
    }
}
