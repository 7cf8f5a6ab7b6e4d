//! Syntax errors as findings, so that a broken file is reported like any other.

use probity_dockerfile::{Dockerfile, ErrorKind, SyntaxError};
use probity_finding::{Finding, Severity};

/// The rules of syntax, with what each is about. They cannot be switched off: what BuildKit rejects
/// has no image.
pub const SYNTAX_RULES: &[(&str, &str)] = &[
    ("tally/require-stages", "The file has no stage to build."),
    ("tally/syntax-error", "BuildKit would reject the file here."),
    ("tally/unknown-instruction", "The instruction does not exist."),
];

/// Whether a finding's rule is one of syntax, which the exit code tells apart.
#[must_use]
pub fn is_syntax_rule(rule: &str) -> bool {
    SYNTAX_RULES.iter().any(|(name, _)| *name == rule)
}

pub(crate) fn findings(file: &Dockerfile<'_>) -> Vec<Finding> {
    // A file whose FROM is misspelt has no stage either; the misspelling says it all.
    let is_alone = file.errors.len() == 1;
    let said = file.errors.iter().filter(|error| is_alone || error.code != ErrorKind::NoStages);
    said.map(finding).collect()
}

fn finding(error: &SyntaxError) -> Finding {
    let rule = match error.code {
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
