//! Builds that files describe, as values.

mod bake;
mod compose;
mod hostile;

use std::{cell::Cell, collections::BTreeMap};

use probity_builds::{
    Build, DescribeError, Described, Format, Recipe, Source, Surroundings, describe,
};

/// Variables and files of a test.
#[derive(Default)]
struct Given {
    variables: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<&'static str, &'static str>,
    /// How many files were asked for.
    reads: Cell<usize>,
}

impl Surroundings for Given {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }

    fn read(&self, path: &str) -> Option<String> {
        self.reads.set(self.reads.get() + 1);
        self.files.get(path).map(|text| (*text).to_owned())
    }
}

fn try_with(
    format: Format,
    text: &str,
    only: &[&str],
    given: &Given,
) -> Result<Described, DescribeError> {
    let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
    describe(&source(format, "description", text), &[], &only, given)
}

fn source(format: Format, name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), format, text: text.to_owned() }
}

/// The builds, one a line, and the notes behind `note:`.
fn shown(format: Format, text: &str, only: &[&str], given: &Given) -> String {
    lines(try_with(format, text, only, given))
}

/// The same for a file with others beside it that change its meaning.
fn overridden(format: Format, text: &str, overrides: &[(Format, &str)]) -> String {
    let overrides: Vec<Source> =
        overrides.iter().map(|(format, text)| source(*format, "override", text)).collect();
    let first = source(format, "description", text);
    lines(describe(&first, &overrides, &[], &Given::default()))
}

fn lines(described: Result<Described, DescribeError>) -> String {
    match described {
        Ok(described) => {
            let builds = described.builds.iter().map(line);
            let notes = described.notes.iter().map(|note| match &note.about {
                Some(name) => format!("note: {name}: {}", note.message),
                None => format!("note: {}", note.message),
            });
            builds.chain(notes).collect::<Vec<_>>().join("\n")
        }
        Err(error) => format!("error: {error}"),
    }
}

fn line(build: &Build) -> String {
    let recipe = match &build.recipe {
        Recipe::File(path) => path.clone(),
        Recipe::Inline { text, place } => format!(
            "inline {:?} at {} +{}{}",
            text,
            place.first_line,
            place.indentation,
            if place.is_line_by_line { "" } else { " whole" }
        ),
        Recipe::Remote => "remote".to_owned(),
    };
    let mut line = format!("{}: {recipe} in {}", build.name, build.context);
    if let Some(target) = &build.target {
        line.push_str(&format!(" target {target}"));
    }
    for (name, value) in &build.args {
        line.push_str(&format!(" {name}={}", value.as_deref().unwrap_or("?")));
    }
    for platform in &build.platforms {
        line.push_str(&format!(" on {platform}"));
    }
    for (name, place) in &build.contexts {
        line.push_str(&format!(" with {name}->{place}"));
    }
    line
}
