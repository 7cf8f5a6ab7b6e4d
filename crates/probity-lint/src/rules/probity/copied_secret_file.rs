//! Private keys and logins that are copied into an image.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` or `ADD` from the build context whose source looks like a private key or a
    /// credentials file.
    ///
    /// The rule compares file names and does not read the files:
    ///
    /// - SSH keys: `id_rsa`, `id_dsa`, `id_ecdsa`, `id_ed25519` and `*.ppk`. A destination with one
    ///   of the `id_` names counts, too.
    /// - Other keys and key stores: `*.key`, `*.p12`, `*.pfx`, `*.jks`, `*.keystore` and `*.kdbx`.
    /// - Credentials: `.netrc`, `.pypirc`, `.git-credentials`, `.env`, `.htpasswd`, `.pgpass`,
    ///   `.vault-token`, `credentials.json`, `service-account.json`, `kubeconfig`,
    ///   `.aws/credentials`, `.docker/config.json` and `.kube/config`.
    /// - Directories: `.ssh`, `.aws` and `.gnupg`.
    ///
    /// The rule ignores public keys. It ignores every source whose name contains `example`,
    /// `sample`, `template`, `public`, `pub` or `test`.
    ///
    /// # Why it is bad
    ///
    /// Everyone who can pull the image can read the secret, even if a later instruction deletes the
    /// file. Pass the secret with `RUN --mount=type=secret` or `--mount=type=ssh`, or pass it at
    /// run time.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// COPY deploy/id_rsa /root/.ssh/id_rsa
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN --mount=type=ssh git clone git@git.example.com:team/app.git
    /// ```
    CopiedSecretFile {
        name: "probity/copied-secret-file",
        severity: Warning,
        category: Security,
    }
}

const NAMES: &[&str] = &[
    ".aws",
    ".env",
    ".git-credentials",
    ".gnupg",
    ".htpasswd",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".vault-token",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "kubeconfig",
    "service-account.json",
];

const ENDINGS: &[&str] = &[".jks", ".kdbx", ".key", ".keystore", ".p12", ".pfx", ".ppk"];

/// Ends of longer paths.
const PATHS: &[&str] = &[".aws/credentials", ".docker/config.json", ".kube/config"];

const HARMLESS: &[&str] = &["example", "sample", "template", "public", "test", "pub"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in context.each_nested() {
        let Arguments::Transfer { sources, destination, .. } = &instruction.arguments else {
            continue;
        };
        let is_copy = matches!(instruction.keyword, Keyword::Copy | Keyword::Add);
        if !is_copy || instruction.flags_named("from").next().is_some() {
            continue;
        }
        let becomes_key = destination.as_ref().is_some_and(|it| is_private_key(&it.text));
        for source in sources.iter().filter(|source| becomes_key || is_secret(&source.text)) {
            let message =
                "everybody who has the image can read this secret; use RUN --mount=type=secret";
            findings.push(context.finding(source.span, message));
        }
    }
}

/// Whether a path is that of a private key, as ssh names them.
fn is_private_key(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.starts_with("id_") && NAMES.contains(&name)
}

fn is_secret(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'']).trim_end_matches(['/', '*']).trim_end_matches('/');
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    if path.contains("://") || HARMLESS.iter().any(|part| name.contains(part)) {
        return false;
    }
    let is_ending =
        ENDINGS.iter().any(|ending| name.ends_with(ending) && name.len() > ending.len());
    NAMES.contains(&name) || is_ending || PATHS.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::is_secret;
    use crate::engine::harness::check;

    const RULE: &str = "probity/copied-secret-file";

    #[test]
    fn the_source_is_underlined() {
        check(
            RULE,
            "\
FROM a
COPY --chown=1 app keys/id_ed25519 /b/
                   ^^^^^^^^^^^^^^^ everybody who has the image can read this secret; use RUN --mount=type=secret
COPY deploy /root/.ssh/id_rsa
     ^^^^^^ everybody who has the image can read this secret; use RUN --mount=type=secret
",
        );
    }

    #[test]
    fn names_are_judged_in_full() {
        for path in
            ["id_rsa", "./.ssh/", "tls/server.key", "\".env\"", ".docker/config.json", "a.p12"]
        {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            "id_rsa.pub",
            "server.crt",
            "ca.pem",
            ".env.example",
            "public.key",
            "config.json",
            "src/key",
            ".key",
            "https://a/b.key",
            "apt-archive.gpg",
            "test/server.keys",
        ] {
            assert!(!is_secret(path), "{path}");
        }
        check(RULE, "FROM a\nCOPY --from=b /root/.ssh /root/.ssh\n");
    }
}
