//! Credentials of registries, from the files and helpers that docker and podman use.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use probity_registry::Credential;
use probity_sandbox::{Backend, Exit, Spec};
use probity_scope::read_text;
use serde::Deserialize;

/// Larger than any file that `docker login` writes.
const MOST_BYTES: u64 = 1 << 20;

/// A helper may ask the user's key ring, but not the user.
const HELPER_LIMIT: Duration = Duration::from_secs(10);

/// The key of Docker Hub in files and for helpers.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LoginFile {
    auths: BTreeMap<String, Login>,
    creds_store: Option<String>,
    cred_helpers: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase", default)]
struct Login {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
    registrytoken: Option<String>,
}

/// What a helper prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

/// The credentials of these registries and of no other. The first file that knows a registry counts.
pub(super) fn of(registries: &BTreeSet<&str>, deadline: Instant) -> BTreeMap<String, Credential> {
    let files: Vec<LoginFile> = login_files().into_iter().filter_map(read).collect();
    let mut found = BTreeMap::new();
    for &registry in registries {
        let credential = files.iter().find_map(|file| credential(file, registry, deadline));
        found.extend(credential.map(|credential| (registry.to_owned(), credential)));
    }
    found
}

fn login_files() -> Vec<PathBuf> {
    let path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let docker = path("DOCKER_CONFIG").or_else(|| path("HOME").map(|home| home.join(".docker")));
    let podman = path("REGISTRY_AUTH_FILE")
        .or_else(|| path("XDG_RUNTIME_DIR").map(|run| run.join("containers/auth.json")));
    docker.map(|directory| directory.join("config.json")).into_iter().chain(podman).collect()
}

fn read(path: PathBuf) -> Option<LoginFile> {
    let found = fs::metadata(&path).ok()?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return None;
    }
    let text = read_text(&path, MOST_BYTES).ok()?;
    match serde_json::from_str(&text) {
        Ok(file) => Some(file),
        Err(error) => {
            // The message of the parser shows no value of the file.
            tracing::warn!("{}: no logins are read: {error}", path.display());
            None
        }
    }
}

fn credential(file: &LoginFile, registry: &str, deadline: Instant) -> Option<Credential> {
    let is_it = |key: &&String| host_of(key) == registry;
    let helper = file.cred_helpers.keys().find(is_it).and_then(|key| file.cred_helpers.get(key));
    if let Some(helper) = helper {
        return ask_helper(helper, registry, deadline);
    }
    let login = file.auths.keys().find(is_it).and_then(|key| file.auths.get(key));
    let own = login.and_then(Login::credential);
    own.or_else(|| ask_helper(file.creds_store.as_ref()?, registry, deadline))
}

/// Keys are hosts, or URLs of an old protocol.
fn host_of(key: &str) -> &str {
    let rest = key.trim_start_matches("https://").trim_start_matches("http://");
    match rest.split('/').next().unwrap_or_default() {
        "index.docker.io" | "registry-1.docker.io" => "docker.io",
        host => host,
    }
}

impl Login {
    fn credential(&self) -> Option<Credential> {
        let text = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        if let Some(token) = text(&self.registrytoken) {
            return Some(Credential::RegistryToken(token.into()));
        }
        if let Some(token) = text(&self.identitytoken) {
            return Some(Credential::IdentityToken(token.into()));
        }
        let (user, password) = match text(&self.auth) {
            Some(auth) => {
                let decoded = String::from_utf8(decoded(&auth)?).ok()?;
                let (user, password) = decoded.split_once(':')?;
                (user.to_owned(), password.trim_end_matches('\0').to_owned())
            }
            None => (text(&self.username)?, text(&self.password)?),
        };
        Some(Credential::Password { user, password: password.into() })
    }
}

/// Runs `docker-credential-NAME get`, a program of the user's search path that the user's own file
/// names.
fn ask_helper(name: &str, registry: &str, deadline: Instant) -> Option<Credential> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || !name.bytes().all(is_plain) {
        return None;
    }
    let program = format!("docker-credential-{name}");
    let search = env::var_os("PATH").unwrap_or_default();
    // A relative directory would be one of whoever wrote the files that are checked.
    let mut places = env::split_paths(&search).filter(|place| place.is_absolute());
    let path = places.find_map(|place| Some(place.join(&program)).filter(|path| path.is_file()));
    let Some(path) = path else {
        tracing::warn!("{program} is not in PATH, so {registry} is asked without credentials");
        return None;
    };
    let mut spec = Spec::new(vec![OsString::from(path), "get".into()], env::temp_dir());
    spec.env = env::vars_os().collect();
    spec.limits.wall = Some(HELPER_LIMIT.min(deadline.saturating_duration_since(Instant::now())));
    spec.limits.output = Some(MOST_BYTES);
    let server = if registry == "docker.io" { DOCKER_HUB } else { registry };
    let outcome = probity_sandbox::run(&Backend::None, &spec, server.as_bytes()).ok()?;
    if !matches!(outcome.exit, Exit::Code(0)) {
        // It has no credentials for this registry, which is no failure.
        tracing::info!("{program} has no credentials for {registry}");
        return None;
    }
    let HelperAnswer { username, secret } = serde_json::from_slice(&outcome.stdout).ok()?;
    Some(match username.as_str() {
        "<token>" => Credential::IdentityToken(secret.into()),
        _ => Credential::Password { user: username, password: secret.into() },
    })
}

/// What a text in base64 stands for; none if it is not one.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut group = 0_u32;
    let mut bits = 0;
    for byte in text.trim().trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        group = (group << 6 | u32::from(digit)) & 0xff_ffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(group >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_age_name_a_host() {
        for (key, host) in [
            ("https://index.docker.io/v1/", "docker.io"),
            ("docker.io", "docker.io"),
            ("ghcr.io", "ghcr.io"),
            ("https://a.example:5000/v2/", "a.example:5000"),
            ("http://localhost:5000", "localhost:5000"),
        ] {
            assert_eq!(host_of(key), host, "{key}");
        }
    }

    #[test]
    fn logins_are_read_in_every_form() {
        let credential = |json: &str| {
            let login: Login = serde_json::from_str(json).unwrap();
            match login.credential() {
                Some(Credential::Password { user, .. }) => format!("password of {user}"),
                Some(Credential::IdentityToken(_)) => "identity".to_owned(),
                Some(Credential::RegistryToken(_)) => "registry".to_owned(),
                None => "none".to_owned(),
            }
        };
        for (json, expected) in [
            (r#"{"auth":"bWU6c2VjcmV0"}"#, "password of me"),
            (r#"{"auth":"bWU6cGE6c3M="}"#, "password of me"),
            (r#"{"username":"me","password":"x"}"#, "password of me"),
            (r#"{"auth":"bWU6","identitytoken":"t"}"#, "identity"),
            (r#"{"registrytoken":"t"}"#, "registry"),
            (r#"{"auth":"%%%"}"#, "none"),
            (r#"{"auth":"bm9jb2xvbg=="}"#, "none"),
            ("{}", "none"),
        ] {
            assert_eq!(credential(json), expected, "{json}");
        }
        assert_eq!(decoded("Zm9vYj4/"), Some(b"foob>?".to_vec()));
    }
}
