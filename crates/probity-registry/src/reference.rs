//! Image references: which registry, which repository, which tag or digest.

use std::fmt;

use crate::{Digest, Error};

const DOCKER_HUB: &str = "docker.io";

/// Longer repositories are refused everywhere.
const MOST_REPOSITORY_BYTES: usize = 255;

const MOST_TAG_BYTES: usize = 128;

/// An image in its canonical form. An image without tag and digest has the tag `latest`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// The registry as people write it, with its port: `docker.io`, `localhost:5000`.
    pub registry: String,
    /// `library/` included.
    pub repository: String,
    pub tag: Option<String>,
    pub digest: Option<Digest>,
}

impl Reference {
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::read(text).ok_or_else(|| Error::Reference { reference: text.to_owned() })
    }

    fn read(text: &str) -> Option<Self> {
        let (registry, rest) = match text.split_once('/') {
            Some(("index.docker.io", rest)) => (DOCKER_HUB, rest),
            Some((first, rest)) if first == "localhost" || first.contains(['.', ':']) => {
                (first, rest)
            }
            _ => (DOCKER_HUB, text),
        };
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => (rest, Some(Digest::parse(digest)?)),
            None => (rest, None),
        };
        let (path, tag) = match rest.split_once(':') {
            Some((path, tag)) => (path, Some(tag)),
            None => (rest, None),
        };
        let repository = if registry == DOCKER_HUB && !path.contains('/') {
            format!("library/{path}")
        } else {
            path.to_owned()
        };
        let is_valid = is_registry(registry)
            && repository.len() <= MOST_REPOSITORY_BYTES
            && repository.split('/').all(is_component)
            && tag.is_none_or(is_tag);
        let tag = match (tag, &digest) {
            (None, None) => Some("latest".to_owned()),
            (tag, _) => tag.map(str::to_owned),
        };
        is_valid.then(|| Self { registry: registry.to_owned(), repository, tag, digest })
    }

    /// The repository with its registry.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.registry, self.repository)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(formatter, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(formatter, "@{digest}")?;
        }
        Ok(())
    }
}

/// A host name or an address with or without a port. It goes into a URL, so nothing else passes.
pub(crate) fn is_registry(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_digits = |port: &str| port.parse::<u16>().is_ok();
    let is_name = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.split('.').all(is_name),
    };
    is_host && port.is_none_or(is_digits)
}

/// Lower-case letters and digits, with `.`, `_`, `__` or dashes only between those.
fn is_component(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends_plain =
        [bytes.first(), bytes.last()].iter().all(|byte| byte.is_some_and(|byte| is_plain(*byte)));
    ends_plain
        && bytes.split(|byte| is_plain(*byte)).all(|separator| {
            matches!(separator, b"" | b"." | b"_" | b"__")
                || separator.iter().all(|byte| *byte == b'-')
        })
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= MOST_TAG_BYTES
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn references_have_docker_s_defaults() {
        for (text, expected) in [
            ("alpine", "docker.io/library/alpine:latest"),
            ("alpine:3.20", "docker.io/library/alpine:3.20"),
            ("index.docker.io/alpine", "docker.io/library/alpine:latest"),
            ("grafana/loki:3", "docker.io/grafana/loki:3"),
            ("localhost/a", "localhost/a:latest"),
            ("localhost:5000/a/b:1", "localhost:5000/a/b:1"),
            ("[::1]:5000/a:1", "[::1]:5000/a:1"),
            ("ghcr.io/o/n", "ghcr.io/o/n:latest"),
            ("host.example:443/a", "host.example:443/a:latest"),
        ] {
            let reference = Reference::parse(text).map(|reference| reference.to_string());
            assert_eq!(reference, Ok(expected.to_owned()), "{text}");
        }
        let pinned =
            Reference::parse(&format!("alpine:3@{DIGEST}")).map(|reference| reference.to_string());
        assert_eq!(pinned, Ok(format!("docker.io/library/alpine:3@{DIGEST}")));
        let by_digest =
            Reference::parse(&format!("alpine@{DIGEST}")).map(|reference| reference.tag);
        assert_eq!(by_digest, Ok(None));
    }

    #[test]
    fn nothing_else_reaches_a_url() {
        for text in [
            "",
            "/",
            "a//b",
            "Alpine",
            "a:",
            "a:-x",
            "a@sha256:1",
            "a b",
            "a?x=1",
            "a/../b",
            "user@host.example/a",
            "host.example:99999/a",
            "evil.example#/a",
            "a:1:2",
            "ho_st.x/a",
            "[::g]:1/a",
            "a:t@b",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }
}
