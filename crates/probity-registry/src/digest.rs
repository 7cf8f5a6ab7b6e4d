//! Digests: `sha256:…`, and whether content has one.

use std::fmt;

use sha2::{Digest as _, Sha256, Sha512};

/// The name of a content by its hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(String);

impl Digest {
    /// None for an algorithm that is not known, or a value that is not one of that algorithm.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (algorithm, value) = text.split_once(':')?;
        let length = match algorithm {
            "sha256" => 64,
            "sha512" => 128,
            _ => return None,
        };
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (value.len() == length && value.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }

    /// The SHA-256 digest of a content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(format!("sha256:{}", hex(&Sha256::digest(content))))
    }

    /// The digest that a content has by this digest's algorithm.
    #[must_use]
    pub fn same_algorithm(&self, content: &[u8]) -> Self {
        if self.0.starts_with("sha512:") {
            return Self(format!("sha512:{}", hex(&Sha512::digest(content))));
        }
        Self::of(content)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_digests_of_known_algorithms_are_digests() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::parse(empty), Some(Digest::of(b"")));
        let long = format!("sha512:{}", "0".repeat(128));
        assert!(Digest::parse(&long).is_some_and(|digest| digest.same_algorithm(b"") != digest));
        for text in ["", "sha256:", "sha256:e3b0", "md5:d41d8cd98f00b204e9800998ecf8427e"] {
            assert_eq!(Digest::parse(text), None, "{text}");
        }
        assert_eq!(Digest::parse(&empty.to_uppercase()), None);
    }
}
