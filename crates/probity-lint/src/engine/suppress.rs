//! Taking out what the file's directives suppress, and reporting directives that do not work.

mod index;

use probity_dockerfile::Dockerfile;
use probity_finding::{Finding, Severity};

use crate::{
    AI_DETECTORS, LintOptions, RULES,
    engine::{
        directive::{Directives, Named},
        elsewhere::is_foreign_code,
        ruleset::same_rule,
        suppress::index::Index,
        syntax::{SYNTAX_RULES, is_hadolints, is_syntax_rule},
    },
};

/// The rules about directives, with what each is about.
pub const META_RULES: &[(&str, &str)] = &[
    ("tally/invalid-ignore-directive", "A directive cannot be understood or names no rule."),
    (
        "tally/missing-directive-reason",
        "A directive gives no reason; reported with `--require-reason`.",
    ),
    (
        "tally/unused-ignore-directive",
        "A directive suppresses nothing; reported with `--warn-unused-directives`.",
    ),
];

pub(crate) fn apply(
    findings: &mut Vec<Finding>,
    file: &Dockerfile<'_>,
    directives: &Directives,
    options: &LintOptions<'_>,
) {
    let index = Index::of(&directives.ignores);
    let mut used = vec![false; directives.ignores.len()];
    findings.retain_mut(|finding| {
        let at = instruction_of(file, finding);
        if is_syntax_rule(&finding.rule) {
            // What the build refuses goes only by the name that hadolint, which goes on, has for it.
            let own =
                is_hadolints(&finding.rule).then(|| index.first_that_names(&finding.rule, at));
            if let Some(first) = own.flatten() {
                used[first] = true;
                return false;
            }
        } else {
            let by_alias = finding.alias.and_then(|alias| index.first_that_suppresses(alias, at));
            if let Some(first) = index.first_that_suppresses(&finding.rule, at).or(by_alias) {
                used[first] = true;
                return false;
            }
            if directives.checks_are_errors && finding.rule.starts_with("buildkit/") {
                finding.severity = Severity::Error;
            }
        }
        true
    });
    findings.extend(meta_findings(directives, &used, options));
}

/// The index of the instruction that a finding stands in.
pub(crate) fn instruction_of(file: &Dockerfile<'_>, finding: &Finding) -> Option<usize> {
    let span = finding.span?;
    let index = file.instructions.partition_point(|i| i.span.end < span.start);
    let instruction = file.instructions.get(index)?;
    (instruction.span.start <= span.start).then_some(index)
}

fn meta_findings(
    directives: &Directives,
    used: &[bool],
    options: &LintOptions<'_>,
) -> Vec<Finding> {
    let asked = options.directives;
    let mut found = Vec::new();
    let mut report = |rule, span, message: String| {
        found.push(Finding::new(rule, Severity::Warning, span, message));
    };
    for invalid in &directives.invalid {
        report("tally/invalid-ignore-directive", invalid.span, invalid.message.clone());
    }
    for (ignore, used) in directives.ignores.iter().zip(used) {
        if asked.validate_rules {
            let unknown = |named: &&Named| {
                if ignore.buildkit_only {
                    !is_check(&named.name)
                } else {
                    !is_known(&named.name) && !options.rules.has_own(&named.name)
                }
            };
            for named in ignore.rules.iter().filter(unknown) {
                let message = format!("no rule is called `{}`", named.name);
                report("tally/invalid-ignore-directive", named.span, message);
            }
        }
        if asked.warn_unused && !used {
            let message = "this directive suppresses nothing; remove it".to_owned();
            report("tally/unused-ignore-directive", ignore.span, message);
        }
        if asked.require_reason && !ignore.has_reason {
            let message = "add the reason after the rules: `;reason=…`".to_owned();
            report("tally/missing-directive-reason", ignore.span, message);
        }
    }
    found
}

/// Whether BuildKit has a check of this name, which is bare and has its case.
fn is_check(name: &str) -> bool {
    let mut listed = RULES.iter().map(|rule| rule.metadata().name);
    let full = format!("buildkit/{name}");
    listed.any(|rule| rule == full) || (!name.contains('/') && is_foreign_code(&full))
}

fn is_known(name: &str) -> bool {
    name.eq_ignore_ascii_case("all")
        || is_foreign_code(name)
        || RULES.iter().any(|rule| rule.metadata().is_called(name))
        || META_RULES.iter().any(|(rule, _)| same_rule(name, rule))
        || AI_DETECTORS.iter().any(|detector| same_rule(name, detector.name))
        || SYNTAX_RULES.iter().any(|(rule, _)| is_hadolints(rule) && same_rule(name, rule))
}
