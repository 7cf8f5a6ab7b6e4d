//! What a repository's `probity.toml` may not set or loosen.

use std::path::Path;

use super::CATALOGUE;
use crate::config::{
    file::{Source, read},
    guard::{Guard, Trust, restrict},
    key::Dialect,
    layer::Layer,
    table,
    value::Owner,
};

fn layer(owner: Owner, text: &str) -> Layer {
    let name = if owner == Owner::User { "user.toml" } else { "probity.toml" };
    let source = Source { dialect: Dialect::Probity, owner, path: Path::new(name), text };
    read(&CATALOGUE, source).unwrap_or_else(|error| panic!("{text}: {error}")).0
}

/// What is left of a repository's file beside the user's, and what was said about it.
fn restricted(user: &str, repository: &str) -> (Layer, Vec<String>) {
    let mut left = layer(Owner::Repository, repository);
    let warnings = restrict(&mut left, &layer(Owner::User, user), Dialect::Probity, Trust::Never);
    (left, warnings.iter().map(ToString::to_string).collect())
}

/// For every guarded key: what the user has, what a repository may say, and what it may not.
const CASES: &[(&str, &str, &[&str], &[&str])] = &[
    ("check.baseline", "", &["'old.json'", "'a/old.json'"], &["'/etc/x'", "'../x'"]),
    ("check.output.path", "", &["'out.sarif'", "'a/b.json'", "'stdout'"], &["'/etc/x'", "'../x'"]),
    ("check.slow-checks.mirrors", "", &[], &["['evil.test']"]),
    ("check.slow-checks.insecure-registries", "", &[], &["['localhost:5000']"]),
    ("ai.command", "", &[], &["['sh', '-c', 'x']"]),
    ("ai.agent", "", &["'claude'"], &["'acp:evil'", "'cmd:evil'", "'replay:x'", "'a b'", "'a/b'"]),
    ("ai.provider", "", &[], &["'openai'", "'ollama'"]),
    ("ai.endpoint", "", &[], &["'http://evil.test'"]),
    ("ai.model", "", &[], &["'other'"]),
    ("ai.api-key-env", "", &[], &["'AWS_SECRET_ACCESS_KEY'"]),
    ("ai.secrets-policy", "", &["'deny'"], &["'tokenize'", "'allow'"]),
    ("ai.secrets-policy", "'tokenize'", &["'deny'", "'tokenize'"], &["'allow'"]),
    ("ai.enabled", "", &["false"], &["true"]),
    ("ai.enabled", "true", &["false", "true"], &[]),
    ("ai.redact-secrets", "", &["true"], &["false"]),
    ("ai.redact-secrets", "true", &["true"], &["false"]),
    ("ai.sandbox", "", &[], &["'auto'", "'bwrap'", "'none'"]),
    ("ai.context", "", &["'none'"], &["'snapshot'", "'read-only'"]),
    ("ai.context-ignored", "", &["false"], &["true"]),
    ("ai.context", "'snapshot'", &["'none'", "'snapshot'"], &["'read-only'"]),
    ("ai.proof-required", "", &["'run'", "'build'", "'static'"], &[]),
    ("ai.proof-required", "'build'", &["'run'", "'build'"], &["'static'"]),
    ("ai.proof-pull", "", &[], &["true"]),
    ("ai.proof-network", "", &[], &["true"]),
    ("ai.proof-command", "", &[], &["['sh', '-c', 'x']"]),
    ("audit.provider", "", &[], &["'openai'", "'scaffold'"]),
    ("audit.endpoint", "", &[], &["'http://evil.test'"]),
    ("audit.api-key-env", "", &[], &["'AWS_SECRET_ACCESS_KEY'"]),
    ("audit.agent", "", &["'gemini'"], &["'sh -c x'", "'./evil'"]),
    ("audit.sandbox", "", &[], &["'none'", "'bwrap'"]),
    ("audit.env", "", &[], &["['TOKEN']"]),
    ("audit.budget", "", &["10"], &[]),
    ("audit.budget", "5", &["5", "1"], &["6"]),
    ("audit.max-tokens", "5", &["4"], &["6"]),
    ("audit.read-scope", "", &["'strict'", "'workspace'"], &[]),
    ("audit.read-scope", "'strict'", &["'strict'"], &["'workspace'"]),
    ("audit.interactive-permissions", "true", &["true"], &["false"]),
    ("audit.allow-sensitive", "", &["false"], &["true"]),
    ("audit.allow-ignored", "", &["false"], &["true"]),
    ("audit.skills-dir", "", &["['skills', 'builtin:full']"], &["['skills', '/tmp/skills']"]),
    ("audit.state-out", "", &["'s.json'"], &["'../s.json'"]),
    ("audit.report-out", "", &["'r.md'"], &["'/tmp/r.md'"]),
    ("audit.fail-on", "", &["'critical'"], &[]),
    ("audit.fail-on", "'high'", &["'low'", "'high'"], &["'critical'", "'exploited'"]),
    ("audit.fail-on", "'high:exploited'", &["'exploited'", "'high'"], &["'exploited-and-fixed'"]),
    ("audit.prove-rounds", "2", &["1"], &["3"]),
    ("audit.prove-timeout", "'1m'", &["'30s'"], &["'2m'"]),
    ("review.agent", "", &["'codex'"], &["'cmd:evil'", "'replay:clean.json'"]),
    ("review.profile", "", &["'strict'", "'default'"], &["'security'"]),
    ("review.config", "", &[], &["'review.yml'"]),
    ("review.threshold", "", &["7.0", "9"], &["6.9", "0"]),
    ("review.threshold", "3", &["3", "7"], &["2"]),
    ("review.fail-on-critical", "", &["true", "false"], &[]),
    ("review.fail-on-critical", "true", &["true"], &["false"]),
    ("review.paths", "", &[], &["['docs/**']"]),
    ("review.base", "", &[], &["'HEAD'"]),
    ("review.database-url", "", &[], &["'postgres://evil.test/x'"]),
    ("review.history", "", &[], &["false"]),
    ("review.report-only", "", &[], &["true"]),
    ("review.budget", "2.5", &["2.5", "1"], &["3"]),
    ("review.proof-level", "", &[], &["'P1'", "'P3'"]),
    ("review.runner", "", &[], &["[{ match = '*', command = ['evil', '{name}'], report = '-' }]"]),
    ("review.runners", "", &[], &["'evil.toml'"]),
    ("review.max-findings", "", &["50", "60"], &["49", "1"]),
    ("review.sandbox", "", &[], &["'none'"]),
    ("review.env", "", &[], &["['TOKEN']"]),
    ("review.fetch-hosts", "", &[], &["['evil.test']"]),
    ("review.fetch-env", "", &[], &["['TOKEN']"]),
    ("review.fetch-files", "", &[], &["['.ssh']"]),
    ("review.output", "", &["'out'"], &["'/tmp/out'", "'..'"]),
    ("containment.image", "", &[], &["'evil:latest'"]),
    ("containment.runtime", "", &[], &["'docker'"]),
    ("containment.memory", "", &["'64m'"], &["'99999g'"]),
    ("containment.memory", "'1g'", &["'512m'", "'1g'"], &["'2g'"]),
    ("containment.cpus", "2", &["1.5"], &["4"]),
    ("containment.cpus", "", &["0.5"], &["4096"]),
    ("containment.processes", "", &["100"], &["4097"]),
    ("containment.processes", "9000", &["9000"], &["9001"]),
    ("containment.tmp", "", &["'1g'"], &["'2g'"]),
    ("containment.shm", "", &["'64m'"], &["'2g'"]),
    ("containment.file-size", "'1g'", &["'1m'"], &["'2g'"]),
    ("containment.agent", "", &["'gemini'"], &[]),
    ("containment.env", "", &[], &["['TOKEN']"]),
    ("containment.logins", "", &[], &["['.ssh/id']"]),
    ("containment.network.mode", "", &["'none'", "'allowlist'", "'open'"], &[]),
    ("containment.network.mode", "'none'", &["'none'"], &["'allowlist'", "'open'"]),
    ("containment.acp.process", "", &[], &["'workspace'"]),
    ("containment.acp.terminals", "", &[], &["'editor'"]),
    ("containment.acp.fs", "", &[], &["'editor'"]),
];

#[test]
fn a_repository_tightens_and_never_loosens() {
    for (path, users, may, may_not) in CASES {
        let user = if users.is_empty() { String::new() } else { format!("{path} = {users}") };
        let cases = may.iter().map(|value| (value, true)).chain(may_not.iter().map(|v| (v, false)));
        for (value, holds) in cases {
            let (left, warnings) = restricted(&user, &format!("\n{path} = {value}"));
            assert_eq!(left.settings.contains_key(path), holds, "{path} = {value} beside {users}");
            let key = super::key(path);
            // Another version of the same file counts there, which is nothing to warn of.
            let is_told = !holds && key.guard != Guard::MergeBase;
            assert_eq!(warnings.len(), usize::from(is_told), "{warnings:?}");
            for warning in warnings {
                let variable = crate::config::key::own_variable(path);
                assert!(warning.starts_with("probity.toml:2: `"), "{warning}");
                assert!(warning.contains(path) && warning.contains(&variable), "{warning}");
                let flag = key.flag.map(|flag| format!("--{}", flag.long)).unwrap_or_default();
                assert!(warning.contains(&flag), "{warning}");
                assert!(!key.is_secret || !warning.contains("evil"), "{warning}");
            }
        }
    }
}

#[test]
fn every_guarded_key_has_a_case() {
    for key in table::keys().filter(|key| key.guard != Guard::Open && key.in_file) {
        let is_tried = CASES.iter().any(|(path, ..)| *path == key.path);
        assert!(is_tried, "{} is guarded, and no case shows it", key.path);
    }
    for path in ["ai.timeout", "check.output.format", "audit.model", "review.timeout"] {
        assert_eq!(super::key(path).guard, Guard::Open, "{path}");
    }
}

#[test]
fn tables_of_agents_are_the_users_alone() {
    let repository = "[ai.agents.mine]\ncommand = ['evil']\n[containment.agents.claude]\n\
                      logins = ['.ssh']\nvariables = ['TOKEN']";
    let (left, warnings) = restricted("", repository);
    assert!(left.tables.is_empty());
    assert_eq!(
        warnings,
        [
            "probity.toml:2: [ai.agents.mine] is ignored: a repository's file may not set it; set it in \
             your own configuration file",
            "probity.toml:4: [containment.agents.claude] is ignored: a repository's file may not set \
             it; set it in your own configuration file",
        ]
    );
    assert_eq!(layer(Owner::User, repository).tables.len(), 2);
}
