//! Compose and Bake files in, the image builds they describe out.
//!
//! A Dockerfile alone does not say which context, target, arguments and platforms it is built with;
//! these files do. They are read as data: nothing is fetched, and no command runs. Other files and
//! variables of the environment come through [`Surroundings`], which the caller fills.
//!
//! **Invariant:** pure. A value that cannot be evaluated becomes one [`Note`], and the other builds
//! are still described.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-builds is pure"))]

mod bake;
mod build;
mod compose;
mod depth;
mod env_file;
mod format;

use std::fmt;

pub use build::{Build, Note, Recipe};
pub use compose::InlinePlace;
pub use env_file::env_variables;
pub use format::Format;

/// Larger files were not written by hand.
pub const LARGEST_FILE: usize = 1024 * 1024;
/// A matrix or a list of includes cannot describe more builds than this.
pub const MOST_BUILDS: usize = 1000;

/// What a description depends on besides its own text.
pub trait Surroundings {
    /// A variable of the environment, or of the `.env` file beside the description.
    fn variable(&self, name: &str) -> Option<String>;

    /// The text of another file, by its path relative to the directory of the description.
    fn read(&self, path: &str) -> Option<String>;
}

/// The text of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// For messages, without its directory.
    pub name: String,
    pub format: Format,
    pub text: String,
}

/// The builds of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// In the order of their names.
    pub builds: Vec<Build>,
    pub notes: Vec<Note>,
}

/// Why a file describes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    #[error("it is larger than {} KiB", LARGEST_FILE / 1024)]
    TooLarge,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("line {line}: {message}")]
    Syntax { line: u64, message: String },
    #[error("it describes more than {MOST_BUILDS} builds")]
    TooManyBuilds,
    #[error("`{name}`: {error}")]
    Override { name: String, error: Box<DescribeError> },
    #[error("`{name}` is not one of its {format} ({known})")]
    UnknownName { name: String, format: Format, known: Names },
}

/// Names for a message, at most a handful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl fmt::Display for Names {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let shown: Vec<&str> = self.0.iter().take(SHOWN).map(String::as_str).collect();
        formatter.write_str(if shown.is_empty() { "it has none" } else { "it has: " })?;
        formatter.write_str(&shown.join(", "))?;
        if self.0.len() > SHOWN {
            write!(formatter, " and {} more", self.0.len() - SHOWN)
        } else {
            Ok(())
        }
    }
}

/// The builds that the `first` file describes, after the `overrides` beside it in their order.
///
/// `only` names services, or targets and groups; without a name all of them are described.
///
/// # Errors
///
/// Fails if a text as a whole cannot be read, or if no file has a name of `only`.
pub fn describe(
    first: &Source,
    overrides: &[Source],
    only: &[String],
    surroundings: &dyn Surroundings,
) -> Result<Described, DescribeError> {
    let all = std::iter::once(first).chain(overrides);
    if all.clone().any(|source| source.text.len() > LARGEST_FILE) {
        return Err(DescribeError::TooLarge);
    }
    let mut described = match first.format {
        Format::Compose => compose::describe(first, overrides, only, surroundings),
        Format::BakeHcl | Format::BakeJson => bake::describe(first, overrides, only, surroundings),
    }?;
    if described.builds.len() > MOST_BUILDS {
        return Err(DescribeError::TooManyBuilds);
    }
    described.builds.sort_by(|a, b| a.name.cmp(&b.name));
    described.notes.dedup();
    Ok(described)
}

/// Names the file of an error, if it is not the first.
fn in_override(source: &Source) -> impl Fn(DescribeError) -> DescribeError {
    move |error| DescribeError::Override { name: source.name.clone(), error: Box::new(error) }
}

/// Refuses names that the file does not have.
fn check_names<'n>(
    only: &[String],
    format: Format,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Result<(), DescribeError> {
    match only.iter().find(|name| !known.clone().any(|other| other == name.as_str())) {
        None => Ok(()),
        Some(name) => Err(DescribeError::UnknownName {
            name: name.clone(),
            format,
            known: Names(known.map(str::to_owned).collect()),
        }),
    }
}
