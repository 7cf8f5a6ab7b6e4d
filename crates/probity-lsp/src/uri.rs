//! `file:` URIs to paths and back.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use gen_lsp_types::Uri;

/// The path that a URI names; none for documents that are no files.
pub(crate) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    // Between the slashes there may be a host, which is this one.
    let path = rest.get(rest.find('/')?..)?;
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| after.get(..2)).flatten().and_then(hex);
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

fn hex(digits: &[u8]) -> Option<u8> {
    // `from_str_radix` would take a sign.
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The URI of an absolute path.
pub(crate) fn of_path(path: &Path) -> Uri {
    let mut text = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_as_they_were() {
        for path in ["/a/Dockerfile", "/ü b/50%/#x?y/Dockerfile", "/a+b/😀"] {
            assert_eq!(to_path(&of_path(Path::new(path))), Some(PathBuf::from(path)));
        }
        for (uri, path) in [
            ("file://localhost/a", Some("/a")),
            ("file:///a%20b%zz", Some("/a b%zz")),
            ("untitled:Untitled-1", None),
        ] {
            assert_eq!(to_path(&Uri::from(uri)), path.map(PathBuf::from), "{uri}");
        }
    }
}
