//! Names of variables that promise a secret, and names that only look so.

const SECRET: [&str; 11] = [
    "apikey",
    "auth",
    "credential",
    "credentials",
    "key",
    "password",
    "pword",
    "passwd",
    "passphrase",
    "secret",
    "token",
];

/// Short words for a secret, as the last part of a name that has others: `GITHUB_PAT`, `DB_PWD`.
const SHORT: [&str; 2] = ["pat", "pwd"];

/// Parts that make a name harmless wherever they are.
const HARMLESS: [&str; 4] = ["public", "pub", "file", "version"];

/// Last parts that say what the value is: something about a secret, not the secret.
const ABOUT: &[&str] = &[
    "age",
    "alg",
    "algo",
    "algorithm",
    "alias",
    "arn",
    "backend",
    "bits",
    "class",
    "count",
    "curve",
    "dir",
    "directory",
    "disabled",
    "domain",
    "driver",
    "enabled",
    "endpoint",
    "expiration",
    "expires",
    "expiry",
    "field",
    "fingerprint",
    "format",
    "header",
    "host",
    "id",
    "interval",
    "issuer",
    "length",
    "lifetime",
    "limit",
    "location",
    "method",
    "mode",
    "name",
    "namespace",
    "path",
    "plugin",
    "policy",
    "port",
    "prefix",
    "provider",
    "realm",
    "region",
    "required",
    "ring",
    "rotation",
    "scheme",
    "scope",
    "server",
    "service",
    "size",
    "sock",
    "source",
    "strategy",
    "suffix",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
];

/// What stands before `KEY` in names of keys that everybody may know.
const OPEN_KEYS: &[&str] =
    &["cache", "foreign", "gpg", "group", "host", "partition", "pgp", "primary", "sort"];

/// Whether a variable of this name holds a secret, as far as its name tells.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    let parts: Vec<String> = name.split('_').map(str::to_ascii_lowercase).collect();
    let has_part = |list: &[&str]| parts.iter().any(|part| list.contains(&part.as_str()));
    let [before @ .., last] = parts.as_slice() else { return false };
    let is_short = SHORT.contains(&last.as_str()) && !before.is_empty();
    if !has_part(&SECRET) && !is_short || has_part(&HARMLESS) {
        return false;
    }
    // An access key's identifier is half of a login.
    let is_about = ABOUT.contains(&last.as_str()) && !has_part(&["access"]);
    let is_open_key = last == "key"
        && before.last().is_some_and(|part| OPEN_KEYS.contains(&part.as_str()))
        && before.iter().all(|part| !SECRET.contains(&part.as_str()));
    !is_about && !is_open_key
}

#[cfg(test)]
mod tests {
    use super::names_a_secret;

    #[test]
    fn names_are_judged_by_their_parts() {
        for name in
            ["auth", "AWS_ACCESS_KEY_ID", "My_Passwd", "_token_", "x__secret", "AWS_credentials"]
        {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["API_KEY", "PRIVATE_KEY", "id_secret", "GPG_SECRET_KEY", "URL_TOKEN", "GH_PAT"]
        {
            assert!(names_a_secret(name), "{name}");
        }
        for name in
            ["", "author", "tokens", "PUBLIC_KEY", "SECRET_FILE", "token_version", "API-KEY"]
                .iter()
                .chain(&["KMS_KEY_ALIAS", "AUTH_MODE", "auth_url", "KEY_ID", "PASSWORD_MIN_LENGTH"])
                .chain(&[
                    "GPG_KEY",
                    "SORT_KEY",
                    "SSH_AUTH_SOCK",
                    "TOKEN_TTL",
                    "SSH_PUB_KEY",
                    "PWD",
                    "PAT_X",
                ])
        {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
