//! Values that look random and are public: hashes, identifiers, versions, paths, names, code.

/// The value is nothing that a variable with a secretive name would hide.
pub(crate) fn is_public(value: &[u8]) -> bool {
    is_of_a_kind(value) || is_made_of_words(value)
}

/// The value says by its form what it is, and that this is no secret.
pub(crate) fn is_of_a_kind(value: &[u8]) -> bool {
    is_digest(value)
        || is_uuid(value)
        || is_path_or_address(value)
        || is_version_or_number(value)
        || is_public_key(value)
}

/// `sha256:…`, `sha512-…`, `md5=…`, `$2b$…`: the value says that it is a hash.
fn is_digest(value: &[u8]) -> bool {
    let crypt = matches!(value, [b'$', rest @ ..] if rest.iter().take(12).any(|b| *b == b'$'));
    crypt
        || [
            b"sha1".as_slice(),
            b"sha224",
            b"sha256",
            b"sha384",
            b"sha512",
            b"md5",
            b"h1:",
            b"blake",
        ]
        .iter()
        .any(|name| starts_with_ignoring_case(value, name))
}

pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A path begins with a place and goes on in words. Base64 can begin with a slash too, so the words
/// are looked at. A file is known by the end of its name.
fn is_path_or_address(value: &[u8]) -> bool {
    const ENDINGS: &[&[u8]] = &[
        b".pem",
        b".key",
        b".crt",
        b".json",
        b".yaml",
        b".yml",
        b".txt",
        b".env",
        b".toml",
        b".sh",
        b".conf",
        b".js",
        b".ts",
        b".py",
        b".go",
        b".rs",
        b".com",
        b".org",
        b".net",
        b".io",
        b".local",
        b".svc",
        b".internal",
        b".xml",
        b".html",
        b".php",
    ];
    let placed = [b"/".as_slice(), b"./", b"../", b"~/", b"C:\\"]
        .iter()
        .any(|place| value.starts_with(place));
    let words = value.split(|byte| matches!(byte, b'/' | b'\\')).all(is_name);
    (placed && words)
        || value.starts_with(b"arn:")
        || value.windows(3).any(|window| window == b"://")
        || ENDINGS.iter().any(|ending| value.to_ascii_lowercase().ends_with(ending))
}

/// `1.2.3-rc.1`, `v2024.10.05`, `10_000`, `2024-01-01T00:00:00Z`: digits, dots, and few letters.
fn is_version_or_number(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let marks = value.iter().filter(|byte| matches!(byte, b'.' | b'-' | b':' | b'_')).count();
    letters == 0 || (letters <= 4 && marks >= 2)
}

/// `my-secret-name`, `config.database.password`, `projects/p1/secrets/s2`, `GetPasswordFromVault`.
fn is_made_of_words(value: &[u8]) -> bool {
    let is_mark = |byte: &u8| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'@' | b',' | b'+');
    value.split(is_mark).all(is_name)
}

/// Letters that could be words, or a number, or a word and a short number.
fn is_name(part: &[u8]) -> bool {
    let digits = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = part.get(..part.len() - digits).unwrap_or_default();
    if letters.is_empty() {
        return digits <= 8;
    }
    let vowels = letters.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
    let spoken = letters.len() <= 4 || (vowels * 5 >= letters.len() && letters.len() <= 30);
    digits <= 4 && letters.iter().all(u8::is_ascii_alphabetic) && spoken && has_few_humps(letters)
}

/// Camel case has a capital every few letters; random letters change every second one.
fn has_few_humps(letters: &[u8]) -> bool {
    let changes = letters
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() != b.is_ascii_lowercase()))
        .count();
    changes * 3 <= letters.len() + 3
}

/// An SSH public key, or base64 of a certificate or public key.
fn is_public_key(value: &[u8]) -> bool {
    [b"ssh-".as_slice(), b"ecdsa-", b"AAAAB3NzaC1", b"AAAAC3NzaC1", b"AAAAE2VjZHNh", b"age1"]
        .iter()
        .chain(&[b"MIIBIjANBgkq".as_slice(), b"LS0tLS1CRUdJTiBDRVJU", b"LS0tLS1CRUdJTiBQVUJM"])
        .any(|start| value.starts_with(start))
}

fn starts_with_ignoring_case(value: &[u8], start: &[u8]) -> bool {
    value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_values_are_told_from_random_ones() {
        for value in [
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "123e4567-e89b-12d3-a456-426614174000",
            "/run/secrets/db_password",
            "./certs/server.key",
            "https://vault.internal/v1",
            "$2b$12$EixZaYVK1fsbw1ZfbX3OXe",
            "arn:aws:iam::123456789012:role/x",
            "v1.2.3-rc.1",
            "20240101",
            "my-secret-name",
            "config.database.password",
            "projects/p1/secrets/s2",
            "GetPasswordFromVault",
            "Microsoft.Extensions.Configuration",
            "ssh-ed25519",
        ] {
            assert!(is_public(value.as_bytes()), "{value}");
        }
        for value in ["9fKq2LmZx7RtYw4Bv1Nc", "qPzXkVbNmWrTlKjH", "a3f5c9d2e8b1f4a7", "/K7mDq/9bPx"]
        {
            assert!(!is_public(value.as_bytes()), "{value}");
        }
    }
}
