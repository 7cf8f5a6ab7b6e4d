//! Which files hold secrets, by their names.
//!
//! A name is understood once: what editors and people add to it comes off (`.env.bak`, `#.env#`,
//! `.env (copy)`), its letter case does not count, and its words count however they are joined. Then
//! it is looked up among names, or it says by its words and its extension what it is: an environment,
//! a secret in a file of data, a key, a state, a history. Source code about secrets is not one of them.

mod name;
mod table;

use std::path::Path;

use self::{
    name::Name,
    table::{DIRECTORIES, KEYS, NAMES, STATES, TAILS},
};

/// Names of environments, which tell one copy of a configuration from another.
const ENVIRONMENTS: &[&str] = &[
    "ci",
    "dev",
    "develop",
    "development",
    "docker",
    "live",
    "local",
    "preprod",
    "preview",
    "prod",
    "production",
    "qa",
    "release",
    "sandbox",
    "stage",
    "staging",
    "test",
    "testing",
    "uat",
];

/// Words that say that a file shows the form, not the content.
const FORMS: &[&str] = &[
    "dist",
    "example",
    "examples",
    "placeholder",
    "sample",
    "samples",
    "schema",
    "skel",
    "stub",
    "template",
    "templates",
    "tmpl",
    "tpl",
];

/// The same, at the end of a name: `application_default_credentials.json` is none.
const DEFAULTS: &[&str] = &["default", "defaults"];

/// Extensions of data, in which programs keep what they know.
const DATA: &[&str] = &[
    "b64",
    "cfg",
    "conf",
    "config",
    "csv",
    "dat",
    "db",
    "env",
    "ini",
    "json",
    "json5",
    "jsonc",
    "pickle",
    "pkl",
    "plist",
    "properties",
    "toml",
    "tsv",
    "txt",
    "xml",
    "yaml",
    "yml",
];

/// Extensions of source code and text about environments and states.
const SOURCES: &[&str] = &[
    "adoc", "c", "cc", "cjs", "cpp", "cs", "go", "h", "html", "java", "js", "jsx", "kt", "md",
    "mdx", "mjs", "php", "py", "rb", "rs", "rst", "scala", "swift", "ts", "tsx", "vue",
];

/// What is one by itself, at the end of a name.
const SECRETS: &[&str] = &[
    "apikey",
    "apikeys",
    "cred",
    "credential",
    "credentials",
    "creds",
    "passphrase",
    "password",
    "passwords",
    "privatekey",
    "rootkey",
    "secret",
    "secrets",
    "token",
];

/// What is one after one of the words that follow.
const QUALIFIED: &[&str] = &["key", "keys", "tokens", "pass"];
const QUALIFIERS: &[&str] = &[
    "access",
    "account",
    "api",
    "deploy",
    "dsa",
    "ecdsa",
    "ed25519",
    "encryption",
    "host",
    "master",
    "private",
    "root",
    "rsa",
    "secret",
    "service",
    "signing",
    "ssh",
    "vault",
];

/// Words that say that a file is about secrets and holds none: what is done with them, kinds of
/// resources that refer to them, and halves that are public.
const ABOUT: &[&str] = &[
    "change", "check", "csrf", "detect", "external", "forgot", "pub", "pubkey", "public", "reset",
    "rotate", "scan", "sealed", "validate", "verify",
];

/// Algorithms whose names private keys have.
const ALGORITHMS: &[&str] = &["dsa", "ecdsa", "ed25519", "rsa"];

/// What is published beside a signature.
const SIGNED: &[&str] = &[
    "apk", "bz2", "deb", "dmg", "exe", "gz", "iso", "jar", "msi", "pom", "rpm", "tar", "tgz",
    "war", "whl", "xz", "zip", "zst",
];

/// Whether a path, given relative to the root, is one of a sensitive file, or lies in a sensitive
/// directory.
#[must_use]
pub fn is_sensitive(path: &Path) -> bool {
    let components = components(path);
    let Some((last, parents)) = components.split_last() else { return false };
    is_directory(&components) || is_file(last, parents)
}

/// Whether a path is one of a sensitive directory, or lies in one. A directory `secrets` of source
/// code is none, though a file of that name would be sensitive.
#[must_use]
pub fn is_sensitive_directory(path: &Path) -> bool {
    is_directory(&components(path))
}

fn components(path: &Path) -> Vec<String> {
    path.components()
        .map(|component| component.as_os_str().to_string_lossy().into_owned())
        .collect()
}

fn is_directory(components: &[String]) -> bool {
    let mut ends = (1..=components.len()).filter_map(|end| components.get(..end));
    ends.any(|path| DIRECTORIES.iter().any(|known| ends_with(path, known)))
}

fn is_file(given: &str, parents: &[String]) -> bool {
    is_memory(given) || Name::readings(given).iter().any(|name| is_named(name, parents))
}

fn is_named(name: &Name, parents: &[String]) -> bool {
    if is_key(name) {
        return true;
    }
    is_listed(name, parents) || (!is_form(name) && says_so(name, parents))
}

fn is_listed(name: &Name, parents: &[String]) -> bool {
    let is_named = |known: &&str| {
        name.plain == **known || known.strip_prefix('.').is_some_and(|bare| name.plain == bare)
    };
    let is_at = |tail: &&str| {
        let (directory, file) = tail.rsplit_once('/').unwrap_or(("", tail));
        name.plain == file && ends_with(parents, directory)
    };
    NAMES.iter().any(is_named) || TAILS.iter().any(is_at)
}

/// Whether a file shows the form and not the content: `.env.example`.
fn is_form(name: &Name) -> bool {
    let ends = [name.words.last().map(String::as_str), name.stem().last().copied()];
    name.has_word(FORMS) || ends.iter().flatten().any(|word| DEFAULTS.contains(word))
}

/// Whether the words and the extension say that a file is sensitive.
fn says_so(name: &Name, parents: &[String]) -> bool {
    is_environment(name)
        || is_state(name)
        || is_history(name)
        || is_secret(name)
        || is_kept(name, parents)
}

/// `core.1234` and `krb5cc_1000`: a process's memory and tickets, whose numbers are no decoration.
fn is_memory(given: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    ["core.", "krb5cc_"].iter().any(|start| given.strip_prefix(start).is_some_and(is_number))
}

/// Keys, their stores, and what is encrypted or signed with them.
fn is_key(name: &Name) -> bool {
    if name.has_extension(&["pub"]) || name.has_word(&["pub", "pubkey", "public", "publickey"]) {
        return false;
    }
    if name.has_extension(KEYS) {
        return !is_signature(name);
    }
    // `id_rsa`, `id_work`: no extension, as source files have.
    if name.plain.starts_with("id_") {
        let is_algorithm =
            name.words.get(1).is_some_and(|word| ALGORITHMS.contains(&word.as_str()));
        return name.extension.is_none() || is_algorithm;
    }
    let ends = name.words.last().is_some_and(|word| ALGORITHMS.contains(&word.as_str()));
    // `deploy_rsa`; what has many words describes a test, such as `Client-TLSv12-RSA-RSA`.
    name.extension.is_none() && ends && (2..=3).contains(&name.words.len())
}

/// A signature beside what it signs: `x.tar.gz.asc`.
fn is_signature(name: &Name) -> bool {
    let signed = name.plain.strip_suffix(".asc").and_then(|signed| signed.rsplit_once('.'));
    signed.is_some_and(|(_, extension)| SIGNED.contains(&extension))
}

/// `.env` with anything behind it, `x.env`, `env`, and `env.production`.
fn is_environment(name: &Name) -> bool {
    if name.has_extension(SOURCES) {
        return false;
    }
    let first = name.words.first().map_or("", String::as_str);
    if name.is_hidden && (first == "env" || first == "envrc") {
        return true;
    }
    let mut rest = name.words.iter().skip(1);
    let is_copy = first == "env" && rest.all(|word| ENVIRONMENTS.contains(&word.as_str()));
    let is_variables = name.plain.starts_with(".dev.vars");
    is_copy || is_variables || name.has_extension(&["env"])
}

fn is_state(name: &Name) -> bool {
    let is_inner = name.has_extension(&["json"]) && name.has_word(&["tfvars", "tfstate"]);
    // `kubeconfig.yaml`, `kubeconfig-prod`
    let is_cluster =
        name.words.first().is_some_and(|word| word == "kubeconfig") && !name.has_extension(SOURCES);
    let is_dump = name.has_extension(&["sql", "sqlite", "db"])
        && name.has_word(&["backup", "dump", "mysqldump", "pgdump"]);
    name.has_extension(STATES) || is_inner || is_cluster || is_dump
}

/// What was typed into a shell or a database, among it passwords.
fn is_history(name: &Name) -> bool {
    let is_program = name.is_hidden || name.words.len() > 1;
    is_program && name.extension.is_none() && name.plain.ends_with("history")
}

/// A file of data whose name ends with what it holds: `db_password`, `prod-secrets.yaml`.
fn is_secret(name: &Name) -> bool {
    let is_data = match name.extension {
        Some(_) => name.has_extension(DATA),
        None => !name.is_manual,
    };
    if !is_data {
        return false;
    }
    let mut stem = name.stem();
    if stem.first() == Some(&"client") && stem.get(1).is_some_and(|word| word.starts_with("secret"))
    {
        return true;
    }
    if stem.iter().any(|word| ABOUT.contains(word)) {
        return false;
    }
    // A Kubernetes manifest of this name holds no key.
    if stem.contains(&"service") && stem.last() == Some(&"account") || stem.contains(&"adminsdk") {
        return name.has_extension(&["json"]);
    }
    while stem.len() > 1 && stem.last().is_some_and(|word| ENVIRONMENTS.contains(word)) {
        stem.pop();
    }
    match stem.as_slice() {
        [.., before, last] if QUALIFIED.contains(last) => QUALIFIERS.contains(before),
        [.., last] => SECRETS.contains(last),
        [] => false,
    }
}

/// A file of data in a tool's own directory of credentials.
fn is_kept(name: &Name, parents: &[String]) -> bool {
    let Some((parent, above)) = parents.split_last() else { return false };
    SECRETS.contains(&parent.to_lowercase().as_str())
        && above.iter().any(|directory| directory.starts_with('.') && directory.len() > 1)
        && (name.extension.is_none() || name.has_extension(DATA))
}

/// Whether a path ends with these components, letter case aside.
fn ends_with(path: &[String], wanted: &str) -> bool {
    let wanted: Vec<&str> = wanted.split('/').collect();
    path.len() >= wanted.len()
        && path.iter().rev().zip(wanted.iter().rev()).all(|(a, b)| a.to_lowercase() == *b)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_sensitive, is_sensitive_directory};

    #[test]
    fn directories_are_judged_by_their_own_table() {
        for (path, expected) in [
            (".ssh", true),
            ("home/.AWS", true),
            ("run/secrets", true),
            ("run/secrets/database", true),
            ("src/secrets", false),
            ("src/credentials/store", false),
            ("id_card", false),
            ("", false),
        ] {
            assert_eq!(is_sensitive_directory(Path::new(path)), expected, "{path}");
        }
    }

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
            // As collections of configuration keep them.
            ("dotfiles/npmrc", true),
            ("dotfiles/bash_history", true),
            ("dotfiles/env", true),
            ("otr.private_key", true),
            ("Library/Application Support/doctl/config.yaml", true),
            ("man/man1/git-credential.1.gz", false),
            ("testdata/Client-TLSv12-ClientCert-RSA-RSA", false),
            ("history", false),
            ("", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_sensitive(Path::new(path)), expected, "{path}");
        }
    }
}
