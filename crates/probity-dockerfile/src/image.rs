//! Image references: `registry/path:tag@digest`, taken apart and made canonical.
//!
//! The rules are those of the reference library that Docker and BuildKit share: a first element
//! without a dot, a colon or an upper-case letter is no registry, and an image without a registry is
//! on Docker Hub. Places in the input are kept, so that a rule can point at the tag.

#[cfg(test)]
mod tests;

use std::{error, fmt, ops::Range};

const DEFAULT_DOMAIN: &str = "docker.io";
const LEGACY_DEFAULT_DOMAIN: &str = "index.docker.io";
const OFFICIAL_PREFIX: &str = "library/";
const MAX_PATH_LENGTH: usize = 255;
const MAX_TAG_LENGTH: usize = 128;

/// An image reference in its canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRef {
    /// The registry, with its port. Empty in the rare case that a first element looks like a
    /// registry but is none (`a_b.c/d`), and then counts as part of the path.
    pub domain: String,
    /// The repository in the registry, `library/` included.
    pub path: String,
    pub tag: Option<String>,
    pub digest: Option<String>,
    /// Where the name stands in the input, in bytes; the tag and the digest come behind it.
    pub name_range: Range<usize>,
    pub tag_range: Option<Range<usize>>,
    pub digest_range: Option<Range<usize>>,
}

impl ImageRef {
    pub fn parse(reference: &str) -> Result<Self, ImageError> {
        if reference.is_empty() {
            return Err(ImageError::Empty);
        }
        if reference.len() == 64 && reference.bytes().all(is_lower_hex) {
            return Err(ImageError::Identifier { reference: reference.to_owned() });
        }
        let (domain, remainder) = split_domain(reference);
        // No name holds a colon or an at sign.
        let (name_and_tag, digest) = split_at_mark(remainder, '@');
        let (name, tag) = split_at_mark(name_and_tag, ':');
        let official = domain == DEFAULT_DOMAIN && !remainder.contains('/');
        let prefix = if official { OFFICIAL_PREFIX } else { "" };
        let path = format!("{prefix}{name}");
        if path.to_lowercase() != path {
            return Err(ImageError::UpperCase { name: path });
        }
        let (domain, path) = if is_domain(domain) && is_path(&path) {
            (domain.to_owned(), path)
        } else {
            (String::new(), format!("{domain}/{path}"))
        };
        if !is_path(&path) || !tag.is_none_or(is_tag) || !digest.is_none_or(is_digest) {
            return Err(ImageError::Format { reference: reference.to_owned() });
        }
        if path.len() > MAX_PATH_LENGTH {
            return Err(ImageError::TooLong { length: path.len() });
        }
        if let Some(digest) = digest {
            check_known_digest(digest)?;
        }
        let name_end = reference.len() - remainder.len() + name.len();
        let tag_end = name_end + tag.map_or(0, |tag| tag.len() + 1);
        Ok(Self {
            domain,
            path,
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
            name_range: 0..name_end,
            tag_range: tag.map(|_| name_end + 1..tag_end),
            digest_range: digest.map(|_| tag_end + 1..reference.len()),
        })
    }

    /// The canonical name, without tag and digest: `docker.io/library/alpine`.
    pub fn name(&self) -> String {
        if self.domain.is_empty() {
            self.path.clone()
        } else {
            format!("{}/{}", self.domain, self.path)
        }
    }

    /// The name as people write it, without tag and digest: `alpine`.
    pub fn familiar_name(&self) -> String {
        if self.domain != DEFAULT_DOMAIN {
            return self.name();
        }
        match self.path.strip_prefix(OFFICIAL_PREFIX) {
            Some(rest) if !rest.contains('/') => rest.to_owned(),
            _ => self.path.clone(),
        }
    }
}

/// The whole reference in its canonical form.
impl fmt::Display for ImageRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.name())?;
        if let Some(tag) = &self.tag {
            write!(formatter, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(formatter, "@{digest}")?;
        }
        Ok(())
    }
}

/// Why a text is no image reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    Empty,
    /// 64 hexadecimal digits, which would be taken for an image's identifier.
    Identifier {
        reference: String,
    },
    UpperCase {
        name: String,
    },
    Format {
        reference: String,
    },
    TooLong {
        length: usize,
    },
    UnknownDigestAlgorithm {
        digest: String,
    },
    /// A digest whose value does not have the form or the length of its algorithm.
    InvalidDigest {
        digest: String,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(formatter, "the image reference is empty"),
            Self::Identifier { reference } => {
                write!(formatter, "\"{reference}\" is an image identifier, not a name")
            }
            Self::UpperCase { name } => {
                write!(formatter, "the repository name \"{name}\" must be lowercase")
            }
            Self::Format { reference } => {
                write!(formatter, "\"{reference}\" is not a valid image reference")
            }
            Self::TooLong { length } => {
                write!(
                    formatter,
                    "the repository name has {length} characters, more than {MAX_PATH_LENGTH}"
                )
            }
            Self::UnknownDigestAlgorithm { digest } => {
                write!(formatter, "the digest \"{digest}\" has an unsupported algorithm")
            }
            Self::InvalidDigest { digest } => {
                write!(formatter, "the digest \"{digest}\" is not valid for its algorithm")
            }
        }
    }
}

impl error::Error for ImageError {}

/// Splits the registry off; the rest still has its tag and digest.
fn split_domain(reference: &str) -> (&str, &str) {
    let Some((first, rest)) = reference.split_once('/') else {
        return (DEFAULT_DOMAIN, reference);
    };
    match first {
        LEGACY_DEFAULT_DOMAIN => (DEFAULT_DOMAIN, rest),
        "localhost" => (first, rest),
        _ if first.contains(['.', ':']) || first.to_lowercase() != first => (first, rest),
        _ => (DEFAULT_DOMAIN, reference),
    }
}

fn split_at_mark(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// A host name, an IPv4 address or an IPv6 address in brackets, with or without a port.
fn is_domain(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    if !port.is_none_or(is_port) {
        return false;
    }
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let is_address_byte = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
        return !address.is_empty() && address.bytes().all(is_address_byte);
    }
    host.split('.').all(|component| {
        !component.is_empty()
            && !component.starts_with('-')
            && !component.ends_with('-')
            && component.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// Elements of lower-case letters and digits, with separators only between those.
fn is_path(text: &str) -> bool {
    text.split('/').all(|element| {
        let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = element.as_bytes();
        let separators = bytes.split(|byte| is_alphanumeric(*byte));
        bytes.first().copied().is_some_and(is_alphanumeric)
            && bytes.last().copied().is_some_and(is_alphanumeric)
            && separators.into_iter().all(|separator| {
                matches!(separator, b"" | b"." | b"_" | b"__")
                    || separator.iter().all(|byte| *byte == b'-')
            })
    })
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= MAX_TAG_LENGTH
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || byte == b'.' || byte == b'-')
}

/// The general form; whether the algorithm is known is another question.
fn is_digest(text: &str) -> bool {
    let Some((algorithm, value)) = text.split_once(':') else { return false };
    algorithm.split(['-', '_', '+', '.']).all(|component| {
        component.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && component.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }) && value.len() >= 32
        && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn check_known_digest(digest: &str) -> Result<(), ImageError> {
    let (algorithm, value) = digest.split_once(':').unwrap_or((digest, ""));
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Err(ImageError::UnknownDigestAlgorithm { digest: digest.to_owned() }),
    };
    if value.len() == length && value.bytes().all(is_lower_hex) {
        Ok(())
    } else {
        Err(ImageError::InvalidDigest { digest: digest.to_owned() })
    }
}

fn is_lower_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}
