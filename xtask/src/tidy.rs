//! `cargo xtask tidy`: the rules of the house that the compiler does not know.
//!
//! One check a file. A check takes the workspace and returns problems; it never stops at the first,
//! and never prints.

mod arrows;
mod bans;
mod command_line;
mod deny;
mod inner_attributes;
mod lengths;
mod lexer;
mod licences;
mod locks;
mod manifest;
mod manifests;
mod markdown;
mod paths;
mod prose;
mod sentences;
mod shell_rules;
mod sources;
mod spdx;
mod workspace;

use std::{fmt, path::Path};

use crate::Report;
use workspace::Workspace;

/// How much a problem matters; in the order of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Printed, and no more.
    Note,
    /// The tree is not tidy.
    Error,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub(crate) weight: Weight,
    /// Relative to the root, with `/`.
    pub(crate) file: String,
    /// Counted from one.
    pub(crate) line: Option<usize>,
    pub(crate) what: String,
    /// Why it matters, and the way out.
    pub(crate) why: String,
}

impl Problem {
    pub(crate) fn new(
        file: impl Into<String>,
        line: impl Into<Option<usize>>,
        what: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        let (file, line, what, why) = (file.into(), line.into(), what.into(), why.into());
        Self { weight: Weight::Error, file, line, what, why }
    }

    pub(crate) fn into_note(self) -> Self {
        Self { weight: Weight::Note, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.weight == Weight::Note {
            formatter.write_str("note: ")?;
        }
        formatter.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}\n    {}", self.what, self.why)
    }
}

type Check = fn(&Workspace) -> Vec<Problem>;

const CHECKS: &[Check] = &[
    arrows::check,
    locks::check,
    manifests::check,
    sources::check,
    paths::check,
    licences::check,
    bans::check,
    command_line::check,
    lengths::check,
    prose::check,
    sentences::check,
    shell_rules::check,
];

pub(crate) fn run(root: &Path) -> Result<Report, String> {
    let workspace = Workspace::load(root)?;
    let mut problems: Vec<Problem> = CHECKS.iter().flat_map(|check| check(&workspace)).collect();
    problems.sort();
    problems.dedup();
    let errors = problems.iter().filter(|problem| problem.weight == Weight::Error).count();
    let mut text: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    text.push_str(&match errors {
        0 => format!("tidy: {} sources, no problem\n", workspace.sources.len()),
        1 => "tidy: 1 problem\n".to_owned(),
        count => format!("tidy: {count} problems\n"),
    });
    Ok(Report { text, clean: errors == 0 })
}
