//! The option of `tally/require-secret-mounts`: programs and the secrets that they need.

use probity_lint::SecretMount;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    target: Option<String>,
    env: Option<String>,
}

/// The secrets of a table that has been checked, by the name of the program.
pub(crate) fn read(programs: &toml::Table) -> Vec<SecretMount> {
    let read = programs.iter().filter_map(|(program, table)| read_one(program, table).ok());
    read.collect()
}

/// Why a table is not one of programs.
pub(super) fn check(programs: &toml::Table) -> Option<BadSecretMount> {
    programs.iter().find_map(|(program, table)| read_one(program, table).err())
}

/// Why the table of a program does not name its secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadSecretMount {
    #[error("`{program}`: {}", error.message())]
    Table { program: String, error: toml::de::Error },
    #[error("`{0}`: `id` is empty; write the id of the secret")]
    NoId(String),
    #[error("`{0}` has neither `target` nor `env`; set one of them")]
    NoPlace(String),
}

fn read_one(program: &str, table: &toml::Value) -> Result<SecretMount, BadSecretMount> {
    let program = program.to_owned();
    match Written::deserialize(table.clone()) {
        Err(error) => Err(BadSecretMount::Table { program, error }),
        Ok(Written { id, .. }) if id.is_empty() => Err(BadSecretMount::NoId(program)),
        Ok(Written { target: None, env: None, .. }) => Err(BadSecretMount::NoPlace(program)),
        Ok(Written { id, target, env }) => Ok(SecretMount { program, id, target, env }),
    }
}

pub(super) fn schema() -> serde_json::Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {"id": {"type": "string", "minLength": 1}, "target": text, "env": text},
            "required": ["id"],
            "anyOf": [{"required": ["target"]}, {"required": ["env"]}],
            "additionalProperties": false,
        },
    })
}
