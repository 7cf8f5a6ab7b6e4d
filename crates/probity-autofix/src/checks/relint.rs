//! Linting the proposal, with agents off and safe fixes in.

use std::collections::BTreeMap;

use probity_finding::{Applicability, Finding, Severity};
use probity_lint::FixOptions;

use super::{Change, Check, Issue};

pub(crate) const LINT: Check = Check::new("lint", lint);

/// New is what a rule finds more often than in the original. Safe fixes would be applied to the
/// proposal anyway, so what they mend does not count, unless other rules were asked for.
fn lint(_check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let options = change.fix;
    let raw = found(change.after.text, options);
    // Most proposals have no errors at all, and linting is what costs time here.
    if count(&raw).is_empty() {
        return Vec::new();
    }
    let old = count(&found(change.before.text, options));
    let settled = if options.only.is_empty() {
        let safe = FixOptions { ceiling: Applicability::Safe, ..*options };
        probity_lint::fix(change.after.text, &safe).remaining
    } else {
        raw.clone()
    };
    let now = count(&settled);
    let is_new = |finding: &&Finding| {
        let rule = finding.rule.as_ref();
        is_error(finding) && now.get(rule) > old.get(rule)
    };
    // The places are those of the text that the agent wrote and will be shown.
    raw.iter()
        .filter(is_new)
        .map(|finding| {
            let issue = Issue::new(finding.rule.as_ref(), &finding.message, change.file_name);
            match finding.span {
                Some(span) => issue.at(change.after, span),
                None => issue,
            }
        })
        .collect()
}

fn found(text: &str, options: &FixOptions<'_>) -> Vec<Finding> {
    let mut found = probity_lint::lint(text, &options.lint);
    found.retain(|finding| !options.excluded.contains(&finding.rule.as_ref()));
    found
}

fn count(findings: &[Finding]) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for finding in findings.iter().filter(|finding| is_error(finding)) {
        *count.entry(finding.rule.to_string()).or_default() += 1;
    }
    count
}

/// What does not parse is another check's business.
fn is_error(finding: &Finding) -> bool {
    finding.severity == Severity::Error && !probity_lint::is_syntax_rule(&finding.rule)
}
