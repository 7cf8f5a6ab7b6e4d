//! Paths as the URIs that SARIF wants.

use std::fmt::Write as _;

use serde::Serialize;

/// The name of the directory that relative paths start from.
pub(crate) const BASE: &str = "%SRCROOT%";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

impl ArtifactLocation {
    pub(crate) fn new(path: &str) -> Self {
        if path.starts_with('/') {
            return Self { uri: format!("file://{}", encode(path)), uri_base_id: None };
        }
        Self { uri: encode(path), uri_base_id: Some(BASE) }
    }
}

/// Percent-encodes all but slashes and what RFC 3986 calls unreserved. A colon in the first segment
/// would otherwise make a scheme of what is before it.
fn encode(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        for (path, uri, base) in [
            ("a/b.Dockerfile", "a/b.Dockerfile", Some(BASE)),
            ("../x y", "../x%20y", Some(BASE)),
            ("c:d#e?f%20", "c%3Ad%23e%3Ff%2520", Some(BASE)),
            ("ü\n", "%C3%BC%0A", Some(BASE)),
            ("/tmp/a b", "file:///tmp/a%20b", None),
        ] {
            let expected = ArtifactLocation { uri: uri.to_owned(), uri_base_id: base };
            assert_eq!(ArtifactLocation::new(path), expected);
        }
    }
}
