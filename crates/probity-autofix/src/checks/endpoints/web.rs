//! The ports of which a file says that they speak HTTP.

use std::collections::BTreeSet;

use probity_dockerfile::{CommandLine, Setting, TokenKind, Value};

use super::super::{View, belongings::text_of};

/// Words that tell of HTTP, or of what is always asked by HTTP.
const WEB: &[&str] = &[
    "actuator",
    "admin",
    "api",
    "dashboard",
    "health",
    "http",
    "https",
    "management",
    "metrics",
    "probe",
    "probes",
    "rest",
    "status",
    "ui",
    "web",
    "website",
];

/// Ports that an option, a variable or a comment names together with HTTP.
pub(super) fn ports(view: &View<'_>) -> BTreeSet<String> {
    let runtime = view.facts.final_runtime();
    let mut found = BTreeSet::new();
    for setting in [Setting::Entrypoint, Setting::Cmd] {
        for it in runtime.get(setting) {
            let Value::Command(CommandLine::Exec(words)) = &it.entry.value else { continue };
            let pairs = words.windows(2).filter_map(|pair| match pair {
                [option, value] => Some((option.as_str(), value.as_str())),
                _ => None,
            });
            let joined = words.iter().filter_map(|word| word.split_once('='));
            let options = pairs.chain(joined).filter(|(option, _)| option.starts_with('-'));
            found.extend(
                options.filter(|(option, _)| is_web(option)).filter_map(|pair| port(pair.1)),
            );
        }
    }
    for it in runtime.get(Setting::Env).iter().filter(|setting| is_web(&setting.entry.key)) {
        found.extend(text_of(&it.entry.value).and_then(|value| port(&value)));
    }
    for token in view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment) {
        let text = token.span.slice(view.text).unwrap_or_default();
        for clause in text.split([';', ',', '.']).filter(|clause| is_web(clause)) {
            let words = clause
                .split(|character: char| !character.is_ascii_alphanumeric() && character != ':');
            found.extend(words.filter_map(port));
        }
    }
    found
}

fn is_web(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower
        .split(|character: char| !character.is_ascii_alphanumeric())
        .any(|word| WEB.contains(&word))
}

/// The port of `8090`, `:8090` and `0.0.0.0:8090`.
fn port(value: &str) -> Option<String> {
    let port = value.rsplit(':').next()?.trim_end_matches('/');
    let is_number =
        port.len() > 1 && port.len() < 6 && port.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| port.to_owned())
}
