//! What an included file is read with: its directory and its variables.

use std::collections::BTreeMap;

use crate::Surroundings;

/// One Compose project: the first file, or an included one.
#[derive(Debug, Default)]
pub(super) struct Project {
    /// Where relative paths begin, relative to the description: empty, or with a slash at its end.
    pub(super) directory: String,
    /// Of its `env_file`, under those of the projects around it.
    variables: BTreeMap<String, String>,
}

impl Project {
    /// A project that this one includes. Its variables are defaults: those of this one win.
    pub(super) fn inner(&self, directory: String, mut variables: BTreeMap<String, String>) -> Self {
        variables.extend(self.variables.clone());
        Self { directory, variables }
    }

    pub(super) fn surroundings<'s>(&'s self, outer: &'s dyn Surroundings) -> InProject<'s> {
        InProject { outer, project: self }
    }
}

/// The surroundings of the description with the variables of a project.
pub(super) struct InProject<'s> {
    outer: &'s dyn Surroundings,
    project: &'s Project,
}

impl Surroundings for InProject<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.outer.variable(name).or_else(|| self.project.variables.get(name).cloned())
    }

    fn read(&self, path: &str) -> Option<String> {
        self.outer.read(path)
    }
}
