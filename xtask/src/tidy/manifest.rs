//! A Cargo.toml as the checks need it: its dependencies with their real names and lines.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::{DeTable, DeValue};

/// From a key of `[workspace.dependencies]` to the package it stands for, where they differ.
pub(crate) type Renames = BTreeMap<String, String>;

#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) dependencies: Vec<Dependency>,
    /// Keys of `[package]` that say `workspace = true`.
    pub(crate) inherited: BTreeSet<String>,
    pub(crate) inherits_lints: bool,
}

#[derive(Debug)]
pub(crate) struct Dependency {
    /// The name of the package, whatever the manifest calls it.
    pub(crate) package: String,
    pub(crate) kind: Kind,
    pub(crate) line: usize,
    /// Says `workspace = true`.
    pub(crate) inherited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Development,
}

const TABLES: &[(&str, Kind)] = &[
    ("dependencies", Kind::Normal),
    ("build-dependencies", Kind::Build),
    ("dev-dependencies", Kind::Development),
];

impl Manifest {
    pub(crate) fn parse(text: &str, renames: &Renames) -> Result<Self, String> {
        let document = DeTable::parse(text).map_err(|error| error.to_string())?;
        let document = document.get_ref();
        let mut dependencies = Vec::new();
        collect(text, document, renames, &mut dependencies);
        for target in table(document, "target").into_iter().flat_map(|targets| targets.values()) {
            if let Some(tables) = target.get_ref().as_table() {
                collect(text, tables, renames, &mut dependencies);
            }
        }
        let package = table(document, "package");
        let inherited = package
            .into_iter()
            .flatten()
            .filter(|(_, value)| says_workspace(value.get_ref()))
            .map(|(key, _)| key.get_ref().to_string())
            .collect();
        let inherits_lints =
            table(document, "lints").is_some_and(|lints| is_true(lints, "workspace"));
        Ok(Self { dependencies, inherited, inherits_lints })
    }
}

/// The renamed entries of the root manifest's `[workspace.dependencies]`.
pub(crate) fn workspace_renames(text: &str) -> Result<Renames, String> {
    let document = DeTable::parse(text).map_err(|error| error.to_string())?;
    let dependencies =
        table(document.get_ref(), "workspace").and_then(|table_| table(table_, "dependencies"));
    let renamed = dependencies.into_iter().flatten().filter_map(|(key, value)| {
        Some((key.get_ref().to_string(), package_of(value.get_ref())?.to_owned()))
    });
    Ok(renamed.collect())
}

fn collect(text: &str, tables: &DeTable<'_>, renames: &Renames, found: &mut Vec<Dependency>) {
    for (name, kind) in TABLES {
        for (key, value) in table(tables, name).into_iter().flatten() {
            let value = value.get_ref();
            let inherited = says_workspace(value);
            let key_text: &str = key.get_ref();
            let package = match package_of(value) {
                Some(package) => package,
                None if inherited => renames.get(key_text).map_or(key_text, String::as_str),
                None => key_text,
            };
            found.push(Dependency {
                package: package.to_owned(),
                kind: *kind,
                line: line_of(text, key.span().start),
                inherited,
            });
        }
    }
}

fn table<'table, 'text>(
    parent: &'table DeTable<'text>,
    key: &str,
) -> Option<&'table DeTable<'text>> {
    parent.get(key)?.get_ref().as_table()
}

fn package_of<'value>(dependency: &'value DeValue<'_>) -> Option<&'value str> {
    dependency.as_table()?.get("package")?.get_ref().as_str()
}

fn says_workspace(value: &DeValue<'_>) -> bool {
    value.as_table().is_some_and(|table| is_true(table, "workspace"))
}

fn is_true(table: &DeTable<'_>, key: &str) -> bool {
    table.get(key).and_then(|value| value.get_ref().as_bool()) == Some(true)
}

/// The line of a byte, counted from one.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_dependency_gives_the_real_name_and_line() {
        let renames = workspace_renames(
            "[workspace.dependencies]\nplain = \"1\"\nalias = { package = \"real\", path = \"x\" }\n",
        )
        .expect("valid");
        let text = "\
[dependencies]
plain.workspace = true
alias = { workspace = true }
direct = \"1\"
[dependencies.other]
package = \"renamed\"
version = \"1\"
[build-dependencies]
b = { workspace = true }
[target.'cfg(unix)'.dev-dependencies]
alias.workspace = true
";
        let manifest = Manifest::parse(text, &renames).expect("valid");
        let mut seen: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|found| (found.line, found.package.as_str(), found.kind, found.inherited))
            .collect();
        seen.sort_by_key(|entry| entry.0);
        assert_eq!(
            seen,
            [
                (2, "plain", Kind::Normal, true),
                (3, "real", Kind::Normal, true),
                (4, "direct", Kind::Normal, false),
                (5, "renamed", Kind::Normal, false),
                (9, "b", Kind::Build, true),
                (11, "real", Kind::Development, true),
            ]
        );
    }
}
