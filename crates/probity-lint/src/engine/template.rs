//! Templates that become Dockerfiles: one finding for what is not Dockerfile syntax in them.
//!
//! The instructions of a template are worth checking, and its placeholders are not.

use probity_dockerfile::{Dockerfile, ErrorKind};
use probity_finding::{Finding, Severity, Span};

use crate::engine::{
    overlap::Overlaps,
    syntax::{NOT_A_DOCKERFILE, is_syntax_rule},
};

/// How placeholders and statements of template languages begin and end.
const MARKERS: &[(&str, &str)] =
    &[("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("<%", "%>"), ("%%", "%%")];

/// Replaces the findings about placeholders by one that says that the file is a template.
pub(crate) fn settle(file: &Dockerfile<'_>, findings: &mut Vec<Finding>) {
    if !is_template(file) {
        return;
    }
    let placeholders = Overlaps::of(placeholders(file.text));
    let is_about_one = |span: Span| placeholders.come_near(span, 1);
    findings.retain(|finding| {
        !is_syntax_rule(&finding.rule) && !finding.span.is_some_and(is_about_one)
    });
    let message = "this is a template, so only what is not a placeholder is checked; check the rendered \
                   file, or exclude the template with `--exclude`";
    findings.push(Finding::of_file(NOT_A_DOCKERFILE, Severity::Error, message));
}

/// Whether a statement of a template language is where an instruction should be.
fn is_template(file: &Dockerfile<'_>) -> bool {
    let mut unknown =
        file.errors.iter().filter(|error| error.code == ErrorKind::UnknownInstruction);
    unknown.any(|error| {
        let text = error.span.slice(file.text).unwrap_or_default();
        MARKERS.iter().any(|(begin, _)| text.starts_with(begin))
    })
}

fn placeholders(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for (begin, end) in MARKERS {
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(begin)) {
            let start = from + at;
            let inner = start + begin.len();
            let length = text.get(inner..).and_then(|rest| rest.find(end));
            let Some(length) = length else { break };
            from = inner + length + end.len();
            found.push(Span::new(start, from));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Preset, RuleSet, engine::harness::lint_with};

    #[test]
    fn a_template_is_one_finding_beside_those_of_its_instructions() {
        let text = "FROM {{ base }}\n{% if a %}\nRUN curl https://a | sh -s {{ b }}\n{% endif %}\n\
                    EXPOSE {{ port }}\nCMD [\"{{ c }}\"]\n";
        let found = lint_with(text, &RuleSet::of(Preset::Recommended));
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule.as_ref()).collect();
        assert_eq!(rules, ["probity/not-a-dockerfile", "probity/unverified-script"]);
        let as_tally = lint_with(text, &RuleSet::default());
        assert!(as_tally.iter().any(|finding| finding.rule == "tally/unknown-instruction"));
    }

    #[test]
    fn a_misspelt_instruction_is_not_a_template() {
        let found = lint_with("FROM a:1\nRNU {{ x }}\n", &RuleSet::of(Preset::Recommended));
        assert_eq!(found[0].rule, "tally/unknown-instruction");
    }
}
