//! Which files hold secrets, by their names: a table.

use std::path::Path;

/// How a row of the table is compared with a path below the root, letter case aside.
enum Pattern {
    /// A component of the path has this name: the directory itself and all below it.
    Component(&'static str),
    /// The last component is this.
    Name(&'static str),
    /// The last component begins with this.
    Prefix(&'static str),
    /// The last component begins with this and has no extension, as source files have.
    BarePrefix(&'static str),
    /// The last component is this with one of these extensions.
    Stem(&'static str, &'static [&'static str]),
    /// The last component ends with this.
    Suffix(&'static str),
    /// The path ends with these components.
    Tail(&'static str),
}

use Pattern::{BarePrefix, Component, Name, Prefix, Stem, Suffix, Tail};

const SENSITIVE: &[Pattern] = &[
    // Version control: hooks run, configuration holds credentials, history holds old secrets.
    Component(".git"),
    Component(".hg"),
    Component(".svn"),
    // Directories that exist to hold keys.
    Component(".ssh"),
    Component(".gnupg"),
    Component(".aws"),
    Component(".azure"),
    Component(".kube"),
    Component("gcloud"),
    Component(".password-store"),
    Component("keyrings"),
    // Environment files.
    Name(".env"),
    Prefix(".env."),
    Name(".envrc"),
    Suffix(".env"),
    // Private keys and stores of keys.
    BarePrefix("id_"),
    Prefix("id_rsa."),
    Prefix("id_dsa."),
    Prefix("id_ecdsa."),
    Prefix("id_ecdsa_sk."),
    Prefix("id_ed25519."),
    Prefix("id_ed25519_sk."),
    Suffix(".pem"),
    Suffix(".key"),
    Suffix(".skey"),
    Suffix(".p8"),
    Suffix(".p12"),
    Suffix(".pfx"),
    Suffix(".jks"),
    Suffix(".keystore"),
    Suffix(".kdbx"),
    Suffix(".ppk"),
    Suffix(".asc"),
    // Credentials of tools.
    Name(".npmrc"),
    Name(".yarnrc.yml"),
    Name(".pypirc"),
    Name(".netrc"),
    Name("_netrc"),
    Name(".git-credentials"),
    Name(".pgpass"),
    Name(".my.cnf"),
    Name(".htpasswd"),
    Name(".dockercfg"),
    Name("credentials.json"),
    Name("service-account.json"),
    Name(".vault-token"),
    Name("kubeconfig"),
    Prefix("kubeconfig."),
    Suffix(".kubeconfig"),
    Stem("secret", &["yaml", "yml", "json", "toml"]),
    Stem("secrets", &["yaml", "yml", "json", "toml"]),
    Suffix(".tfstate"),
    Suffix(".tfvars"),
    Tail(".docker/config.json"),
    Tail(".cargo/credentials.toml"),
    Tail(".cargo/credentials"),
    Tail(".gem/credentials"),
    Tail(".m2/settings.xml"),
    Tail(".config/gh/hosts.yml"),
];

/// Names that the table above would catch, but which are made to be read.
const HARMLESS: &[Pattern] = &[
    Name(".env.example"),
    Name(".env.sample"),
    Name(".env.template"),
    Name(".env.dist"),
    Name("example.env"),
    Name("sample.env"),
    // Public halves of key pairs.
    Suffix(".pub"),
];

/// Whether a path, given relative to the root, is one of a sensitive file.
#[must_use]
pub fn is_sensitive(path: &Path) -> bool {
    let components: Vec<String> = path
        .components()
        .map(|component| component.as_os_str().to_string_lossy().to_lowercase())
        .collect();
    let hit = |pattern: &Pattern| pattern.matches(&components);
    SENSITIVE.iter().any(hit) && (!HARMLESS.iter().any(hit) || below_a_sensitive(&components))
}

/// A harmless name does not excuse the directory it lies in.
fn below_a_sensitive(components: &[String]) -> bool {
    SENSITIVE.iter().any(|pattern| matches!(pattern, Component(_)) && pattern.matches(components))
}

impl Pattern {
    fn matches(&self, components: &[String]) -> bool {
        let last = components.last().map_or("", String::as_str);
        match self {
            Component(name) => components.iter().any(|component| component == name),
            Name(name) => last == *name,
            Prefix(prefix) => last.starts_with(prefix),
            BarePrefix(prefix) => last.starts_with(prefix) && !last.contains('.'),
            Stem(stem, extensions) => last
                .split_once('.')
                .is_some_and(|(name, extension)| name == *stem && extensions.contains(&extension)),
            Suffix(suffix) => last.ends_with(suffix),
            Tail(tail) => {
                let wanted: Vec<&str> = tail.split('/').collect();
                components.len() >= wanted.len()
                    && components.iter().rev().zip(wanted.iter().rev()).all(|(a, b)| a == b)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_sensitive;

    #[test]
    fn names_are_judged_by_the_table() {
        let cases = [
            (".git/config", true),
            ("sub/.git/hooks/pre-commit", true),
            (".git", true),
            (".gitignore", false),
            (".github/workflows/ci.yml", false),
            (".env", true),
            (".ENV", true),
            (".env.production", true),
            (".env.example", false),
            (".ssh/.env.example", true),
            ("prod.env", true),
            ("environment.rs", false),
            ("keys/id_rsa", true),
            ("keys/id_rsa.pub", false),
            ("keys/id_rsa.bak", true),
            ("keys/id_work", true),
            ("ID_ED25519", true),
            ("keys/id_work.pub", false),
            ("src/id_generator.py", false),
            ("src/identity", false),
            ("kubeconfig", true),
            ("deploy/kubeconfig.yaml", true),
            ("prod.kubeconfig", true),
            (".kube/config", true),
            ("kube/config", false),
            ("secrets.yaml", true),
            ("k8s/Secret.yml", true),
            ("secrets.rs", false),
            ("secrets/readme.md", false),
            ("external-secrets.yaml", false),
            ("tls/store.p12", true),
            ("home/.netrc", true),
            ("app/.npmrc", true),
            ("tls/server.pem", true),
            ("tls/server.KEY", true),
            ("src/key.rs", false),
            (".npmrc", true),
            (".docker/config.json", true),
            ("home/.docker/config.json", true),
            ("config.json", false),
            (".aws/credentials", true),
            ("payment.skey", true),
            ("", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_sensitive(Path::new(path)), expected, "{path}");
        }
    }
}
