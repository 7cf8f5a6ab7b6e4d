//! Compose files: the services that have a `build`.

mod inline;
mod interpolate;
mod model;

use std::collections::{BTreeMap, BTreeSet};

pub use inline::InlinePlace;

use crate::{
    Build, DescribeError, Described, Format, MOST_BUILDS, Note, Recipe, Surroundings,
    build::{dockerfile_path, is_remote},
    check_names,
};
use interpolate::interpolate;
use model::{ComposeFile, Extends, Service, ServiceBuild};

/// A service that extends a service that extends … ends here.
const LONGEST_CHAIN: usize = 16;

pub(crate) fn describe(
    text: &str,
    only: &[String],
    surroundings: &dyn Surroundings,
) -> Result<Described, DescribeError> {
    let mut reading = Reading {
        surroundings,
        services: BTreeMap::new(),
        included: BTreeSet::new(),
        notes: Vec::new(),
    };
    reading.add_file(text, "", 0)?;
    let Reading { services, mut notes, .. } = reading;
    check_names(only, Format::Compose, services.keys().map(String::as_str))?;
    let mut builds = Vec::new();
    for (name, found) in &services {
        if !only.is_empty() && !only.contains(name) {
            continue;
        }
        builds.extend(found.build(name, &services, surroundings, &mut notes));
    }
    Ok(Described { builds, notes })
}

struct Reading<'s> {
    surroundings: &'s dyn Surroundings,
    services: BTreeMap<String, Found>,
    /// Files that are read already; they may include each other.
    included: BTreeSet<String>,
    notes: Vec<Note>,
}

/// A service and the file that it is from.
struct Found {
    service: Service,
    /// Of the file, relative to the description: empty, or with a slash at its end.
    directory: String,
    /// The lines of the file, for the place of an inline Dockerfile; kept only in the first file.
    source: Option<String>,
}

impl Reading<'_> {
    fn add_file(&mut self, text: &str, directory: &str, depth: usize) -> Result<(), DescribeError> {
        let file = model::parse(text)?;
        let ComposeFile { services, include } = file;
        for path in include.into_iter().flat_map(model::Include::into_paths) {
            self.include(&path, directory, depth);
        }
        for (name, service) in services {
            let source = (depth == 0).then(|| text.to_owned());
            let service = service.unwrap_or_default();
            self.services.insert(name, Found { service, directory: directory.to_owned(), source });
        }
        if self.services.len() > MOST_BUILDS { Err(DescribeError::TooManyBuilds) } else { Ok(()) }
    }

    /// A file that cannot be read is a note: the services of the others are still checked.
    fn include(&mut self, path: &str, directory: &str, depth: usize) {
        let path = plain(&format!("{directory}{}", interpolate(path, self.surroundings)));
        if !self.included.insert(path.clone()) {
            return;
        }
        if depth >= LONGEST_CHAIN {
            let message = format!("`{path}` is included too deeply and was left out");
            return self.notes.push(Note { about: None, message });
        }
        let below = parent(&path).to_owned();
        let problem = match self.surroundings.read(&path) {
            None => "cannot be read".to_owned(),
            Some(text) => match self.add_file(&text, &below, depth + 1) {
                Ok(()) => return,
                Err(error) => error.to_string(),
            },
        };
        let message = format!("the included file `{path}` was left out: {problem}");
        self.notes.push(Note { about: None, message });
    }
}

impl Found {
    fn build(
        &self,
        name: &str,
        services: &BTreeMap<String, Found>,
        surroundings: &dyn Surroundings,
        notes: &mut Vec<Note>,
    ) -> Option<Build> {
        let merged = self.merged(name, services, surroundings, notes)?;
        let build = merged.build.as_ref()?;
        let expand = |text: &String| interpolate(text, surroundings);
        let context = build.context.as_ref().map_or_else(|| ".".to_owned(), expand);
        let context = below(&self.directory, &context);
        let recipe = match &build.dockerfile_inline {
            Some(inline) => Recipe::Inline {
                text: expand(&inline.value),
                place: InlinePlace::of(self.source.as_deref(), inline),
            },
            None if is_remote(&context) => Recipe::Remote,
            None => {
                let dockerfile = build.dockerfile.as_ref().map(expand);
                Recipe::File(dockerfile_path(&context, dockerfile.as_deref()))
            }
        };
        let mut platforms: Vec<String> = build.platforms.iter().map(expand).collect();
        if platforms.is_empty() {
            platforms.extend(merged.platform.as_ref().map(expand));
        }
        let pairs = |pairs: &BTreeMap<String, Option<String>>| {
            pairs.iter().map(|(key, value)| (key.clone(), value.as_ref().map(expand))).collect()
        };
        // An argument without a value takes that of the environment.
        let arguments = |given: &BTreeMap<String, Option<String>>| {
            let mut arguments: BTreeMap<String, Option<String>> = pairs(given);
            for (name, value) in arguments.iter_mut().filter(|(_, value)| value.is_none()) {
                *value = surroundings.variable(name);
            }
            arguments
        };
        let contexts: BTreeMap<String, Option<String>> = pairs(&build.additional_contexts.0);
        Some(Build {
            name: name.to_owned(),
            recipe,
            context,
            target: build.target.as_ref().map(expand).filter(|target| !target.is_empty()),
            args: arguments(&build.args.0),
            platforms,
            contexts: contexts.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(),
        })
    }

    /// The service with what it takes from the services it extends; none if one of these is unknown
    /// and could say where the Dockerfile is.
    fn merged(
        &self,
        name: &str,
        services: &BTreeMap<String, Found>,
        surroundings: &dyn Surroundings,
        notes: &mut Vec<Note>,
    ) -> Option<Service> {
        let mut merged = self.service.clone();
        // Services of another file, and where that is from here.
        let mut elsewhere: Option<BTreeMap<String, Option<Service>>> = None;
        let mut directory = String::new();
        let of_file = |services: &BTreeMap<String, Option<Service>>, extends: &Extends| {
            services.get(extends.service()).map(|service| service.clone().unwrap_or_default())
        };
        let mut next = self.service.extends.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(extends) = next else {
                if let (Some(build), false) = (&mut merged.build, directory.is_empty()) {
                    build.context.get_or_insert_with(|| below(&directory, "."));
                }
                return Some(merged);
            };
            let base = match extends.file() {
                Some(file) => {
                    let file = interpolate(file, surroundings);
                    let path = plain(&format!("{}{directory}{file}", self.directory));
                    directory.push_str(parent(&file));
                    let text = surroundings.read(&path);
                    elsewhere =
                        text.and_then(|text| model::parse(&text).ok()).map(|it| it.services);
                    elsewhere.as_ref().and_then(|services| of_file(services, &extends))
                }
                None => match &elsewhere {
                    Some(services) => of_file(services, &extends),
                    None => services.get(extends.service()).map(|found| found.service.clone()),
                },
            };
            let Some(base) = base else {
                let place = extends.file().map(|file| format!(" in `{file}`")).unwrap_or_default();
                let what = extends.service();
                let message = format!("it extends `{what}`, which does not exist{place}");
                notes.push(Note::about(name, message));
                return merged.is_whole().then_some(merged);
            };
            let base = base.below(&directory);
            next = base.extends.clone();
            merged = merged.over(&base);
        }
        notes.push(Note::about(name, "it extends services in a circle"));
        merged.is_whole().then_some(merged)
    }
}

impl Service {
    /// What this service does not say itself comes from the one it extends.
    fn over(self, base: &Service) -> Service {
        let build = match (self.build, base.build.clone()) {
            (Some(own), Some(theirs)) => Some(own.over(theirs)),
            (own, theirs) => own.or(theirs),
        };
        let platform = self.platform.or_else(|| base.platform.clone());
        Service { build, platform, extends: self.extends }
    }
}

impl Service {
    /// Whether it says itself where its Dockerfile is.
    fn is_whole(&self) -> bool {
        self.build.as_ref().is_some_and(|build| build.context.is_some())
    }

    /// A service of a file in another directory, with paths as the first file would write them.
    fn below(&self, directory: &str) -> Service {
        let mut service = self.clone();
        if let Some(build) = &mut service.build {
            build.context = build.context.take().map(|context| below(directory, &context));
        }
        service
    }
}

impl ServiceBuild {
    fn over(mut self, base: ServiceBuild) -> ServiceBuild {
        let mut args = base.args.0;
        args.append(&mut self.args.0);
        let mut contexts = base.additional_contexts.0;
        contexts.append(&mut self.additional_contexts.0);
        ServiceBuild {
            context: self.context.or(base.context),
            dockerfile: self.dockerfile.or(base.dockerfile),
            dockerfile_inline: self.dockerfile_inline.or(base.dockerfile_inline),
            target: self.target.or(base.target),
            args: model::Pairs(args),
            platforms: if self.platforms.is_empty() { base.platforms } else { self.platforms },
            additional_contexts: model::Pairs(contexts),
        }
    }
}

/// The directory of a path, with a slash at its end.
fn parent(path: &str) -> &str {
    path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or_default()
}

/// A path without `.` and without a directory that `..` leaves again: one name for one file.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "")) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A path of an included file, relative to the description.
fn below(directory: &str, path: &str) -> String {
    if directory.is_empty() || path.starts_with('/') || is_remote(path) {
        return path.to_owned();
    }
    match path {
        "" | "." | "./" => directory.trim_end_matches('/').to_owned(),
        _ => format!("{directory}{path}"),
    }
}
