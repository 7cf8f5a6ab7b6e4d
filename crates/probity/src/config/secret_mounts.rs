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
pub(super) fn check(programs: &toml::Table) -> Option<String> {
    programs.iter().find_map(|(program, table)| read_one(program, table).err())
}

fn read_one(program: &str, table: &toml::Value) -> Result<SecretMount, String> {
    let written = Written::deserialize(table.clone());
    let Written { id, target, env } =
        written.map_err(|error| format!("`{program}`: {}", error.message()))?;
    if id.is_empty() {
        return Err(format!("`{program}`: `id` is empty; write the id of the secret"));
    }
    if target.is_none() && env.is_none() {
        return Err(format!("`{program}` has neither `target` nor `env`; set one of them"));
    }
    Ok(SecretMount { program: program.to_owned(), id, target, env })
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
