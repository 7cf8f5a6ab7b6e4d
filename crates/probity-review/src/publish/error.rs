//! Why something was not published, and what to do about it.

use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error("`{0}` is not the URL of an API")]
    BadEndpoint(String),
    #[error("`{0}` is not encrypted, and the token would be visible on the way")]
    Insecure(String),
    #[error("`{0}` is not a project of the form OWNER/NAME")]
    BadProject(String),
    #[error("the token contains characters that no token has")]
    BadToken,
    #[error("an HTTP client cannot be made: {0}")]
    Client(String),
    #[error("a runtime for requests cannot be started")]
    Runtime(#[source] std::io::Error),
    #[error("{host} cannot be reached: {why}")]
    Unreachable { host: String, why: String },
    #[error("cannot {what}: {host} answers {status}: {why}")]
    Rejected { what: &'static str, host: String, status: u16, why: String },
    #[error("cannot {what}: {host} allows no more requests for {} s", wait.map_or(0, |wait| wait.as_secs()))]
    TooManyRequests { what: &'static str, host: String, wait: Option<Duration> },
    #[error("cannot {what}: the answer of {host} has more than {limit} bytes")]
    TooLarge { what: &'static str, host: String, limit: usize },
    #[error("cannot {what}: the answer of {host} cannot be read")]
    Malformed { what: &'static str, host: String },
    #[error("pull request {number} is closed")]
    Closed { number: u64 },
    #[error("the review is of commit {review}, and the pull request is at {head}")]
    Moved { review: String, head: String },
}

impl PublishError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::BadEndpoint(_) | Self::Insecure(_) => {
                "name an https URL with --endpoint, such as https://api.github.com"
            }
            Self::BadProject(_) => "name the project with --project OWNER/NAME",
            Self::BadToken => "set the token again, without quotes and newlines",
            Self::Client(_) | Self::Runtime(_) => {
                "check the certificates and limits of this machine"
            }
            Self::Unreachable { .. } => "check --endpoint, the proxy and the network",
            Self::Rejected { status: 401, .. } => "the token is not valid: set a new one",
            Self::Rejected { status: 403, .. } => {
                "give the token the right to write to pull requests and statuses"
            }
            Self::Rejected { status: 404, .. } => {
                "check --project and --pull, and that the token may read the project"
            }
            Self::Rejected { .. } | Self::Malformed { .. } | Self::TooLarge { .. } => {
                "check --endpoint, and publish again later"
            }
            Self::TooManyRequests { .. } => "publish again later; what is there is not repeated",
            Self::Closed { .. } => "open the pull request again, or leave the review as a file",
            Self::Moved { .. } => "review the pull request as it is now, and publish that",
        }
    }

    /// Whether nothing that follows can succeed either.
    pub(super) fn ends_everything(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TooManyRequests { .. } => true,
            Self::Rejected { status, .. } => matches!(status, 401 | 403),
            _ => false,
        }
    }

    /// Whether the forge has no such endpoint.
    pub(super) fn is_unknown_endpoint(&self) -> bool {
        matches!(self, Self::Rejected { status: 404 | 405, .. })
    }

    /// Whether the token may not do this.
    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Rejected { status: 401 | 403 | 404, .. })
    }
}
