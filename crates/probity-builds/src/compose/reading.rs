//! The services of a Compose file, of the files that it includes, and of the files beside it.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::{
    LONGEST_CHAIN, PlacedService,
    interpolate::interpolate,
    model::{self, ComposeFile, Include},
    paths::{as_directory, parent, plain},
    project::Project,
};
use crate::{DescribeError, MOST_BUILDS, Note, Surroundings, env_variables};

/// The services that were read so far.
pub(super) struct Reading<'s> {
    pub(super) surroundings: &'s dyn Surroundings,
    pub(super) services: BTreeMap<String, PlacedService>,
    /// Files that are read already; they may include each other.
    included: BTreeSet<String>,
    pub(super) notes: Vec<Note>,
}

impl<'s> Reading<'s> {
    pub(super) fn new(surroundings: &'s dyn Surroundings) -> Self {
        Self {
            surroundings,
            services: BTreeMap::new(),
            included: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn add_file(
        &mut self,
        text: &str,
        project: &Rc<Project>,
        depth: usize,
    ) -> Result<(), DescribeError> {
        let ComposeFile { services, include } = model::parse(text)?;
        for include in include {
            self.include(&include, project, depth);
        }
        for (name, service) in services {
            let source = (depth == 0).then(|| text.to_owned());
            let service = service.unwrap_or_default();
            self.services
                .insert(name, PlacedService { service, project: Rc::clone(project), source });
        }
        if self.services.len() > MOST_BUILDS { Err(DescribeError::TooManyBuilds) } else { Ok(()) }
    }

    /// A file beside the first: what it says of a service wins.
    pub(super) fn add_override(
        &mut self,
        text: &str,
        project: &Rc<Project>,
    ) -> Result<(), DescribeError> {
        let ComposeFile { services, include } = model::parse(text)?;
        for include in include {
            self.include(&include, project, 0);
        }
        for (name, service) in services {
            let service = service.unwrap_or_default();
            let has_inline =
                service.build.as_ref().is_some_and(|build| build.dockerfile_inline.is_some());
            let found = match self.services.remove(&name) {
                Some(found) => PlacedService {
                    service: service.merged_into(found.service),
                    // The lines of the first file say nothing about a Dockerfile in this one.
                    source: if has_inline { None } else { found.source },
                    ..found
                },
                None => PlacedService { service, project: Rc::clone(project), source: None },
            };
            self.services.insert(name, found);
        }
        if self.services.len() > MOST_BUILDS { Err(DescribeError::TooManyBuilds) } else { Ok(()) }
    }

    /// A file that cannot be read is a note: the services of the others are still checked.
    fn include(&mut self, include: &Include, outer: &Rc<Project>, depth: usize) {
        let surroundings = outer.surroundings(self.surroundings);
        let from_here = |path: &String| {
            plain(&format!("{}{}", outer.directory, interpolate(path, &surroundings)))
        };
        let paths: Vec<String> = include.paths.iter().map(from_here).collect();
        let directory = match (&include.project_directory, paths.first()) {
            (Some(directory), _) => as_directory(&from_here(directory)),
            (None, Some(path)) => parent(path).to_owned(),
            (None, None) => return,
        };
        if paths.iter().all(|path| self.included.contains(path)) {
            return;
        }
        let variables = self.env_files(include, outer, &from_here, &directory);
        let project = Rc::new(outer.inner(directory, variables));
        for path in paths {
            self.include_file(&path, &project, depth);
        }
    }

    /// The variables of the included project; by default those of the `.env` file in its directory.
    fn env_files(
        &mut self,
        include: &Include,
        outer: &Project,
        from_here: &dyn Fn(&String) -> String,
        directory: &str,
    ) -> BTreeMap<String, String> {
        if include.env_files.is_empty() && directory == outer.directory {
            return BTreeMap::new();
        }
        if include.env_files.is_empty() {
            let text = self.surroundings.read(&format!("{directory}.env"));
            return text.map(|text| env_variables(&text)).unwrap_or_default();
        }
        let mut variables = BTreeMap::new();
        for path in include.env_files.iter().map(from_here) {
            match self.surroundings.read(&path) {
                Some(text) => variables.extend(env_variables(&text)),
                None => {
                    let message = format!("the `env_file` `{path}` of an include cannot be read");
                    self.notes.push(Note { about: None, message });
                }
            }
        }
        variables
    }

    fn include_file(&mut self, path: &str, project: &Rc<Project>, depth: usize) {
        if !self.included.insert(path.to_owned()) {
            return;
        }
        if depth >= LONGEST_CHAIN {
            let message = format!("`{path}` is included too deeply and was left out");
            return self.notes.push(Note { about: None, message });
        }
        let problem = match self.surroundings.read(path) {
            None => "cannot be read".to_owned(),
            Some(text) => match self.add_file(&text, project, depth + 1) {
                Ok(()) => return,
                Err(error) => error.to_string(),
            },
        };
        let message = format!("the included file `{path}` was left out: {problem}");
        self.notes.push(Note { about: None, message });
    }
}
