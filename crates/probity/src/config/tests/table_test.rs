//! The table itself: every key has what it needs, and every source sets it to the same effect.

use std::{ffi::OsString, path::Path};

use super::{CATALOGUE, file_of, key};
use crate::{
    config::{
        environment::Reading,
        file::{Source, read},
        guard::Guard,
        key::{Dialect, Key},
        kind::ValueKind,
        layer::Layer,
        merge::Merged,
        settings::resolve,
        table,
        value::{Origin, Owner, Value},
    },
    name::Name,
};

/// A value other than the default, as a file and as a variable or a flag writes it.
fn another_value(key: &Key) -> (String, String) {
    let (in_file, in_variable) = match key.kind {
        ValueKind::Bool if key.default_value() == Some(Value::Bool(true)) => ("false", "no"),
        ValueKind::Bool => ("true", "1"),
        ValueKind::Int | ValueKind::IntIn(..) => ("3", "3"),
        ValueKind::Amount | ValueKind::Score => ("2.5", "2.5"),
        ValueKind::Memory => ("'512m'", "512m"),
        ValueKind::String => ("'some text'", "some text"),
        ValueKind::OneOf(words) => {
            // The last word would be `none` for the sandbox, which a file of tally may not say.
            let word = words.iter().find(|word| **word != key.default_text()).unwrap();
            return (format!("'{word}'"), (*word).to_owned());
        }
        ValueKind::Duration => ("'1m1s'", "61s"),
        ValueKind::StringList | ValueKind::Globs => ("['*', 'DL4001']", "*, DL4001,"),
        ValueKind::Variables => ("['ONE', 'TWO']", "ONE,TWO"),
        ValueKind::Assignments => ("['ONE=1,2', 'TWO=']", "ONE=1,2\nTWO="),
        ValueKind::Hosts => ("['a.test', '*.b.test']", "a.test,*.b.test"),
        ValueKind::Argv => ("['an agent', '--acp']", "'an agent' --acp"),
        ValueKind::Runners => {
            let table = "[{ match = '*.kt', command = ['./run', '{name}'], report = '-' }]";
            (table, table)
        }
        ValueKind::OwnRules => {
            let table = "[{ name = 'a', message = 'b', when = 'true' }]";
            (table, table)
        }
        ValueKind::SecretMounts => panic!("no key is a table"),
    };
    (in_file.to_owned(), in_variable.to_owned())
}

/// A file that sets one key; hosts need their mode beside them.
fn file_with(dialect: Dialect, owner: Owner, key: &Key, value: &str) -> Layer {
    let path = key.path_in(dialect).unwrap();
    let mode = match path.strip_suffix("network.allow") {
        Some(table) => format!("\n{table}network.mode = 'allowlist'"),
        None => String::new(),
    };
    let text = format!("{path} = {value}{mode}");
    let source = Source { dialect, owner, path: Path::new("f.toml"), text: &text };
    read(&CATALOGUE, source).unwrap_or_else(|error| panic!("{text}: {error}")).0
}

fn variable(called: Name, name: &str, value: &str) -> Layer {
    let variables = [(OsString::from(name), OsString::from(value))];
    let reading = Reading { catalogue: &CATALOGUE, name: called, sections: table::SECTIONS };
    let (layer, warnings) = reading.read(variables).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    layer
}

/// Every way to set a key: what it is, its layer, and the rank of its origin.
fn sources(key: &'static Key) -> Vec<(String, Layer)> {
    let (in_file, in_variable) = another_value(key);
    let mut sources = Vec::new();
    for owner in [Owner::User, Owner::Repository] {
        for dialect in [Dialect::Probity, Dialect::Tally, Dialect::Containai] {
            // These two are refused there: a repository must not choose which key goes where.
            let is_refused =
                dialect == Dialect::Tally && ["ai.endpoint", "ai.api-key-env"].contains(&key.path);
            if key.path_in(dialect).is_some() && !is_refused {
                let layer = file_with(dialect, owner, key, &in_file);
                sources.push((format!("{dialect:?} file of {owner:?}"), layer));
            }
        }
    }
    for called in [Name::Probity, Name::Tally, Name::CiAgentReview] {
        for name in key.variables(called) {
            sources
                .push((format!("{name} under {called:?}"), variable(called, &name, &in_variable)));
        }
    }
    if let Some(flag) = key.flag {
        let mut layer = Layer::default();
        let name = format!("--{}", flag.long);
        layer.parse(key, &in_variable, Origin::Flag { name: name.clone() }).unwrap();
        sources.push((name, layer));
    }
    sources
}

fn value_of(merged: &Merged, key: &Key) -> Option<Value> {
    if key.appends {
        return Some(Value::List(merged.items(key).into_iter().map(|item| item.value).collect()));
    }
    merged.setting(key).map(|setting| setting.value.clone())
}

#[test]
fn every_source_of_every_key_has_the_same_effect_and_is_remembered() {
    let mut cases = 0;
    for key in table::keys() {
        let (_, in_variable) = another_value(key);
        let expected = key.kind.parse(&in_variable).unwrap();
        assert_ne!(Some(&expected), key.default_value().as_ref(), "{}", key.path);
        for (source, layer) in sources(key) {
            let set =
                layer.settings.get(key.path).unwrap_or_else(|| panic!("{}: {source}", key.path));
            let (settings, _) = resolve(&[&layer], Vec::new());
            assert_eq!(
                value_of(&settings.merged, key),
                Some(expected.clone()),
                "{}: {source}",
                key.path
            );
            if !key.appends {
                assert_eq!(settings.merged.origin(key), &set.origin, "{}: {source}", key.path);
            }
            cases += 1;
        }
    }
    assert!(cases > 400, "{cases} cases");
}

#[test]
fn a_stronger_source_wins_whatever_the_key() {
    for key in table::keys().filter(|key| !key.appends) {
        let mut layers = sources(key);
        layers.sort_by_key(|(_, layer)| layer.settings[key.path].origin.rank());
        for (index, (strong, layer)) in layers.iter().enumerate() {
            let below: Vec<&Layer> =
                layers.iter().take(index).map(|(_, layer)| layer).chain([layer]).collect();
            let (settings, _) = resolve(&below, Vec::new());
            let origin = &layer.settings[key.path].origin;
            assert_eq!(settings.merged.origin(key), origin, "{}: {strong}", key.path);
        }
    }
}

#[test]
fn a_peers_file_takes_no_key_of_ours_alone() {
    for key in table::keys() {
        let (in_file, _) = another_value(key);
        for (dialect, name) in [(Dialect::Tally, "tally.toml"), (Dialect::Containai, "config.toml")]
        {
            if key.path_in(dialect).is_none() {
                let error = file_of(dialect, name, &format!("{} = {in_file}", key.path));
                let error = error.expect_err(key.path);
                assert!(error.contains("unknown key"), "{}: {error}", key.path);
            }
        }
    }
}

#[test]
fn the_table_is_listed() {
    let mut page = String::new();
    for key in table::keys() {
        let flag = key.flag.map(|flag| format!("--{}", flag.long));
        let no_flag = key.no_flag.map(|(long, _)| format!("--{long}"));
        let flags: Vec<String> = flag.into_iter().chain(no_flag).collect();
        let mut variables = key.variables(Name::Probity);
        variables.extend(key.variables(Name::CiAgentReview));
        variables.dedup();
        let peers = [Dialect::Tally, Dialect::Containai].map(|dialect| key.path_in(dialect));
        let peers: Vec<&str> = peers.into_iter().flatten().collect();
        let or =
            |text: String, otherwise: &str| if text.is_empty() { otherwise.into() } else { text };
        assert!(!key.doc().is_empty() && !key.doc().ends_with('.'), "{}: {}", key.path, key.doc());
        assert!(variables.iter().any(|name| name.starts_with("PROBITY_")), "{}", key.path);
        page.push_str(&format!(
            "{} | {} | {} | {} | {}{}\n",
            key.path,
            or(flags.join(" "), "no flag"),
            variables.join(" "),
            or(peers.join(" "), if key.in_file { "only probity.toml" } else { "no file" }),
            or(key.default_text(), "unset"),
            if key.guard == Guard::Open || !key.in_file { "" } else { " | guarded" },
        ));
    }
    insta::assert_snapshot!(page, @r###"
check.preset | --preset | PROBITY_CHECK__PRESET | only probity.toml | recommended
check.unsafe-fixes | --fix-unsafe | PROBITY_CHECK__UNSAFE_FIXES TALLY_UNSAFE_FIXES TALLY_FIX_UNSAFE | unsafe-fixes | unset
check.fix-level | --fix-level | PROBITY_CHECK__FIX_LEVEL | no file | unset
check.fix | --fix | PROBITY_CHECK__FIX TALLY_FIX | no file | false
check.fix-rule | --fix-rule | PROBITY_CHECK__FIX_RULE TALLY_FIX_RULE | no file | unset
check.exclude | --exclude | PROBITY_CHECK__EXCLUDE TALLY_EXCLUDE | no file | unset
check.context | --context | PROBITY_CHECK__CONTEXT TALLY_CONTEXT | no file | unset
check.baseline | --baseline | PROBITY_CHECK__BASELINE | only probity.toml | unset | guarded
check.rule | no flag | PROBITY_CHECK__RULE | only probity.toml | unset
check.output.format | --format | PROBITY_CHECK__OUTPUT_FORMAT TALLY_OUTPUT_FORMAT TALLY_FORMAT | output.format | text
check.output.path | --output | PROBITY_CHECK__OUTPUT_PATH TALLY_OUTPUT_PATH | output.path | stdout | guarded
check.output.show-source | --show-source --hide-source | PROBITY_CHECK__OUTPUT_SHOW_SOURCE TALLY_OUTPUT_SHOW_SOURCE | output.show-source | true
check.output.fail-level | --fail-level | PROBITY_CHECK__OUTPUT_FAIL_LEVEL TALLY_OUTPUT_FAIL_LEVEL | output.fail-level | warning
check.rules.include | --select | PROBITY_CHECK__RULES_INCLUDE TALLY_RULES_INCLUDE TALLY_RULES_SELECT | rules.include | unset
check.rules.exclude | --ignore | PROBITY_CHECK__RULES_EXCLUDE TALLY_RULES_EXCLUDE TALLY_RULES_IGNORE | rules.exclude | unset
check.inline-directives.enabled | --no-inline-directives | PROBITY_CHECK__INLINE_DIRECTIVES_ENABLED TALLY_INLINE_DIRECTIVES_ENABLED | inline-directives.enabled | true
check.inline-directives.validate-rules | no flag | PROBITY_CHECK__INLINE_DIRECTIVES_VALIDATE_RULES TALLY_INLINE_DIRECTIVES_VALIDATE_RULES | inline-directives.validate-rules | false
check.inline-directives.warn-unused | --warn-unused-directives | PROBITY_CHECK__INLINE_DIRECTIVES_WARN_UNUSED TALLY_INLINE_DIRECTIVES_WARN_UNUSED | inline-directives.warn-unused | false
check.inline-directives.require-reason | --require-reason | PROBITY_CHECK__INLINE_DIRECTIVES_REQUIRE_REASON TALLY_INLINE_DIRECTIVES_REQUIRE_REASON | inline-directives.require-reason | false
check.file-validation.max-file-size | no flag | PROBITY_CHECK__FILE_VALIDATION_MAX_FILE_SIZE TALLY_FILE_VALIDATION_MAX_FILE_SIZE | file-validation.max-file-size | 0 | guarded
check.slow-checks.mode | --slow-checks | PROBITY_CHECK__SLOW_CHECKS_MODE TALLY_SLOW_CHECKS_MODE TALLY_SLOW_CHECKS | slow-checks.mode | auto | guarded
check.slow-checks.timeout | --slow-checks-timeout | PROBITY_CHECK__SLOW_CHECKS_TIMEOUT TALLY_SLOW_CHECKS_TIMEOUT | slow-checks.timeout | 20s | guarded
check.slow-checks.fail-fast | no flag | PROBITY_CHECK__SLOW_CHECKS_FAIL_FAST TALLY_SLOW_CHECKS_FAIL_FAST | slow-checks.fail-fast | true | guarded
check.slow-checks.mirrors | no flag | PROBITY_CHECK__SLOW_CHECKS_MIRRORS | only probity.toml | unset | guarded
check.slow-checks.insecure-registries | no flag | PROBITY_CHECK__SLOW_CHECKS_INSECURE_REGISTRIES | only probity.toml | unset | guarded
check.shellcheck.mode | --shellcheck | PROBITY_CHECK__SHELLCHECK_MODE TALLY_SHELLCHECK_MODE TALLY_SHELLCHECK | shellcheck.mode | native
check.shellcheck.timeout | no flag | PROBITY_CHECK__SHELLCHECK_TIMEOUT TALLY_SHELLCHECK_TIMEOUT | shellcheck.timeout | 1m | guarded
ai.enabled | --ai | PROBITY_AI__ENABLED TALLY_AI_ENABLED | ai.enabled | false | guarded
ai.command | --acp-command | PROBITY_AI__COMMAND TALLY_AI_COMMAND TALLY_ACP_COMMAND | ai.command | unset | guarded
ai.agent | no flag | PROBITY_AI__AGENT TALLY_AI_AGENT | ai.agent | unset | guarded
ai.provider | --ai-provider | PROBITY_AI__PROVIDER TALLY_AI_PROVIDER | ai.provider | unset | guarded
ai.endpoint | --ai-endpoint | PROBITY_AI__ENDPOINT TALLY_AI_ENDPOINT | ai.endpoint | unset | guarded
ai.model | --ai-model | PROBITY_AI__MODEL TALLY_AI_MODEL | ai.model | unset | guarded
ai.api-key-env | --ai-api-key-env | PROBITY_AI__API_KEY_ENV TALLY_AI_API_KEY_ENV | ai.api-key-env | unset | guarded
ai.timeout | --ai-timeout | PROBITY_AI__TIMEOUT TALLY_AI_TIMEOUT | ai.timeout | 1m30s | guarded
ai.max-input-bytes | --ai-max-input-bytes | PROBITY_AI__MAX_INPUT_BYTES TALLY_AI_MAX_INPUT_BYTES | ai.max-input-bytes | 262144 | guarded
ai.secrets-policy | no flag | PROBITY_AI__SECRETS_POLICY TALLY_AI_SECRETS_POLICY | ai.secrets-policy | deny | guarded
ai.autofix-output | no flag | PROBITY_AI__AUTOFIX_OUTPUT TALLY_AI_AUTOFIX_OUTPUT | ai.autofix-output | patch
ai.redact-secrets | --ai-redact-secrets | PROBITY_AI__REDACT_SECRETS TALLY_AI_REDACT_SECRETS | ai.redact-secrets | unset | guarded
ai.max-rounds | no flag | PROBITY_AI__MAX_ROUNDS TALLY_AI_MAX_ROUNDS | ai.max-rounds | 2 | guarded
ai.sandbox | --ai-sandbox | PROBITY_AI__SANDBOX TALLY_AI_SANDBOX | ai.sandbox | auto | guarded
ai.context | no flag | PROBITY_AI__CONTEXT TALLY_AI_CONTEXT | ai.context | none | guarded
ai.context-ignored | no flag | PROBITY_AI__CONTEXT_IGNORED | only probity.toml | false | guarded
ai.proof | --prove | PROBITY_AI__PROOF | only probity.toml | auto | guarded
ai.proof-required | no flag | PROBITY_AI__PROOF_REQUIRED | only probity.toml | static | guarded
ai.proof-pull | no flag | PROBITY_AI__PROOF_PULL | only probity.toml | false | guarded
ai.proof-network | no flag | PROBITY_AI__PROOF_NETWORK | only probity.toml | false | guarded
ai.proof-timeout | no flag | PROBITY_AI__PROOF_TIMEOUT | only probity.toml | 10m | guarded
ai.proof-seconds | no flag | PROBITY_AI__PROOF_SECONDS | only probity.toml | 5 | guarded
ai.proof-command | no flag | PROBITY_AI__PROOF_COMMAND | only probity.toml | unset | guarded
ai.proof-build-args | --prove-build-arg | PROBITY_AI__PROOF_BUILD_ARGS | only probity.toml | unset
ai.proof-target | --prove-target | PROBITY_AI__PROOF_TARGET | only probity.toml | unset
ai.proof-platform | --prove-platform | PROBITY_AI__PROOF_PLATFORM | only probity.toml | unset
ai.proof-disk | no flag | PROBITY_AI__PROOF_DISK | only probity.toml | 20g | guarded
audit.provider | --provider | PROBITY_AUDIT__PROVIDER | only probity.toml | unset | guarded
audit.endpoint | --endpoint | PROBITY_AUDIT__ENDPOINT | only probity.toml | unset | guarded
audit.model | --model | PROBITY_AUDIT__MODEL | only probity.toml | unset | guarded
audit.api-key-env | --api-key-env | PROBITY_AUDIT__API_KEY_ENV | only probity.toml | unset | guarded
audit.agent | --agent | PROBITY_AUDIT__AGENT | only probity.toml | unset | guarded
audit.sandbox | --sandbox | PROBITY_AUDIT__SANDBOX | only probity.toml | auto | guarded
audit.env | --env | PROBITY_AUDIT__ENV | only probity.toml | unset | guarded
audit.jobs | --jobs | PROBITY_AUDIT__JOBS | only probity.toml | 1 | guarded
audit.budget | --budget | PROBITY_AUDIT__BUDGET | only probity.toml | unset | guarded
audit.max-tokens | --max-tokens | PROBITY_AUDIT__MAX_TOKENS | only probity.toml | unset | guarded
audit.timeout | --timeout | PROBITY_AUDIT__TIMEOUT | only probity.toml | 10m | guarded
audit.read-scope | --read-scope | PROBITY_AUDIT__READ_SCOPE | only probity.toml | workspace | guarded
audit.interactive-permissions | --interactive-permissions | PROBITY_AUDIT__INTERACTIVE_PERMISSIONS | only probity.toml | false | guarded
audit.numbered-reads | --numbered-reads | PROBITY_AUDIT__NUMBERED_READS | only probity.toml | false
audit.allow-sensitive | --allow-sensitive | PROBITY_AUDIT__ALLOW_SENSITIVE | only probity.toml | false | guarded
audit.allow-ignored | --allow-ignored | PROBITY_AUDIT__ALLOW_IGNORED | only probity.toml | false | guarded
audit.skills-dir | --skills-dir | PROBITY_AUDIT__SKILLS_DIR | only probity.toml | skills/vulnerabilities | guarded
audit.include | --include | PROBITY_AUDIT__INCLUDE | only probity.toml | unset
audit.state-out | --state-out | PROBITY_AUDIT__STATE_OUT | only probity.toml | .tx3/audit/state.json | guarded
audit.report-out | --report-out | PROBITY_AUDIT__REPORT_OUT | only probity.toml | .tx3/audit/vulnerabilities.md | guarded
audit.format | --format | PROBITY_AUDIT__FORMAT | only probity.toml | markdown
audit.fail-on | --fail-on | PROBITY_AUDIT__FAIL_ON | only probity.toml | unset | guarded
audit.prove-rounds | --prove-rounds | PROBITY_AUDIT__PROVE_ROUNDS | only probity.toml | 4 | guarded
audit.prove-timeout | --prove-timeout | PROBITY_AUDIT__PROVE_TIMEOUT | only probity.toml | 30m | guarded
review.agent | --agent | PROBITY_REVIEW__AGENT AGENT_CLI | only probity.toml | claude | guarded
review.model | --model | PROBITY_REVIEW__MODEL AGENT_MODEL | only probity.toml | unset | guarded
review.profile | --profile | PROBITY_REVIEW__PROFILE REVIEW_PROFILE | only probity.toml | default | guarded
review.config | --config | PROBITY_REVIEW__CONFIG REVIEW_CONFIG | only probity.toml | unset | guarded
review.threshold | --threshold | PROBITY_REVIEW__THRESHOLD SCORE_THRESHOLD | only probity.toml | 7.0 | guarded
review.fail-on-critical | --fail-on-critical | PROBITY_REVIEW__FAIL_ON_CRITICAL FAIL_ON_CRITICAL | only probity.toml | false | guarded
review.fail-on | --fail-on | PROBITY_REVIEW__FAIL_ON | only probity.toml | high | guarded
review.paths | --paths | PROBITY_REVIEW__PATHS REVIEW_PATHS | only probity.toml | unset | guarded
review.diff-only | --diff-only | PROBITY_REVIEW__DIFF_ONLY REVIEW_DIFF_ONLY | only probity.toml | false
review.whole | --whole | PROBITY_REVIEW__WHOLE | only probity.toml | false | guarded
review.base | --base | PROBITY_REVIEW__BASE BASE_REF | only probity.toml | unset | guarded
review.database-url | --database-url | PROBITY_REVIEW__DATABASE_URL DATABASE_URL | only probity.toml | unset | guarded
review.history | --no-history | PROBITY_REVIEW__HISTORY | only probity.toml | true | guarded
review.report-only | --report-only | PROBITY_REVIEW__REPORT_ONLY REVIEW_REPORT_ONLY | only probity.toml | false | guarded
review.budget | --budget | PROBITY_REVIEW__BUDGET | only probity.toml | unset | guarded
review.proof-level | --proof-level | PROBITY_REVIEW__PROOF_LEVEL REVIEW_PROOF_LEVEL | only probity.toml | unset | guarded
review.max-fix-rounds | --max-fix-rounds | PROBITY_REVIEW__MAX_FIX_ROUNDS | only probity.toml | 1 | guarded
review.suite-timeout | --suite-timeout | PROBITY_REVIEW__SUITE_TIMEOUT | only probity.toml | 2m | guarded
review.proof-timeout | --proof-timeout | PROBITY_REVIEW__PROOF_TIMEOUT | only probity.toml | unset | guarded
review.runner | no flag | PROBITY_REVIEW__RUNNER | only probity.toml | unset | guarded
review.runners | --runners | PROBITY_REVIEW__RUNNERS | only probity.toml | unset | guarded
review.max-findings | --max-findings | PROBITY_REVIEW__MAX_FINDINGS | only probity.toml | 50 | guarded
review.timeout | --timeout | PROBITY_REVIEW__TIMEOUT | only probity.toml | 10m | guarded
review.jobs | --jobs | PROBITY_REVIEW__JOBS | only probity.toml | 0 | guarded
review.sandbox | --sandbox | PROBITY_REVIEW__SANDBOX REVIEW_SANDBOX PROBITY_REVIEW__SANDBOX | only probity.toml | auto | guarded
review.env | --env | PROBITY_REVIEW__ENV | only probity.toml | unset | guarded
review.fetch-hosts | no flag | PROBITY_REVIEW__FETCH_HOSTS | only probity.toml | unset | guarded
review.fetch-env | no flag | PROBITY_REVIEW__FETCH_ENV | only probity.toml | unset | guarded
review.fetch-files | no flag | PROBITY_REVIEW__FETCH_FILES | only probity.toml | unset | guarded
review.format | --format | PROBITY_REVIEW__FORMAT | only probity.toml | unset
review.output | --output | PROBITY_REVIEW__OUTPUT OUTPUT_DIR | only probity.toml | review | guarded
containment.image | no flag | PROBITY_CONTAINMENT__IMAGE | image.name | unset | guarded
containment.runtime | no flag | PROBITY_CONTAINMENT__RUNTIME | container.runtime | auto | guarded
containment.memory | no flag | PROBITY_CONTAINMENT__MEMORY | container.memory | unset | guarded
containment.cpus | no flag | PROBITY_CONTAINMENT__CPUS | container.cpus | unset | guarded
containment.processes | no flag | PROBITY_CONTAINMENT__PROCESSES | only probity.toml | unset | guarded
containment.tmp | no flag | PROBITY_CONTAINMENT__TMP | only probity.toml | unset | guarded
containment.shm | no flag | PROBITY_CONTAINMENT__SHM | only probity.toml | unset | guarded
containment.file-size | no flag | PROBITY_CONTAINMENT__FILE_SIZE | only probity.toml | unset | guarded
containment.agent | no flag | PROBITY_CONTAINMENT__AGENT | agent.default | unset | guarded
containment.env | no flag | PROBITY_CONTAINMENT__ENV | env.import | unset | guarded
containment.logins | no flag | PROBITY_CONTAINMENT__LOGINS | import.additional_paths | unset | guarded
containment.network.mode | no flag | PROBITY_CONTAINMENT__NETWORK_MODE | network.mode | open | guarded
containment.network.allow | no flag | PROBITY_CONTAINMENT__NETWORK_ALLOW | network.allow | unset | guarded
containment.acp.process | no flag | PROBITY_CONTAINMENT__ACP_PROCESS | acp.process | session | guarded
containment.acp.terminals | no flag | PROBITY_CONTAINMENT__ACP_TERMINALS | acp.terminals | none | guarded
containment.acp.fs | no flag | PROBITY_CONTAINMENT__ACP_FS | only probity.toml | none | guarded
"###);
}

#[test]
fn the_same_flag_or_variable_never_means_two_keys_of_a_command() {
    let command = |key: &Key| if key.section() == "ai" { "check" } else { key.section() };
    let mut seen = std::collections::BTreeSet::new();
    for key in table::keys() {
        let flags =
            key.flag.map(|flag| flag.long).into_iter().chain(key.no_flag.map(|(long, _)| long));
        for flag in flags {
            assert!(seen.insert(format!("{} --{flag}", command(key))), "{flag}");
        }
        for name in key.variables(Name::Probity) {
            assert!(seen.insert(name.clone()), "{name}");
        }
    }
    assert_eq!(key("ai.timeout").variables(Name::Tally), ["TALLY_AI_TIMEOUT"]);
}
