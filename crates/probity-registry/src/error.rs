//! Why a registry gave no answer that can be used, and what to do about it.

use std::time::Duration;

/// Texts of the other side are on one line, without control characters, and short.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("`{reference}` is not a valid image reference")]
    Reference { reference: String },
    #[error("{registry} cannot be reached: {reason}")]
    Unreachable { registry: String, reason: String },
    #[error("{registry} did not answer within the time limit")]
    Timeout { registry: String },
    #[error("the certificate of {registry} is not trusted: {reason}")]
    Untrusted { registry: String, reason: String },
    #[error("{registry} denies access to {repository}, or the repository does not exist")]
    Denied { registry: String, repository: String },
    #[error("{image} does not exist")]
    Missing { image: String },
    #[error("{registry} allows no further requests now")]
    TooManyRequests { registry: String, wait: Option<Duration> },
    #[error("the {what} that {registry} sends is larger than {limit} bytes")]
    TooLarge { registry: String, what: &'static str, limit: usize },
    #[error("{registry} sent content with the digest {actual} for {expected}")]
    WrongDigest { registry: String, expected: String, actual: String },
    #[error("{registry} redirects to {target}, which is not followed: {reason}")]
    Redirect { registry: String, target: String, reason: &'static str },
    #[error("the {what} that {registry} sends cannot be read: {reason}")]
    Malformed { registry: String, what: &'static str, reason: String },
    #[error("{registry} answers with status {status}: {said}")]
    Status { registry: String, status: u16, said: String },
    #[error("{registry} is not on this machine, so it is not asked over plain http")]
    Insecure { registry: String },
    #[error("the client cannot be prepared: {reason}")]
    Client { reason: String },
}

impl Error {
    /// What the reader can do, where there is something to do.
    #[must_use]
    pub fn way_out(&self) -> Option<String> {
        let text = match self {
            Self::Denied { registry, .. } => {
                format!("check the name, or log in with `docker login {registry}`")
            }
            Self::Untrusted { .. } => {
                "set SSL_CERT_FILE to the certificates of your authority, or put them into \
                 /etc/docker/certs.d/REGISTRY/ca.crt"
                    .to_owned()
            }
            Self::Timeout { .. } => "set a longer `--slow-checks-timeout`".to_owned(),
            Self::TooManyRequests { registry, wait: Some(wait) } => {
                let seconds = wait.as_secs();
                format!("try again in {seconds} s, or log in with `docker login {registry}`")
            }
            Self::TooManyRequests { registry, wait: None } => {
                format!("try again later, or log in with `docker login {registry}`")
            }
            Self::Unreachable { .. } => {
                "check the network and HTTPS_PROXY, or use `--slow-checks=off`".to_owned()
            }
            Self::Insecure { .. } => "remove it from `slow-checks.insecure-registries`".to_owned(),
            _ => return None,
        };
        Some(text)
    }

    /// Whether the same registry would answer nothing else for another image either.
    pub(crate) fn is_about_the_registry(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Untrusted { .. }
                | Self::TooManyRequests { .. }
                | Self::Insecure { .. }
        )
    }
}

/// Words of the other side as they can be shown.
pub(crate) fn one_line(text: &str) -> String {
    const MOST_CHARS: usize = 200;
    let clean = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    let words: String = clean.take(4 * MOST_CHARS).collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ").chars().take(MOST_CHARS).collect()
}
