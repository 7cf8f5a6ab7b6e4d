//! Places that keep packages and images.

use crate::{
    check,
    rule::{Rule, UUID},
};

pub(super) const RULES: &[Rule] = &[
    // Thirty random base62 characters and their CRC32 in six digits of base62.
    Rule::token("npm-token", "npm access token", &["npm_"], "[A-Za-z0-9]{36}")
        .checked(check::crc32_after_prefix),
    // An identifier; it still works where it was made before 2021.
    Rule::assigned("npm-legacy-token", "npm legacy access token", &["_authtoken"], UUID)
        .checked(check::in_context),
    // A macaroon in base64, whose start says pypi.org or test.pypi.org.
    Rule::token(
        "pypi-token",
        "PyPI API token",
        &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"],
        "[A-Za-z0-9_-]{50,}",
    ),
    // Thirty-two characters.
    Rule::token("crates-io-token", "crates.io API token", &["cio"], "[A-Za-z0-9]{32}"),
    // Forty-eight hexadecimal digits.
    Rule::token("rubygems-key", "RubyGems API key", &["rubygems_"], "[0-9a-f]{48}"),
    // Base32 in small letters.
    Rule::token("nuget-key", "NuGet API key", &["oy2"], "[a-z0-9]{43}"),
    // Twenty-seven characters for people, thirty-two for organizations.
    Rule::token(
        "docker-hub-token",
        "Docker Hub access token",
        &["dckr_pat_", "dckr_oat_"],
        "[A-Za-z0-9_-]{27,32}",
    ),
    // Base64 of user and password.
    Rule::after(
        "docker-config-auth",
        "registry password in a Docker configuration",
        &["\"auth\""],
        r#"\s{0,8}:\s{0,8}"([A-Za-z0-9+/]{8,512}={0,2})""#,
    )
    .checked(check::credentials_in_base64),
    // Seventy-three characters in all.
    Rule::token("artifactory-key", "JFrog Artifactory API key", &["AKCp"], "[A-Za-z0-9]{69}"),
    // Base64 that begins with `reftkn`.
    Rule::token("jfrog-reference-token", "JFrog reference token", &["cmVmdGtu"], "[A-Za-z0-9]{56}"),
    // Sixty hexadecimal digits.
    Rule::token("clojars-token", "Clojars deploy token", &["CLOJARS_"], "[0-9a-f]{60}"),
    // Forty hexadecimal digits, so the name is needed.
    Rule::assigned("cloudsmith-key", "Cloudsmith API key", &["cloudsmith"], "[0-9a-f]{40}"),
    // Thirty-two hexadecimal digits, so the name is needed.
    Rule::assigned("hex-pm-key", "Hex API key", &["hex_api_key"], "[0-9a-f]{32}"),
];
