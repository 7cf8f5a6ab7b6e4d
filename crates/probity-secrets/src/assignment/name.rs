//! The name that a keyword is part of, and whether it promises a secret.

use std::ops::Range;

/// Longest part of a name on either side of the keyword.
const REACH: usize = 64;

/// Words behind the keyword that say the value is something about a secret.
const ABOUT: &[&str] = &[
    "alg",
    "algorithm",
    "arn",
    "arg",
    "args",
    "attempts",
    "audience",
    "auth",
    "authority",
    "bucket",
    "cache",
    "char",
    "chars",
    "class",
    "column",
    "config",
    "count",
    "dir",
    "directory",
    "driver",
    "enabled",
    "endpoint",
    "engine",
    "env",
    "expiration",
    "expires",
    "expiry",
    "field",
    "file",
    "format",
    "group",
    "header",
    "hint",
    "host",
    "hours",
    "id",
    "ids",
    "index",
    "interval",
    "issuer",
    "label",
    "len",
    "length",
    "level",
    "lifetime",
    "limit",
    "list",
    "location",
    "manager",
    "max",
    "method",
    "min",
    "mode",
    "mount",
    "name",
    "namespace",
    "names",
    "op",
    "page",
    "param",
    "parameter",
    "path",
    "pattern",
    "placeholder",
    "policy",
    "position",
    "prefix",
    "provider",
    "public",
    "ref",
    "regex",
    "region",
    "required",
    "reset",
    "role",
    "scope",
    "scopes",
    "seconds",
    "selector",
    "server",
    "service",
    "size",
    "source",
    "store",
    "suffix",
    "target",
    "template",
    "timeout",
    "title",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
    "version",
];

/// Words before the keyword that say the same.
const ABOUT_BEFORE: &[&str] = &[
    "public",
    "pub",
    "sha",
    "sha1",
    "sha256",
    "sha512",
    "checksum",
    "hash",
    "hashed",
    "digest",
    "commit",
    "fingerprint",
    "integrity",
    "max",
    "min",
    "num",
    "pad",
    "eos",
    "bos",
    "unk",
    "mask",
    "special",
    "stop",
    "cache",
    "partition",
    "sort",
    "primary",
    "foreign",
    "encrypted",
    "sealed",
];

/// The whole name around the keyword at `hit`, where it promises a secret.
pub(super) fn around(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let head = text.get(hit.start.saturating_sub(REACH)..hit.start)?;
    let before = head.iter().rev().take_while(|byte| in_name(**byte)).count();
    let tail = text.get(hit.end..text.len().min(hit.end + REACH))?;
    let after = tail.iter().take_while(|byte| in_name(**byte)).count();
    let prefix = head.get(head.len() - before..)?;
    let suffix = tail.get(..after)?;
    let keyword = text.get(hit.clone())?;
    let promises = !is_glued_before(prefix, keyword)
        && !is_glued_after(keyword, suffix)
        && !words(suffix).any(|word| ABOUT.contains(&word.as_str()))
        && !words(prefix).any(|word| ABOUT_BEFORE.contains(&word.as_str()));
    promises.then_some(hit.start - before..hit.end + after)
}

/// Whether a name ends in a word for something that opens a door by itself: `NPM_TOKEN`, `apiKey`.
pub(super) fn is_of_a_token(text: &[u8], name: &Range<usize>) -> bool {
    let words: Vec<String> = words(text.get(name.clone()).unwrap_or_default()).collect();
    let last: Vec<&str> = words.iter().rev().take(2).map(String::as_str).collect();
    matches!(
        last.as_slice(),
        ["token" | "secret" | "password" | "passwd" | "apikey", ..]
            | ["key", "api" | "secret" | "access" | "auth"]
    )
}

/// Whether a name is written as those of the environment are: `DB_PASSWORD`.
pub(super) fn is_shouted(text: &[u8], name: &Range<usize>) -> bool {
    let name = text.get(name.clone()).unwrap_or_default();
    let is_shouted =
        |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    !name.is_empty() && name.iter().all(is_shouted)
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// A short keyword inside a word is an accident: `compass`, `cpwd`. In `dbPass` and `PGPASSWORD` it
/// is not.
fn is_glued_before(prefix: &[u8], keyword: &[u8]) -> bool {
    let Some(last) = prefix.last() else { return false };
    let hump = last.is_ascii_lowercase() && keyword.first().is_some_and(u8::is_ascii_uppercase);
    last.is_ascii_alphabetic() && !hump && keyword.len() <= 4
}

/// `tokenizer`, `passwords`, `SECRETS`: another word. `secretValue` and `password2` are not.
fn is_glued_after(keyword: &[u8], suffix: &[u8]) -> bool {
    let Some(first) = suffix.first() else { return false };
    let shouted = keyword.iter().all(|byte| !byte.is_ascii_lowercase());
    first.is_ascii_lowercase() || (first.is_ascii_uppercase() && shouted)
}

/// The words of a name, in lower case: `fooBar_baz-2` is foo, bar, baz, 2.
fn words(name: &[u8]) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut previous_was_small = false;
    for byte in name {
        let hump = previous_was_small && byte.is_ascii_uppercase();
        if hump || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (byte.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        previous_was_small = byte.is_ascii_lowercase();
    }
    words.into_iter().filter(|word| !word.is_empty())
}
