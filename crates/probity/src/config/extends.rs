//! `extends`: shared files whose settings count below those of the file that extends them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use probity_scope::{WithoutGit, tree_of};

use super::{
    Configs,
    error::ConfigError,
    key::{self, Dialect},
    layer::Layer,
    value::{Owner, Sourced, Value},
};

/// A longer chain is a mistake.
const LONGEST_CHAIN: usize = 10;

impl Configs<'_> {
    /// What a file of ours says, together with what it extends, and the files that were read, the
    /// weakest first.
    pub(super) fn read_with_extended(
        &mut self,
        path: &Path,
        owner: Owner,
    ) -> Result<(Layer, Vec<Arc<Path>>), ConfigError> {
        let mut used = Vec::new();
        let layer = self.read_chain(path, owner, &mut Vec::new(), &mut used)?;
        Ok((layer, used))
    }

    fn read_chain(
        &mut self,
        path: &Path,
        owner: Owner,
        chain: &mut Vec<PathBuf>,
        used: &mut Vec<Arc<Path>>,
    ) -> Result<Layer, ConfigError> {
        let (mut layer, shown) = self.read(path, Dialect::Probity, owner)?;
        let place = self.current.join(path);
        chain.push(fs::canonicalize(&place).unwrap_or_else(|_| place.clone()));
        let mut below = Layer::default();
        for extended in std::mem::take(&mut layer.extends) {
            let found = find(&extended, &place, owner, chain)?;
            below = merge(below, self.read_chain(&found, owner, chain, used)?);
        }
        chain.pop();
        used.push(shown);
        Ok(merge(below, layer))
    }
}

/// The file that is extended, if it may be.
fn find(
    extended: &Sourced<String>,
    by: &Path,
    owner: Owner,
    chain: &[PathBuf],
) -> Result<PathBuf, ConfigError> {
    let Sourced { value: wanted, origin } = extended;
    let wrong = |reason: String| ConfigError::Setting { name: origin.to_string(), reason };
    let directory = by.parent().unwrap_or(Path::new("/"));
    let found = fs::canonicalize(directory.join(wanted)).map_err(|error| {
        wrong(format!(
            "cannot read `{wanted}`: {error}; a path in `extends` starts at the directory of this file"
        ))
    })?;
    if chain.contains(&found) {
        return Err(wrong(format!(
            "`extends = \"{wanted}\"` leads back to a file that is already being read; remove one of \
             the two `extends`"
        )));
    }
    if chain.len() >= LONGEST_CHAIN {
        return Err(wrong(format!(
            "more than {LONGEST_CHAIN} files extend each other; extend the last one directly"
        )));
    }
    // Its errors show lines of the file, and a repository must not show those of the machine.
    let is_inside =
        || tree_of(directory, WithoutGit::OwnDirectory).is_ok_and(|tree| found.starts_with(tree));
    if owner == Owner::Repository && !is_inside() {
        return Err(wrong(format!(
            "`{wanted}` is outside the repository; copy it into the repository, or extend it in your \
             own probity.toml"
        )));
    }
    Ok(found)
}

/// Both layers, where the upper one wins. Rules, runners and patterns of both count; of two rules or
/// runners with one name the upper one does.
fn merge(lower: Layer, upper: Layer) -> Layer {
    let Layer { mut settings, mut tables, mut rules, mut sections, .. } = lower;
    for (path, mut setting) in upper.settings {
        if let (Value::Tables(own), Some(Sourced { value: Value::Tables(below), .. })) =
            (&mut setting.value, settings.get(path))
        {
            let is_named = |table: &toml::Table| {
                let name = table.get("name");
                name.is_some() && own.iter().any(|other| other.get("name") == name)
            };
            let kept = below.iter().filter(|table| !is_named(table)).cloned();
            *own = kept.chain(own.iter().cloned()).collect();
        }
        // Chosen rules add up from source to source, and they do here too.
        let chooses = [&key::check::rules::include.key, &key::check::rules::exclude.key];
        let appends = chooses.iter().any(|key| key.path == path);
        if let (true, Value::List(own), Some(Sourced { value: Value::List(below), .. })) =
            (appends, &mut setting.value, settings.get(path))
        {
            own.splice(..0, below.iter().cloned());
        }
        settings.insert(path, setting);
    }
    tables.extend(upper.tables);
    for (rule, options) in upper.rules {
        rules.entry(rule).or_default().extend(options);
    }
    sections.extend(upper.sections);
    Layer { settings, tables, rules, sections, extends: Vec::new() }
}
