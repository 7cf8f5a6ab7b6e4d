//! Where a container can be asked how it is: the ports, paths and variables that its file names.

mod web;

use std::collections::{BTreeMap, BTreeSet};

use probity_dockerfile::{Arguments, CommandLine, Setting, TokenKind, Value};
use probity_shell::{Operation, PartKind, Variable, Word};

use super::{
    Change, View,
    belongings::{is_within, text_of},
    healthcheck::ports,
};

/// Ways to say "this container".
pub(super) const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]", "::1"];

/// Words that tell an endpoint from a directory.
const HINTS: &[&str] = &[
    "200",
    "alive",
    "answers",
    "check",
    "endpoint",
    "get",
    "health",
    "healthcheck",
    "healthy",
    "healthz",
    "heartbeat",
    "http",
    "live",
    "liveness",
    "livez",
    "ping",
    "probe",
    "readiness",
    "ready",
    "readyz",
    "responds",
    "returns",
    "status",
    "up",
];

/// The first parts of paths that are directories of an image.
const DIRECTORIES: &[&str] = &[
    "app", "bin", "boot", "data", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "nodejs",
    "opt", "proc", "root", "run", "sbin", "src", "srv", "sys", "tmp", "usr", "var",
];

/// What the original says about its endpoints, and what the container starts with.
pub(super) struct Endpoints {
    ports: Vec<String>,
    /// Those of them that speak HTTP, where the file tells.
    web: BTreeSet<String>,
    paths: BTreeSet<String>,
    variables: BTreeMap<String, String>,
    /// Whether another check reports a path that nothing shows.
    pub(super) has_any_path: bool,
}

impl Endpoints {
    /// Paths count only in the original: a proposal could name any.
    pub(super) fn of(change: &Change<'_>) -> Self {
        Self::read(change.before, change.after)
    }

    pub(super) fn read(before: &View<'_>, after: &View<'_>) -> Self {
        let runtime = after.facts.final_runtime();
        let variables = runtime.get(Setting::Env).iter();
        let variables = variables.filter_map(|variable| {
            Some((variable.entry.key.clone(), text_of(&variable.entry.value)?))
        });
        let variables: BTreeMap<String, String> = variables.collect();
        let mut ports = ports(after);
        ports.extend(variables.iter().filter_map(|(name, value)| own_port(name, value)));
        let mut web = web::ports(before);
        web.retain(|port| ports.iter().any(|other| other.split('/').next() == Some(port)));
        Self { ports, web, paths: paths(before), variables, has_any_path: false }
    }

    /// A text with the values of the container's variables.
    pub(super) fn filled(&self, text: &str) -> String {
        self.variables.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("${{{name}}}"), value)
        })
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Any port will do where the file exposes none.
    pub(super) fn has_port(&self, port: &str) -> bool {
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let is_exposed = |other: &String| other.split('/').next() == Some(port);
        is_number && (self.ports.is_empty() || self.ports.iter().any(is_exposed))
    }

    pub(super) fn has_path(&self, path: &str) -> bool {
        self.has_any_path || matches!(path, "" | "/") || self.paths.contains(path)
    }

    /// `http://localhost:3000/`: this container, an exposed port, and a path that nobody guessed.
    pub(super) fn has_address(&self, address: &str) -> bool {
        let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
        let end = rest.find('/').unwrap_or(rest.len());
        let Some((authority, path)) = rest.split_at_checked(end) else { return false };
        let host = LOCAL.iter().find(|host| authority.starts_with(**host));
        let port = host.and_then(|host| authority.strip_prefix(host));
        let usual = if scheme == "https" { "443" } else { "80" };
        let port = port.and_then(|port| match port {
            "" => Some(usual),
            port => port.strip_prefix(':'),
        });
        matches!(scheme, "http" | "https")
            && self.has_path(path)
            && port.is_some_and(|port| {
                self.has_port(port) && (self.web.is_empty() || self.web.contains(port))
            })
    }

    /// A word of the shell with the values that the container starts with.
    pub(super) fn expanded(&self, word: &Word) -> Option<String> {
        let mut value = String::new();
        for part in word.parts() {
            match &part.kind {
                PartKind::Text(text) => value.push_str(text),
                PartKind::Variable(variable) => value.push_str(&self.value(variable)?),
                _ => return None,
            }
        }
        Some(value)
    }

    fn value(&self, variable: &Variable) -> Option<String> {
        let own = self.variable(&variable.name).map(str::to_owned);
        let is_plain = |value: &String| {
            value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
        };
        let found = match variable.operation {
            Operation::Value | Operation::Require { .. } => own,
            Operation::Default { .. } => own.or_else(|| self.expanded(variable.operand.as_ref()?)),
            _ => None,
        };
        found.filter(is_plain)
    }
}

/// The port of a variable such as `MANAGEMENT_PORT=8081`, unless it is that of another service.
fn own_port(name: &str, value: &str) -> Option<String> {
    const OWN: &[&str] = &["port", "ports", "addr", "address", "bind", "listen", "urls"];
    const OTHERS: &[&str] = &[
        "amqp", "broker", "cache", "database", "db", "kafka", "mail", "mongo", "mysql", "pg",
        "postgres", "proxy", "queue", "rabbitmq", "redis", "remote", "smtp", "upstream",
    ];
    let lower = name.to_lowercase();
    let has = |list: &[&str]| lower.split('_').any(|part| list.contains(&part));
    let port = value.rsplit(':').next()?.trim_end_matches('/');
    let is_port =
        !port.is_empty() && port.len() < 6 && port.bytes().all(|byte| byte.is_ascii_digit());
    (has(OWN) && !has(OTHERS) && is_port).then(|| port.to_owned())
}

fn paths(view: &View<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
        let text = token.span.slice(view.text).unwrap_or_default();
        if has_hint(text) {
            found.extend(text.split_whitespace().filter_map(path_in));
        }
    }
    let runtime = view.facts.final_runtime();
    for setting in [Setting::Env, Setting::Label] {
        for it in runtime.get(setting) {
            let Some(value) = text_of(&it.entry.value) else { continue };
            let is_endpoint = has_hint(&it.entry.key) || has_hint(&value);
            if is_endpoint {
                found.extend(path_in(&value));
            }
        }
    }
    for setting in [Setting::Entrypoint, Setting::Cmd] {
        for it in runtime.get(setting) {
            let words = match &it.entry.value {
                Value::Command(CommandLine::Exec(words)) => words.clone(),
                Value::Command(CommandLine::Shell { text, .. }) => {
                    text.split_whitespace().map(str::to_owned).collect()
                }
                _ => Vec::new(),
            };
            let values =
                words.iter().map(|word| word.split_once('=').map_or(word.as_str(), |pair| pair.1));
            found.extend(values.filter(|value| has_hint(value)).filter_map(path_in));
        }
    }
    found.extend(of_frameworks(view));
    let held = directories(view);
    found.retain(|path| {
        !held.iter().any(|directory| is_within(path, directory) || is_within(directory, path))
    });
    found
}

/// Endpoints that variables of a framework switch on: Spring's actuator and Micronaut's health endpoint.
fn of_frameworks(view: &View<'_>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let variable = |name: &str| {
        let entry = runtime.get(Setting::Env).iter().find(|setting| setting.entry.key == name);
        entry.and_then(|entry| text_of(&entry.entry.value))
    };
    let mut found = Vec::new();
    if variable("ENDPOINTS_HEALTH_ENABLED").as_deref() == Some("true") {
        found.push("/health".to_owned());
    }
    let exposed = variable("MANAGEMENT_ENDPOINTS_WEB_EXPOSURE_INCLUDE").unwrap_or_default();
    let mut comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let is_told = |text: &str| text.contains("actuator/health");
    let is_on = exposed.split(',').any(|part| matches!(part.trim(), "health" | "*"))
        || comments.any(|comment| comment.span.slice(view.text).is_some_and(is_told));
    if !is_on {
        return found;
    }
    // On a port of its own, the endpoint is not below the path of the application.
    let prefix = match variable("MANAGEMENT_SERVER_PORT") {
        Some(port) if Some(&port) != variable("SERVER_PORT").as_ref() => {
            variable("MANAGEMENT_SERVER_BASE_PATH")
        }
        _ => {
            variable("SERVER_SERVLET_CONTEXT_PATH").or_else(|| variable("SPRING_WEBFLUX_BASE_PATH"))
        }
    };
    let base = variable("MANAGEMENT_ENDPOINTS_WEB_BASE_PATH");
    let parts = [prefix.unwrap_or_default(), base.unwrap_or_else(|| "/actuator".to_owned())];
    let path = parts.map(|part| part.trim_end_matches('/').to_owned()).concat();
    found.push(format!("{path}/health"));
    if variable("MANAGEMENT_ENDPOINT_HEALTH_PROBES_ENABLED").as_deref() == Some("true") {
        found.extend(["liveness", "readiness"].map(|probe| format!("{path}/health/{probe}")));
    }
    found
}

/// Whether one of the words is about the state of a service.
fn has_hint(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|character: char| !character.is_ascii_alphanumeric());
    words.any(|word| HINTS.contains(&word))
}

/// `/healthz` of a word, or of an address that leads here.
fn path_in(word: &str) -> Option<String> {
    let word = word
        .trim_matches(|character: char| "\"'`()<>,;:!?".contains(character))
        .trim_end_matches('.');
    let path = match word.split_once("://") {
        Some((_, rest)) => {
            let (authority, _) = rest.split_once('/')?;
            let host = authority.split(':').next()?;
            LOCAL.contains(&host).then(|| rest.get(authority.len()..))??
        }
        None => word,
    };
    let rest = path.strip_prefix('/')?;
    let is_plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    let first = rest.split('/').next()?;
    let is_file = DIRECTORIES.contains(&first) || rest.contains("..");
    (is_plain && !first.is_empty() && !is_file).then(|| path.to_owned())
}

/// What the image holds under a name of its own.
fn directories(view: &View<'_>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let volumes = runtime.get(Setting::Volume).iter().map(|setting| setting.entry.key.clone());
    let targets =
        view.file.instructions.iter().filter_map(|instruction| match &instruction.arguments {
            Arguments::Transfer { destination: Some(target), .. } => Some(target.text.to_string()),
            _ => None,
        });
    let workdirs = (0..view.file.instructions.len())
        .filter_map(|index| view.facts.state(index)?.workdir.path.clone());
    let all = volumes.chain(targets).chain(workdirs.map(|workdir| workdir.to_string()));
    all.map(|path| path.trim_end_matches('/').to_owned())
        .filter(|path| path.starts_with('/'))
        .collect()
}
