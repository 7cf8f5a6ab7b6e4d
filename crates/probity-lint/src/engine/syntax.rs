//! Syntax errors as findings, so that a broken file is reported like any other.

use std::collections::HashSet;

use probity_dockerfile::{
    DirectiveName, Dockerfile, ErrorKind, Facts, Keyword, Setting, SyntaxError, Value, check_port,
};
use probity_finding::{Finding, Severity};

use crate::engine::directive::check;

/// The rules of syntax, with what each is about. They cannot be switched off: what BuildKit rejects
/// has no image.
pub const SYNTAX_RULES: &[(&str, &str)] = &[
    ("hadolint/DL3011", "`EXPOSE` names a port above 65535 or something that is not a port."),
    ("hadolint/DL3043", "`ONBUILD` triggers `ONBUILD`, `FROM` or `MAINTAINER`."),
    ("hadolint/DL3061", "An instruction other than `ARG` is before the first `FROM`."),
    (NOT_A_DOCKERFILE, "The file is a template, a script or something else."),
    ("tally/require-stages", "The file has no stage to build."),
    ("tally/syntax-error", "BuildKit would reject the file here."),
    ("tally/unknown-instruction", "The instruction does not exist."),
];

pub(crate) const NOT_A_DOCKERFILE: &str = "probity/not-a-dockerfile";

/// The one finding of a file that is not a Dockerfile: it begins with neither `FROM` nor `ARG`, and
/// more than half of its instructions do not exist.
pub(crate) fn other_file(file: &Dockerfile<'_>) -> Option<Finding> {
    let first = file.instructions.first()?;
    let is_unknown = |error: &&SyntaxError| error.code == ErrorKind::UnknownInstruction;
    let unknown = file.errors.iter().filter(is_unknown).count();
    let all = file.instructions.len();
    let begins_as_one = matches!(first.keyword, Keyword::From | Keyword::Arg);
    // A single misspelt instruction is better told by its name.
    (!begins_as_one && unknown > 1 && unknown * 2 > all).then(|| {
        let message = format!(
            "this is not a Dockerfile: it does not begin with FROM or ARG, and {unknown} of {all} \
             instructions do not exist; exclude it with `--exclude`, or check what it is made into"
        );
        Finding::of_file(NOT_A_DOCKERFILE, Severity::Error, message)
    })
}

/// Whether a finding's rule is one of syntax, which the exit code tells apart.
#[must_use]
pub fn is_syntax_rule(rule: &str) -> bool {
    SYNTAX_RULES.iter().any(|(name, _)| *name == rule)
}

pub(crate) fn findings(file: &Dockerfile<'_>, facts: &Facts) -> Vec<Finding> {
    // A file whose FROM is misspelt has no stage either; the misspelling says it all.
    let is_alone = file.errors.len() == 1;
    let said = file.errors.iter().filter(|error| is_alone || error.code != ErrorKind::NoStages);
    let mut found: Vec<Finding> = said.map(finding).collect();
    // What is wrong with an instruction's form is often wrong with its words too; once is enough.
    let lines: HashSet<usize> = file.errors.iter().map(|error| error.line).collect();
    let broken = facts.expansion_errors().iter().filter(|error| {
        let instruction = file.instructions.get(error.instruction);
        instruction.is_none_or(|instruction| !lines.contains(&instruction.lines().0))
    });
    found.extend(broken.map(|error| {
        Finding::new("tally/syntax-error", Severity::Error, error.span, error.message.clone())
    }));
    found.extend(invalid_check(file));
    found
}

/// Ports that only the values of variables make wrong. The parser reports the others.
pub(crate) fn invalid_ports(facts: &Facts, reads_defaults: bool) -> Vec<Finding> {
    let configs = facts.stages().iter().filter_map(|stage| facts.config(stage.index));
    let entries = configs.flat_map(|config| config.get(Setting::Expose));
    let invalid = entries.filter_map(|entry| {
        let Value::Text(text) = &entry.entry.value else { return None };
        let ports = text.value.as_deref().filter(|_| reads_defaults || text.is_constant())?;
        let reason = ports.split_whitespace().find_map(|port| check_port(port).err())?;
        Some(Finding::new("hadolint/DL3011", Severity::Error, entry.span, reason.to_string()))
    });
    invalid.collect()
}

/// BuildKit fails a build whose `check` directive it cannot read.
fn invalid_check(file: &Dockerfile<'_>) -> Option<Finding> {
    let directive =
        file.directives.iter().find(|directive| directive.name == DirectiveName::Check)?;
    let reason = check::parse(&directive.value, directive.value_span.start).err()?;
    let message = format!("failed to parse check options: {reason}");
    Some(Finding::new("tally/syntax-error", Severity::Error, directive.value_span, message))
}

fn finding(error: &SyntaxError) -> Finding {
    let rule = match error.code {
        // hadolint has rules for these, and goes on.
        ErrorKind::InvalidPort => "hadolint/DL3011",
        ErrorKind::InvalidOnbuild => "hadolint/DL3043",
        ErrorKind::InstructionBeforeFrom => "hadolint/DL3061",
        ErrorKind::UnknownInstruction => "tally/unknown-instruction",
        ErrorKind::NoStages | ErrorKind::NoInstructions => "tally/require-stages",
        _ => "tally/syntax-error",
    };
    let finding = match error.code {
        ErrorKind::NoInstructions | ErrorKind::NoStages => {
            Finding::of_file(rule, Severity::Error, error.message.clone())
        }
        _ => Finding::new(rule, Severity::Error, error.span, error.message.clone()),
    };
    match &error.help {
        Some(help) => finding.with_detail(help.clone()),
        None => finding,
    }
}

/// Whether hadolint has a rule of this name, by which the file may suppress what the build refuses.
pub(crate) fn is_hadolints(rule: &str) -> bool {
    is_syntax_rule(rule) && rule.starts_with("hadolint/")
}

#[cfg(test)]
mod tests {
    use crate::{
        Preset, RuleSet,
        engine::harness::{check, lint_with},
    };

    #[test]
    fn words_that_cannot_be_expanded_are_syntax_errors() {
        check(
            "tally/syntax-error",
            "\
FROM alpine:3
ENV a=${X!y}
      ^^^^ failed to process \"${X!y}\": unsupported modifier (!) in substitution
WORKDIR \"a
        ^^ failed to process \"\\\"a\": unexpected end of statement while looking for matching double-quote
ENV b=\"c\" d e=${
          ^ cannot find = in \"d\", must be of the form name=value
",
        );
    }

    #[test]
    fn a_file_that_is_not_a_dockerfile_is_one_finding() {
        let rows = [
            ("#!/bin/sh\nset -e\necho a\nexit 0\n", true),
            ("{{ template }}\n{{ if }}\nRUN a\n", true),
            // Half of the instructions exist, or it begins as a Dockerfile does.
            ("FRM a\nRUN b\n", false),
            ("FRM a\n", false),
            ("FROM a:1\nfoo\nbar\nbaz\n", false),
            ("ARG A\nfoo\nbar\n", false),
        ];
        for (text, is_other) in rows {
            let found = lint_with(text, &RuleSet::of(Preset::All));
            let rules: Vec<&str> = found.iter().map(|finding| finding.rule.as_ref()).collect();
            assert_eq!(rules == ["probity/not-a-dockerfile"], is_other, "{text}: {rules:?}");
            let as_tally = lint_with(text, &RuleSet::default());
            assert!(
                as_tally.iter().all(|finding| finding.rule != "probity/not-a-dockerfile"),
                "{text}"
            );
        }
    }
}
