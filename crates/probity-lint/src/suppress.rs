//! Taking out what the file's directives suppress, and reporting directives that do not work.

use probity_dockerfile::Dockerfile;
use probity_finding::{Finding, Severity};

use crate::{
    LintOptions, RULES,
    directive::{Directives, Ignore, Scope},
    elsewhere::is_known_elsewhere,
    ruleset::same_rule,
    syntax::is_syntax_rule,
};

/// The rules about directives, with what each is about.
pub const META_RULES: &[(&str, &str)] = &[
    ("tally/invalid-ignore-directive", "A directive cannot be understood or names no rule."),
    ("tally/missing-directive-reason", "A directive gives no reason."),
    ("tally/unused-ignore-directive", "A directive suppresses nothing."),
];

pub(crate) fn apply(
    findings: Vec<Finding>,
    file: &Dockerfile<'_>,
    directives: &Directives,
    options: &LintOptions<'_>,
) -> Vec<Finding> {
    let mut used = vec![false; directives.ignores.len()];
    let mut kept = Vec::with_capacity(findings.len());
    for mut finding in findings {
        if !is_syntax_rule(&finding.rule) {
            let at = instruction_of(file, &finding);
            let hit = directives.ignores.iter().position(|ignore| suppresses(ignore, &finding, at));
            if let Some(index) = hit {
                used[index] = true;
                continue;
            }
            if directives.checks_are_errors && finding.rule.starts_with("buildkit/") {
                finding.severity = Severity::Error;
            }
        }
        kept.push(finding);
    }
    kept.extend(meta_findings(directives, &used, options));
    kept
}

/// The index of the instruction that a finding stands in.
fn instruction_of(file: &Dockerfile<'_>, finding: &Finding) -> Option<usize> {
    let span = finding.span?;
    let index = file.instructions.partition_point(|i| i.span.end < span.start);
    let instruction = file.instructions.get(index)?;
    (instruction.span.start <= span.start).then_some(index)
}

fn suppresses(ignore: &Ignore, finding: &Finding, at: Option<usize>) -> bool {
    let here = match ignore.scope {
        Scope::File => true,
        Scope::Instruction(index) => at == Some(index),
        Scope::Stage(start, end) => at.is_some_and(|at| start <= at && at < end),
        Scope::Nowhere => false,
    };
    here && (!ignore.buildkit_only || finding.rule.starts_with("buildkit/"))
        && ignore.rules.iter().any(|named| {
            named.name.eq_ignore_ascii_case("all") || same_rule(&named.name, &finding.rule)
        })
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
            for named in ignore.rules.iter().filter(|named| !is_known(&named.name)) {
                let message = format!("no rule is called `{}`", named.name);
                report("tally/invalid-ignore-directive", named.span, message);
            }
        }
        if asked.warn_unused && !used {
            let message = "this directive suppresses nothing; remove it".to_owned();
            report("tally/unused-ignore-directive", ignore.span, message);
        }
        if asked.require_reason && !ignore.has_reason {
            let message = "say why, with `;reason=…` behind the rules".to_owned();
            report("tally/missing-directive-reason", ignore.span, message);
        }
    }
    found
}

fn is_known(name: &str) -> bool {
    let listed = RULES.iter().map(|rule| rule.metadata().name);
    let listed = listed.chain(META_RULES.iter().map(|(name, _)| *name));
    name.eq_ignore_ascii_case("all")
        || is_known_elsewhere(name)
        || listed.into_iter().any(|rule| same_rule(name, rule))
}
