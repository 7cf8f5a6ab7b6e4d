//! A key, and the certainty that it is shown nowhere.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

/// The secret that opens a chat API, and where it came from.
pub struct ApiKey {
    secret: SecretString,
    origin: String,
}

/// Why a key cannot be sent, without the key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadKey {
    #[error("the key in {0} is empty")]
    Empty(String),
    #[error("the key in {0} has a character that no key has")]
    Character(String),
}

impl ApiKey {
    /// `origin` is shown to people in its place: usually the environment variable it was read from.
    #[must_use]
    pub fn new(secret: &str, origin: impl Into<String>) -> Self {
        // Keys read from files come with the newline of the file.
        Self { secret: SecretString::from(secret.trim()), origin: origin.into() }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn check(&self) -> Result<(), BadKey> {
        if self.expose().is_empty() {
            return Err(BadKey::Empty(self.origin.clone()));
        }
        self.header("").map(drop).ok_or_else(|| BadKey::Character(self.origin.clone()))
    }

    /// Never printed by anything that prints headers.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.expose())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    pub(crate) fn expose(&self) -> &str {
        self.secret.expose_secret()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey(from {})", self.origin)
    }
}
