//! `[[review.runner]]`: commands that run tests, as tables of the file.

use probity_proof::{CustomRunner, CustomRunnerError};
use serde::Deserialize;
use serde_json::json;

use super::{kind::ValueKind, setting::Setting, value::Value};

/// The tables as they are written; each has been read once already.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Runners(Vec<toml::Table>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "match")]
    files: String,
    command: Vec<String>,
    report: String,
    #[serde(default)]
    build: Vec<String>,
    #[serde(default)]
    suite: Vec<String>,
}

impl Runners {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In their order; none is left out, because none got here that cannot be read.
    pub(crate) fn read(&self) -> Vec<CustomRunner> {
        self.0.iter().filter_map(|table| read(table).ok()).collect()
    }
}

/// Why a table is not a runner.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadRunner {
    #[error("{}", .0.message())]
    Table(#[from] toml::de::Error),
    #[error(transparent)]
    Runner(#[from] CustomRunnerError),
}

fn read(table: &toml::Table) -> Result<CustomRunner, BadRunner> {
    let Written { files, command, report, build, suite } = Written::deserialize(table.clone())?;
    let mut runner = CustomRunner::new(&files, command, &report)?.with_suite(suite)?;
    runner.build = build;
    Ok(runner)
}

/// Why the tables of a text cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunnerTextError {
    #[error("it is not valid TOML: {0}")]
    Syntax(String),
    #[error("`review.runner` must be a list of tables, written as [[review.runner]]")]
    NotTables,
    #[error("`review.runner`: {0}")]
    Table(BadRunner),
}

/// The tables of a `probity.toml`, or of the part of a `pyproject.toml` that is ours. Whatever else
/// it says is not looked at: it may be of another version.
pub(crate) fn of_text(text: &str, tables: &[&str]) -> Result<Runners, RunnerTextError> {
    let root: toml::Table = toml::from_str(text)
        .map_err(|error| RunnerTextError::Syntax(error.message().to_owned()))?;
    let mut found = Some(&root);
    for name in tables.iter().chain(&["review"]) {
        found = found.and_then(|table| table.get(*name)).and_then(toml::Value::as_table);
    }
    let Some(runners) = found.and_then(|review| review.get("runner")) else {
        return Ok(Runners::default());
    };
    let tables = runners.as_array().ok_or(RunnerTextError::NotTables)?;
    let tables: Option<Vec<toml::Table>> =
        tables.iter().map(|table| table.as_table().cloned()).collect();
    let tables = tables.ok_or(RunnerTextError::NotTables)?;
    match check(&tables) {
        Some(why) => Err(RunnerTextError::Table(why)),
        None => Ok(Runners(tables)),
    }
}

/// What is wrong with the first table that cannot be read.
pub(super) fn check(tables: &[toml::Table]) -> Option<BadRunner> {
    tables.iter().find_map(|table| read(table).err())
}

/// The tables in the one string that a variable has: a list of inline tables.
pub(super) fn parse(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(&format!("tables = {text}")).ok()?;
    let tables = table.get("tables")?.as_array()?;
    tables.iter().map(|table| table.as_table().cloned()).collect::<Option<_>>().map(Value::Tables)
}

pub(super) fn schema() -> serde_json::Value {
    let command = |doc: &str| {
        let mut schema = ValueKind::Argv.schema();
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), doc.into());
        }
        schema
    };
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "match": {"type": "string", "description": "Glob of the source files whose tests this command runs"},
                "command": command("Program and arguments that run one test; {name} is its name, {file} its file, {build} the build directory"),
                "report": {"type": "string", "description": "Glob of the JUnit XML or TAP reports that the command writes; - is standard output"},
                "build": command("Program and arguments that compile the test into {build}"),
                "suite": command("Program and arguments that run all tests"),
            },
            "required": ["match", "command", "report"],
            "additionalProperties": false,
        },
    })
}

impl Setting for Runners {
    const KIND: ValueKind = ValueKind::Runners;

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Tables(tables) => Some(Self(tables.clone())),
            _ => None,
        }
    }

    fn to_value(&self) -> Option<Value> {
        (!self.0.is_empty()).then(|| Value::Tables(self.0.clone()))
    }
}
