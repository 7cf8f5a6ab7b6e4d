//! Configuration files as documents: which there are, what is wrong with one, and its schema.

use std::path::Path;

use probity_finding::Severity;
use probity_lsp::ConfigProblem;

use crate::config::{
    Catalogue, ConfigError, Dialect, Layer, Owner,
    error::Problem,
    file::{self, Source},
    guard::{self, Trust},
    hadolint, schema as schema_of, users_file,
};

/// The names of all files that hold settings for `check`.
pub(super) const NAMES: [&str; 6] = [
    "probity.toml",
    file::PYPROJECT,
    ".tally.toml",
    "tally.toml",
    ".hadolint.yaml",
    ".hadolint.yml",
];

/// How a file is read; none for a file that is no configuration.
pub(super) fn dialect(path: &Path) -> Option<Dialect> {
    match path.file_name()?.to_str()? {
        "probity.toml" | file::PYPROJECT => Some(Dialect::Probity),
        ".tally.toml" | "tally.toml" | ".hadolint.yaml" | ".hadolint.yml" => Some(Dialect::Tally),
        _ => None,
    }
}

/// Everything that is wrong or odd in a file.
pub(super) fn problems(path: &Path, text: &str) -> Vec<ConfigProblem> {
    let Some(dialect) = dialect(path) else { return Vec::new() };
    if hadolint::is_hadolint_file(path) {
        return match hadolint::read(path, text) {
            Ok((said, warnings)) => {
                let (_, more) = said.layer(&Catalogue::shipped(), path);
                warnings.iter().chain(&more).map(warning).collect()
            }
            Err(error) => of_error(&error),
        };
    }
    let is_users = users_file().is_some_and(|own| own == path);
    let owner = if is_users { Owner::User } else { Owner::Repository };
    match file::read(&Catalogue::shipped(), Source { dialect, owner, path, text }) {
        Ok((layer, warnings)) => {
            let mut problems: Vec<ConfigProblem> = warnings.iter().map(warning).collect();
            if !is_users {
                problems.extend(refused(layer, dialect));
            }
            problems
        }
        Err(error) => of_error(&error),
    }
}

/// What a repository may not say, whatever the user's own file says.
fn refused(mut layer: Layer, dialect: Dialect) -> Vec<ConfigProblem> {
    let trust = if dialect == Dialect::Probity { Trust::Never } else { Trust::OfTally };
    let refused = guard::restrict(&mut layer, &Layer::default(), dialect, trust);
    let problem = |refused: &guard::Refused| ConfigProblem {
        line: refused.origin.place().map_or(1, |(_, line)| line),
        column: 1,
        severity: Severity::Warning,
        message: format!("{} is ignored: {}", refused.what, refused.why),
    };
    refused.iter().map(problem).collect()
}

/// An error with its places, or at the top where it has none.
pub(super) fn of_error(error: &ConfigError) -> Vec<ConfigProblem> {
    match error {
        ConfigError::Invalid { problems } => {
            problems.iter().map(|problem| placed(problem, Severity::Error)).collect()
        }
        other => vec![ConfigProblem {
            line: 1,
            column: 1,
            severity: Severity::Error,
            message: other.to_string(),
        }],
    }
}

fn warning(problem: &Problem) -> ConfigProblem {
    placed(problem, Severity::Warning)
}

fn placed(problem: &Problem, severity: Severity) -> ConfigProblem {
    let Problem { line, column, message, .. } = problem;
    ConfigProblem { line: *line, column: *column, severity, message: message.clone() }
}

/// The schema of a TOML file; in `pyproject.toml` the settings are below `tool.probity`.
pub(super) fn schema(path: &Path) -> Option<serde_json::Value> {
    if hadolint::is_hadolint_file(path) {
        return None;
    }
    let own = schema_of(&Catalogue::shipped(), dialect(path)?);
    let is_shared = path.file_name().is_some_and(|name| name == file::PYPROJECT);
    Some(if is_shared {
        let tool = serde_json::json!({ "properties": { "probity": own } });
        serde_json::json!({ "properties": { "tool": tool } })
    } else {
        own
    })
}
