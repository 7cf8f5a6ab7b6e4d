//! The settings that hold for one target, typed, with every value's origin kept for printing.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use probity_agent::AgentTable;
use probity_autofix::SecretsPolicy;
use probity_lint::FixMode;

use super::{
    key::{self, Key},
    layer::Layer,
    merge::Merged,
    nearest::nearest,
    setting::Setting,
    table::{self, ai::Ai, audit::Audit, check::Check, containment::Containment, review::Review},
    value::{Origin, Sourced, Value},
    word::Word as _,
    words::RuleSeverity,
};

/// Everything that is in force.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The configuration files that were used, as messages show them, the weakest first.
    pub(crate) files: Vec<Arc<Path>>,
    pub(crate) check: Check,
    pub(crate) ai: Ai,
    pub(crate) audit: Audit,
    pub(crate) review: Review,
    pub(crate) containment: Containment,
    /// What was said about rules, by full name; others are absent.
    pub(crate) rules: BTreeMap<String, RuleSettings>,
    /// Whether a repository's file, and nobody else, says which agent is asked.
    pub(crate) is_agent_of_repository: bool,
    pub(crate) merged: Merged,
}

/// What was said about one rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RuleSettings {
    pub(crate) severity: Option<RuleSeverity>,
    pub(crate) fix: Option<FixMode>,
    /// Globs, all of them valid.
    pub(crate) exclude_paths: Vec<String>,
    /// Only what was set; defaults are the rule's own business.
    pub(crate) options: BTreeMap<String, Value>,
}

/// Lays the layers over the defaults, the last one on top.
pub(crate) fn resolve(layers: &[&Layer], files: Vec<Arc<Path>>) -> (Settings, Vec<String>) {
    let mut merged = Merged::new(layers);
    let mut warnings = Vec::new();
    let agent = take_agent(&mut merged);
    apply_deprecated_policy(&mut merged, &mut warnings);
    let mut ai = Ai::of(&merged);
    ai.agent = agent.map(|name| beside_its_file(merged.origin(&key::ai::agent.key), name));
    let chooser = if ai.agent.is_some() { &key::ai::agent.key } else { &key::ai::command.key };
    let is_agent_of_repository = merged.origin(chooser).is_repository();
    if ai.enabled && ai.provider.is_none() && ai.command.is_none() && ai.agent.is_none() {
        let origin = merged.origin(&key::ai::enabled.key);
        warnings.push(format!(
            "{origin}: AI fixes are enabled, but none of `ai.provider`, `ai.command` and `ai.agent` is \
             set, so probity skips them; `--ai-provider NAME` or `--acp-command COMMAND` sets one"
        ));
    }
    warnings.extend(ai.agent.as_deref().and_then(|name| misspelt_agent(&merged, name)));
    let settings = Settings {
        files,
        check: Check::of(&merged),
        ai,
        audit: Audit::of(&merged),
        review: Review::of(&merged),
        containment: Containment::of(&merged),
        rules: rule_settings(&merged),
        is_agent_of_repository,
        merged,
    };
    (settings, warnings)
}

/// Lets the table of the chosen agent stand in for the keys of `ai`, and gives the agent's name
/// back if it has none.
///
/// A table is as strong as the file it stands in, so flags and variables beat it. Its command is
/// also as strong as whoever chose the agent: naming one on the command line means that one.
fn take_agent(merged: &mut Merged) -> Option<String> {
    let chosen = merged.setting(&key::ai::agent.key)?;
    let choice = chosen.origin.rank();
    let name = chosen.value.plain();
    if merged.origin(&key::ai::command.key).rank() > choice {
        return None;
    }
    let Some(table) = merged.tables.get(&("ai.agents", name.clone())).cloned() else {
        merged.imply(&key::ai::command, &None, Origin::Default);
        return Some(name);
    };
    for (name, setting) in table {
        let replaces = |key: &&'static Key| key.path.strip_prefix("ai.") == Some(name);
        let Some(key) = table::keys().find(replaces) else { continue };
        let is_command = key.path == key::ai::command.key.path;
        let own = if is_command { choice } else { setting.origin.rank() };
        if own >= merged.origin(key).rank() {
            merged.imply_value(key, setting);
        }
    }
    None
}

/// A warning about a name that is nearly a known agent's. Other names may be agents of the user's own.
fn misspelt_agent(merged: &Merged, name: &str) -> Option<String> {
    let table = AgentTable::shipped();
    if table.get(name).is_some() {
        return None;
    }
    let near = nearest(name, table.iter().map(|agent| agent.name.as_str()))?;
    let origin = merged.origin(&key::ai::agent.key);
    Some(format!("{origin}: `ai.agent = \"{name}\"` is not a known agent; did you mean `{near}`?"))
}

/// A recording that a file names lies where the file lies.
fn beside_its_file(origin: &Origin, name: String) -> String {
    let directory = origin.place().and_then(|(path, _)| path.parent());
    match (name.strip_prefix("replay:").map(Path::new), directory) {
        (Some(recording), Some(directory)) => {
            format!("replay:{}", directory.join(recording.as_os_str()).display())
        }
        _ => name,
    }
}

/// Lets the deprecated key mean what it meant, unless the policy itself was set.
fn apply_deprecated_policy(merged: &mut Merged, warnings: &mut Vec<String>) {
    let Some(redact) = merged.setting(&key::ai::redact_secrets.key) else { return };
    let origin = redact.origin.clone();
    let is_off = redact.value == Value::Bool(false);
    let meant = if is_off { SecretsPolicy::Allow } else { SecretsPolicy::Deny };
    let is_overruled = *merged.origin(&key::ai::secrets_policy.key) != Origin::Default;
    let effect = if is_overruled { " and has no effect beside `ai.secrets-policy`" } else { "" };
    warnings.push(format!(
        "{origin}: `ai.redact-secrets` is deprecated{effect}; use `ai.secrets-policy = \"{}\"`",
        meant.word()
    ));
    if !is_overruled {
        merged.imply(&key::ai::secrets_policy, &meant, origin);
    }
}

fn rule_settings(merged: &Merged) -> BTreeMap<String, RuleSettings> {
    let settings = merged.rules.iter().map(|(name, options)| {
        let mut settings = RuleSettings::default();
        for (option, Sourced { value, .. }) in options {
            match option.as_str() {
                "severity" => settings.severity = RuleSeverity::from_value(value),
                "fix" => settings.fix = FixMode::from_value(value),
                "exclude.paths" => {
                    settings.exclude_paths = Vec::from_value(value).unwrap_or_default();
                }
                _ => _ = settings.options.insert(option.clone(), value.clone()),
            }
        }
        (name.clone(), settings)
    });
    settings.collect()
}
