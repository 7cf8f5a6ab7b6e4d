//! Bake files: targets with their groups, variables, inheritance and matrices.

mod evaluate;
mod inherit;
mod matrix;
pub(crate) mod source;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Build, DescribeError, Described, Format, InlinePlace, MOST_BUILDS, Note, Recipe, Source,
    Surroundings,
    build::{dockerfile_path, is_remote},
    check_names,
    depth::is_too_deep,
    in_override,
};
use evaluate::Evaluator;
use source::Definitions;

/// One target with its values; `None` is a value that the file does not give or that is not known.
#[derive(Clone, Debug, Default)]
struct Target {
    context: Option<String>,
    dockerfile: Option<String>,
    dockerfile_inline: Option<String>,
    target: Option<String>,
    args: BTreeMap<String, Option<String>>,
    platforms: Option<Vec<String>>,
    contexts: BTreeMap<String, String>,
    inherits: Vec<String>,
    /// Whether the place of the Dockerfile is a value that cannot be evaluated here.
    is_hidden: bool,
}

pub(crate) fn describe(
    first: &Source,
    overrides: &[Source],
    only: &[String],
    surroundings: &dyn Surroundings,
) -> Result<Described, DescribeError> {
    let mut definitions = read(first)?;
    for source in overrides {
        definitions.merge(read(source).map_err(in_override(source))?);
    }
    let mut evaluator = Evaluator::new(&definitions, surroundings);
    let mut targets: BTreeMap<String, Target> = BTreeMap::new();
    // A matrix makes targets of other names; its own name then stands for all of them.
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, attributes) in &definitions.targets {
        let made = matrix::targets(name, attributes, &mut evaluator)?;
        if made.iter().any(|(instance, _)| instance != name) {
            groups.insert(name.clone(), made.iter().map(|(name, _)| name.clone()).collect());
        }
        targets.extend(made);
        if targets.len() > MOST_BUILDS {
            return Err(DescribeError::TooManyBuilds);
        }
    }
    for (name, attributes) in &definitions.groups {
        let members = evaluator.list(name, attributes.get("targets"));
        groups.insert(name.clone(), members);
    }
    let known = targets.keys().chain(groups.keys()).map(String::as_str);
    check_names(only, first.format, known)?;
    let wanted = wanted(only, &targets, &groups);
    let mut notes = evaluator.into_notes();
    let builds = wanted
        .into_iter()
        .filter_map(|name| {
            let merged = inherit::merged(name, &targets, &groups, &mut notes)?;
            if merged.is_hidden {
                let message = "it is not checked, because its context or Dockerfile is unknown";
                notes.push(Note::about(name, message));
                return None;
            }
            Some(merged.into_build(name))
        })
        .collect();
    Ok(Described { builds, notes })
}

fn read(source: &Source) -> Result<Definitions, DescribeError> {
    if is_too_deep(&source.text) {
        return Err(DescribeError::TooDeep);
    }
    match source.format {
        Format::BakeJson => source::from_json(&source.text),
        Format::BakeHcl | Format::Compose => source::from_hcl(&source.text),
    }
}

/// The named ones; without a name every target that is more than a base of others.
fn wanted<'t>(
    only: &'t [String],
    targets: &'t BTreeMap<String, Target>,
    groups: &'t BTreeMap<String, Vec<String>>,
) -> BTreeSet<&'t str> {
    let mut wanted = BTreeSet::new();
    if !only.is_empty() {
        let mut seen = BTreeSet::new();
        let mut queue: Vec<&str> = only.iter().map(String::as_str).collect();
        while let Some(name) = queue.pop() {
            // Groups may contain each other.
            if !seen.insert(name) {
                continue;
            }
            match groups.get(name) {
                Some(members) => queue.extend(members.iter().map(String::as_str)),
                None => {
                    wanted.extend(targets.get_key_value(name).map(|(name, _)| name.as_str()));
                }
            }
        }
        return wanted;
    }
    let grouped: BTreeSet<&String> = groups.values().flatten().collect();
    let bases: BTreeSet<&String> = targets.values().flat_map(|target| &target.inherits).collect();
    let is_built =
        |name: &String| grouped.contains(name) || (!bases.contains(name) && !name.starts_with('_'));
    wanted.extend(targets.keys().filter(|name| is_built(name)).map(String::as_str));
    wanted
}

impl Target {
    fn into_build(self, name: &str) -> Build {
        let context = self.context.map_or_else(|| ".".to_owned(), in_working_directory);
        let dockerfile = self.dockerfile.map(in_working_directory);
        let recipe = match self.dockerfile_inline {
            Some(text) => {
                let place = InlinePlace { first_line: 1, indentation: 0, is_line_by_line: false };
                Recipe::Inline { text, place }
            }
            None if is_remote(&context) => Recipe::Remote,
            None => Recipe::File(dockerfile_path(&context, dockerfile.as_deref())),
        };
        Build {
            name: name.to_owned(),
            recipe,
            context,
            target: self.target.filter(|target| !target.is_empty()),
            args: self.args,
            platforms: self.platforms.unwrap_or_default(),
            contexts: self
                .contexts
                .into_iter()
                .map(|(name, place)| (name, in_working_directory(place)))
                .collect(),
        }
    }
}

/// `cwd://` means the directory that Bake runs in even if the file itself is remote. Here both are the
/// directory of the file.
fn in_working_directory(place: String) -> String {
    match place.strip_prefix("cwd://") {
        None => place,
        Some("") => ".".to_owned(),
        Some(path) => path.to_owned(),
    }
}
