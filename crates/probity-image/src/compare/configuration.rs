//! Configurations are equal, but for what the objective may change.
//!
//! Variables and labels that only the base image set may go with it.

use std::collections::BTreeMap;

use super::Pair;
use crate::{Configuration, Difference, Setting};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let (before, after) = (&pair.original.configuration, &pair.proposal.configuration);
    let mut found = Vec::new();
    for (setting, value) in VALUES {
        let (before, after) = (value(before), value(after));
        if before != after {
            found.push(Difference::Setting { setting: *setting, before, after });
        }
    }
    let base = pair.base.map(|base| &base.configuration);
    let maps: [(Setting, Map); 2] = [
        (Setting::Environment, |configuration| &configuration.environment),
        (Setting::Labels, |configuration| &configuration.labels),
    ];
    for (setting, map) in maps {
        let inherited = base.map(map);
        for (name, value) in map(before) {
            let now = map(after).get(name);
            let is_inherited = inherited.is_some_and(|values| values.get(name) == Some(value));
            // The directories of a PATH matter as far as programs are found in them.
            if now == Some(value) || is_inherited || name == "PATH" {
                continue;
            }
            found.push(Difference::Setting {
                setting,
                before: format!("{name}={value}"),
                after: now.map(|now| format!("{name}={now}")).unwrap_or_default(),
            });
        }
    }
    found.retain(|difference| match difference {
        Difference::Setting { setting, .. } => !pair.allowed.contains(setting),
        _ => true,
    });
    found
}

type Map = fn(&Configuration) -> &BTreeMap<String, String>;
type Value = fn(&Configuration) -> String;

const VALUES: &[(Setting, Value)] = &[
    (Setting::Entrypoint, |configuration| words(&plain_words(&configuration.entrypoint))),
    (Setting::Command, |configuration| words(&plain_words(&configuration.command))),
    (Setting::User, |configuration| match configuration.user.as_str() {
        "" | "0" | "root" | "0:0" | "root:root" => "root".to_owned(),
        other => other.to_owned(),
    }),
    (Setting::Directory, |configuration| format!("/{}", configuration.directory.trim_matches('/'))),
    (Setting::Volumes, |configuration| words(&configuration.volumes)),
    (Setting::Ports, |configuration| words(&configuration.ports)),
    (Setting::Healthcheck, |configuration| words(&configuration.healthcheck)),
    (Setting::StopSignal, |configuration| match configuration.stop_signal.as_str() {
        "" => "SIGTERM".to_owned(),
        other => other.to_owned(),
    }),
    (Setting::OnBuild, |configuration| configuration.on_build.join("; ")),
];

fn words(words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("{words:?}") }
}

/// `/bin/sh -c "app --fast"` starts what `app --fast` starts, if nothing in it means something to a
/// shell.
fn plain_words(start: &[String]) -> Vec<String> {
    let [shell, switch, text] = start else { return start.to_vec() };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:,@%+= ".contains(letter);
    let first = text.split(' ').next().unwrap_or_default();
    let is_command = !matches!(first, "" | "exec" | "cd" | "." | "exit") && !first.contains('=');
    if shell == "/bin/sh" && switch == "-c" && is_command && text.chars().all(is_plain) {
        return text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    }
    start.to_vec()
}
