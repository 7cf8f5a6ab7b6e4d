//! `file://` addresses: the path in one, and one with another path.

/// The parts of an address of a file.
pub(super) struct FileUri<'a> {
    /// `file://`, and a host if there is one.
    before: &'a str,
    /// Decoded.
    pub(super) path: String,
    /// Query and fragment.
    after: &'a str,
}

/// `None` for everything that is not such an address.
pub(super) fn split(text: &str) -> Option<FileUri<'_>> {
    let rest = text.strip_prefix("file://")?;
    let host = rest.find('/')?;
    if !matches!(rest.get(..host)?, "" | "localhost") {
        return None;
    }
    let (before, rest) = text.split_at_checked("file://".len() + host)?;
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (path, after) = rest.split_at_checked(end)?;
    Some(FileUri { before, path: decoded(path)?, after })
}

impl FileUri<'_> {
    pub(super) fn joined(&self, path: &str) -> String {
        format!("{}{}{}", self.before, encoded(path), self.after)
    }
}

fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let hex = (*first == b'%').then(|| others.get(..2)).flatten();
        let byte = hex
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { others.get(2..)? } else { others };
    }
    String::from_utf8(bytes).ok()
}

fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        // The characters that RFC 3986 allows in a path.
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}
