//! The rules, their registry, suppression, and the loop that fixes until nothing changes.
//!
//! **Invariant:** text in, values out; pure and synchronous. Rules never read a file, never wait
//! and never know each other: what two rules need is a fact of probity-dockerfile.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-lint is pure"))]

#[macro_use]
mod engine;
mod facts;
mod rules;
mod shellcheck;
mod text;

use probity_dockerfile::{Dockerfile, Dockerignore, Facts};
use probity_finding::Finding;
use probity_secrets::FindSecrets;

use crate::engine::{
    context::Context, detections, directive::Directives, exclusion, rejection, suppress, syntax,
    template, union, uses,
};
pub use probity_shell::{shell_code_about, shell_codes};

pub use crate::{
    engine::{
        detections::{AI_DETECTORS, AiDetector, DETECTION_SEVERITY, Detection},
        directive::DirectiveOptions,
        elsewhere::is_foreign_code,
        exclusion::{EXCLUSIONS, Exclusion, Reach},
        fix::{
            AppliedFix, FixMode, FixOptions, Fixed, KnownFindings, SkipReason, SkippedFix,
            agent_fixes, apply_given, fix, fix_parsed, new_findings,
        },
        own_rule::{
            ExpressionError, OWN_NAMESPACE, OwnRule, OwnRuleError, WrittenRule, WrongExample,
        },
        parsed::{Detached, Parsed},
        preset::Preset,
        rejection::Rejection,
        rule::{Category, Metadata, OptionKind, OptionSpec, OptionValue, Rule, SecretMount},
        ruleset::{Pattern, RuleChoice, RuleSet},
        suppress::META_RULES,
        syntax::{SYNTAX_RULES, is_syntax_rule},
        uses::{BuildUse, BuildUses},
    },
    facts::{
        base_images::{BaseConfiguration, BaseImage, BaseImages, ImageAnswer, TagNow, WantedImage},
        conda::{
            CONDA_PROGRAMS, CondaCall, CondaPackage, conda_call, conda_package, conda_parts,
            is_conda_image,
        },
        context_files::{ContextFiles, WantedFiles},
        secret_names::names_a_secret,
    },
    rules::RULES,
    shellcheck::{ScriptFinding, ShellChecker, ShellScript, shell_scripts},
};

/// What a run over one file depends on, beside its text.
#[derive(Clone, Copy, Debug)]
pub struct LintOptions<'a> {
    pub rules: &'a RuleSet,
    /// How builds use the file, where a Compose or Bake file says it.
    pub uses: Option<&'a BuildUses>,
    pub directives: DirectiveOptions,
    /// The ignore file of the build context, where the context is known.
    pub dockerignore: Option<&'a Dockerignore>,
    /// Files of the build context, where it is known; see [`WantedFiles`].
    pub context_files: Option<&'a ContextFiles>,
    /// What registries say about base images, where they were asked; see [`WantedImage`].
    pub base_images: Option<&'a BaseImages>,
    /// What an agent found in the file, where one was asked.
    pub detections: &'a [Detection],
    /// Knows what a secret looks like; without it the rules about secrets find nothing.
    pub secrets: Option<&'a dyn FindSecrets>,
}

/// Everything that is wrong with a Dockerfile, in report order.
///
/// A file that BuildKit would reject is linted all the same: the rules see what could be parsed.
#[must_use]
pub fn lint(text: &str, options: &LintOptions<'_>) -> Vec<Finding> {
    lint_parsed(&Parsed::of(text), options)
}

/// The same for a file that is parsed already.
#[must_use]
pub fn lint_parsed(parsed: &Parsed<'_>, options: &LintOptions<'_>) -> Vec<Finding> {
    let file = &parsed.file;
    if options.rules.recognizes_other_files()
        && let Some(finding) = syntax::other_file(file)
    {
        return vec![finding];
    }
    let directives = Directives::of(file, options.directives);
    let views = uses::views(parsed, options.uses, options.secrets);
    let experimental = directives.experimental();
    let mut findings =
        union::union(&views, parsed, |facts| found_by_rules(file, facts, options, experimental));
    findings.extend(detections::findings(file, options.detections, options.rules));
    findings.retain(|finding| !finding.alias.is_some_and(|alias| options.rules.is_muted(alias)));
    suppress::apply(&mut findings, file, &directives, options);
    if options.rules.settles_contradictions() {
        template::settle(file, &mut findings);
        exclusion::settle(file, &mut findings, options.rules.weighs_shell_findings());
    }
    rejection::withhold_fixes(file, &parsed.facts, &mut findings);
    // Sorting the list itself would need room for a second one while everything else is in memory.
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by(|&a, &b| findings[a].report_order(&findings[b]));
    rearrange(&mut findings, &order);
    findings.dedup_by(|a, b| a.rule == b.rule && a.span == b.span && a.message == b.message);
    findings
}

/// What the rules say about one build.
fn found_by_rules(
    file: &Dockerfile<'_>,
    facts: &Facts,
    options: &LintOptions<'_>,
    experimental: &[Pattern],
) -> Vec<Finding> {
    let mut findings = syntax::findings(file, facts);
    let reads_defaults = options.rules.reads_defaults();
    if reads_defaults || options.uses.is_some() {
        findings.extend(syntax::invalid_ports(facts, reads_defaults));
    }
    for (rule, choice) in options.rules.active(experimental) {
        let context = Context::new(file, facts, options, rule.metadata(), choice);
        rule.check(&context, &mut findings);
    }
    for (rule, severity) in options.rules.active_own() {
        rule.check(file, facts, severity, &mut findings);
    }
    if options.rules.checks_shell() {
        findings.extend(shellcheck::findings(file, facts, options.rules));
    }
    findings
}

/// Puts the finding of each number in `order` where the number stands.
fn rearrange(findings: &mut [Finding], order: &[usize]) {
    let mut place = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        place[from] = to;
    }
    for index in 0..place.len() {
        while place[index] != index {
            let to = place[index];
            findings.swap(index, to);
            place.swap(index, to);
        }
    }
}
