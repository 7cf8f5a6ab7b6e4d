//! What a repository's `probity.toml` may not set or loosen.

use std::path::Path;

use super::CATALOGUE;
use crate::config::{
    file::{Source, read},
    guard::{Guard, Trust, restrict},
    key::Dialect,
    kind::ValueKind,
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
    ("review.fail-on", "", &["'high'", "'low'"], &["'critical'", "'none'"]),
    ("review.fail-on", "'critical'", &["'high'", "'critical'"], &["'none'"]),
    ("review.whole", "", &[], &["true"]),
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
    ("check.file-validation.max-file-size", "", &["1", "0"], &[]),
    ("check.file-validation.max-file-size", "1000", &["1000", "1"], &["1001", "0"]),
    ("check.slow-checks.mode", "", &["'off'", "'auto'"], &["'on'"]),
    ("check.slow-checks.mode", "'on'", &["'off'", "'auto'", "'on'"], &[]),
    ("check.slow-checks.mode", "'off'", &["'off'"], &["'auto'", "'on'"]),
    ("check.slow-checks.timeout", "", &["'20s'", "'1s'"], &["'21s'"]),
    ("check.slow-checks.fail-fast", "", &["true"], &["false"]),
    ("check.shellcheck.timeout", "", &["'1m'"], &["'61s'"]),
    ("ai.timeout", "", &["'90s'"], &["'91s'", "'10h'"]),
    ("ai.timeout", "'5m'", &["'5m'"], &["'6m'"]),
    ("ai.max-input-bytes", "", &["262144"], &["262145"]),
    ("ai.max-rounds", "", &["1", "2"], &["3"]),
    ("ai.proof", "", &["'static'", "'auto'", "'run'"], &[]),
    ("ai.proof", "'static'", &["'static'"], &["'build'", "'run'", "'auto'"]),
    ("ai.proof-timeout", "", &["'10m'"], &["'11m'"]),
    ("ai.proof-seconds", "", &["5"], &["6"]),
    ("ai.proof-disk", "", &["'20g'"], &["'21g'"]),
    ("audit.model", "", &[], &["'costly'"]),
    ("audit.jobs", "", &["1"], &["2"]),
    ("audit.timeout", "", &["'10m'"], &["'11m'"]),
    ("review.model", "", &[], &["'costly'"]),
    ("review.max-fix-rounds", "", &["0", "1"], &["2"]),
    ("review.suite-timeout", "", &["'2m'"], &["'10h'"]),
    ("review.proof-timeout", "", &["'10h'"], &[]),
    ("review.proof-timeout", "'1m'", &["'59s'"], &["'61s'"]),
    ("review.timeout", "", &["'10m'"], &["'11m'"]),
    ("review.jobs", "", &["0", "1"], &["100000"]),
    ("review.jobs", "2", &["1", "2"], &["3"]),
    ("containment.network.allow", "", &["['a.test']"], &[]),
];

#[test]
fn a_repository_tightens_and_never_loosens() {
    for (path, users, may, may_not) in CASES {
        let user = if users.is_empty() { String::new() } else { format!("{path} = {users}") };
        let cases = may.iter().map(|value| (value, true)).chain(may_not.iter().map(|v| (v, false)));
        for (value, holds) in cases {
            // A list of hosts needs its mode.
            let mode = match path.strip_suffix("allow") {
                Some(table) => format!("\n{table}mode = 'allowlist'"),
                None => String::new(),
            };
            let (left, warnings) = restricted(&user, &format!("\n{path} = {value}{mode}"));
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
    // What a repository may set freely: it is about its own files, or about how results look.
    let open = table::keys().filter(|key| key.in_file && key.guard == Guard::Open);
    insta::assert_snapshot!(open.map(|key| key.path).collect::<Vec<_>>().join("\n"), @"
    check.preset
    check.unsafe-fixes
    check.rule
    check.output.format
    check.output.show-source
    check.output.fail-level
    check.rules.include
    check.rules.exclude
    check.inline-directives.enabled
    check.inline-directives.validate-rules
    check.inline-directives.warn-unused
    check.inline-directives.require-reason
    check.shellcheck.mode
    ai.autofix-output
    ai.proof-build-args
    ai.proof-target
    ai.proof-platform
    audit.numbered-reads
    audit.include
    audit.format
    review.diff-only
    review.format
    ");
}

/// Every key that is a limit by its kind: a length of time, an amount, or a number.
#[test]
fn no_limit_is_open() {
    let is_limit = |kind: ValueKind| {
        use ValueKind::{Amount, Duration, Int, IntIn, Memory};
        matches!(kind, Duration | Memory | Amount | Int | IntIn(..))
    };
    for key in table::keys().filter(|key| key.in_file && is_limit(key.kind)) {
        let is_bounded = matches!(key.guard, Guard::AtMost | Guard::Limit(_) | Guard::AtLeast);
        assert!(is_bounded, "{} is a limit, and a repository may raise it", key.path);
    }
}

#[test]
fn a_warning_names_both_values_and_the_way_out() {
    for (user, repository, warning) in [
        (
            "",
            "ai.timeout = '10h'",
            "probity.toml:1: `ai.timeout = \"10h\"` is ignored: a repository's file may only lower \
             this key, which is \"1m30s\" by default; set it with --ai-timeout, \
             PROBITY_AI__TIMEOUT or in your own configuration file",
        ),
        (
            "review.suite-timeout = '30s'",
            "review.suite-timeout = '1m'",
            "probity.toml:1: `review.suite-timeout = \"1m\"` is ignored: a repository's file may only \
             lower this key, which you set to \"30s\"; set it with --suite-timeout, \
             PROBITY_REVIEW__SUITE_TIMEOUT or in your own configuration file",
        ),
        (
            "",
            "containment.processes = 5000",
            "probity.toml:1: `containment.processes = 5000` is ignored: a repository's file may only \
             lower this key, which is 4096 by default; set it with \
             PROBITY_CONTAINMENT__PROCESSES or in your own configuration file",
        ),
    ] {
        assert_eq!(restricted(user, repository).1, [warning]);
    }
}

#[test]
fn a_file_of_tally_chooses_an_agent_and_raises_no_limit() {
    let text = "[ai]\nenabled = true\ncommand = ['agent']\nsecrets-policy = 'allow'\n\
                timeout = '10h'\nmax-rounds = 1\n[ai.agents.mine]\ncommand = ['other']\n\
                timeout = '10h'\nmax-input-bytes = 5\n[slow-checks]\nmode = 'on'\n\
                [output]\npath = '/etc/x'";
    let (dialect, owner) = (Dialect::Tally, Owner::Repository);
    let source = Source { dialect, owner, path: Path::new(".tally.toml"), text };
    let mut left = read(&CATALOGUE, source).unwrap().0;
    let users = layer(Owner::User, "check.output.path = 'mine'");
    let refused = restrict(&mut left, &users, dialect, Trust::OfTally);
    let kept: Vec<&str> = left.settings.keys().copied().collect();
    assert_eq!(kept, ["ai.command", "ai.enabled", "ai.max-rounds", "ai.secrets-policy"]);
    let table = &left.tables[&("ai.agents", "mine".to_owned())];
    assert_eq!(table.keys().copied().collect::<Vec<_>>(), ["command", "max-input-bytes"]);
    let warnings: Vec<String> = refused.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    .tally.toml:5: `ai.timeout = "10h"` is ignored: a repository's file may only lower this key, which is "1m30s" by default; set it with --ai-timeout or TALLY_AI_TIMEOUT
    .tally.toml:9: `ai.agents.mine.timeout = "10h"` is ignored: a repository's file may only lower this key, which is "1m30s" by default; set it with --ai-timeout or TALLY_AI_TIMEOUT
    .tally.toml:12: `slow-checks.mode = "on"` is ignored: a repository's file may only tighten this key, which is "auto" by default; set it with --slow-checks or TALLY_SLOW_CHECKS_MODE
    .tally.toml:14: `output.path = "/etc/x"` is ignored: a repository's file may only name a path below its own directory here, without `..`, links and git directories; set it with --output or TALLY_OUTPUT_PATH
    "#);
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
