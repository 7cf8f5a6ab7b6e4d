//! Whole ways through the configuration, on a small catalogue of rules.

mod agreement;
mod any_text;
mod discovery;
mod environment;
mod extends;
mod guards;
mod layers;
mod own_file;
mod print;
mod strictness;
mod table_test;

use std::{ffi::OsString, path::Path};

use super::{
    catalogue::{Catalogue, OptionSchema, RuleSchema},
    environment::Reading,
    file::{Source, read as read_file},
    key::{Dialect, Key},
    kind::ValueKind,
    layer::Layer,
    settings::{Settings, resolve},
    table,
    value::{Origin, Owner},
};
use crate::name::Name;

const CATALOGUE: Catalogue<'static> = Catalogue {
    rules: &[
        RuleSchema {
            name: "tally/max-lines",
            equals: &[],
            options: &[
                option("max", ValueKind::Int, "50"),
                option("skip-blank-lines", ValueKind::Bool, "true"),
                option("skip-comments", ValueKind::Bool, "true"),
            ],
        },
        RuleSchema {
            name: "tally/labels/prefer-grouped",
            equals: &[],
            options: &[option("min-labels", ValueKind::Int, "3")],
        },
        RuleSchema {
            name: "tally/require-secret-mounts",
            equals: &[],
            options: &[option("commands", ValueKind::SecretMounts, "")],
        },
        RuleSchema {
            name: "hadolint/DL4001",
            equals: &[],
            options: &[option(
                "fix-preference",
                ValueKind::OneOf(&["auto", "curl", "wget"]),
                "auto",
            )],
        },
        RuleSchema {
            name: "hadolint/DL3026",
            equals: &[],
            options: &[option("trusted-registries", ValueKind::StringList, "")],
        },
        RuleSchema { name: "buildkit/StageNameCasing", equals: &[], options: &[] },
        RuleSchema {
            name: "buildkit/MaintainerDeprecated",
            equals: &["hadolint/DL4000"],
            options: &[],
        },
    ],
    always_on: &["tally/syntax-error"],
};

const fn option(name: &'static str, kind: ValueKind, default: &'static str) -> OptionSchema {
    OptionSchema { name, kind, doc: "An option.", default }
}

/// What a file of tally is told: the layer and the warnings, or the error as it is shown.
fn file(text: &str) -> Result<(Layer, Vec<String>), String> {
    file_of(Dialect::Tally, "tally.toml", text)
}

/// The same for our own file.
pub(super) fn own_file(text: &str) -> Result<(Layer, Vec<String>), String> {
    file_of(Dialect::Probity, "probity.toml", text)
}

fn file_of(dialect: Dialect, path: &str, text: &str) -> Result<(Layer, Vec<String>), String> {
    let source = Source { dialect, owner: Owner::Repository, path: Path::new(path), text };
    match read_file(&CATALOGUE, source) {
        Ok((layer, warnings)) => Ok((layer, warnings.iter().map(ToString::to_string).collect())),
        Err(error) => Err(error.to_string()),
    }
}

fn environment(variables: &[(&str, &str)]) -> Result<(Layer, Vec<String>), String> {
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), value.into()));
    let reading = Reading { catalogue: &CATALOGUE, name: Name::Probity, sections: table::SECTIONS };
    reading.read(variables).map_err(|error| error.to_string())
}

fn key(path: &str) -> &'static Key {
    table::keys().find(|key| key.path == path).unwrap_or_else(|| panic!("no key {path}"))
}

/// What holds with this file of tally, these variables and these flags, and what was odd.
fn effective(
    text: &str,
    variables: &[(&str, &str)],
    flags: &[(&str, &str, &str)],
) -> (Settings, Vec<String>) {
    let (from_file, mut warnings) = file(text).unwrap();
    let (from_environment, more) = environment(variables).unwrap();
    warnings.extend(more);
    let mut from_flags = Layer::default();
    for (flag, path, value) in flags {
        let origin = Origin::Flag { name: (*flag).to_owned() };
        from_flags.parse(key(path), value, origin).unwrap();
    }
    let layers = [&from_file, &from_environment, &from_flags];
    let (settings, more) = resolve(&layers, Vec::new());
    warnings.extend(more);
    (settings, warnings)
}
