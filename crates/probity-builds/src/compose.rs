//! Compose files: the services that have a `build`.

mod inline;
mod interpolate;
mod model;
mod paths;
mod project;
mod reading;

use std::{collections::BTreeMap, rc::Rc};

pub use inline::InlinePlace;

use crate::{
    Build, DescribeError, Described, Format, Note, Recipe, Source, Surroundings,
    build::{dockerfile_path, is_remote},
    check_names, in_override,
};
use interpolate::interpolate;
use model::{Extends, Service, ServiceBuild};
use paths::{below, parent, plain};
use project::Project;
use reading::Reading;

/// A service that extends a service that extends … ends here.
const LONGEST_CHAIN: usize = 16;

pub(crate) fn describe(
    first: &Source,
    overrides: &[Source],
    only: &[String],
    surroundings: &dyn Surroundings,
) -> Result<Described, DescribeError> {
    let mut reading = Reading::new(surroundings);
    let project = Rc::new(Project::default());
    reading.add_file(&first.text, &project, 0)?;
    for source in overrides {
        reading.add_override(&source.text, &project).map_err(in_override(source))?;
    }
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

/// A service and the file that it is from.
struct PlacedService {
    service: Service,
    project: Rc<Project>,
    /// The lines of the file, for the place of an inline Dockerfile; kept only in the first file.
    source: Option<String>,
}

impl PlacedService {
    fn build(
        &self,
        name: &str,
        services: &BTreeMap<String, PlacedService>,
        surroundings: &dyn Surroundings,
        notes: &mut Vec<Note>,
    ) -> Option<Build> {
        let surroundings: &dyn Surroundings = &self.project.surroundings(surroundings);
        let merged = self.merged(name, services, surroundings, notes)?;
        let build = merged.build.as_ref()?;
        let expand = |text: &String| interpolate(text, surroundings);
        let context = build.context.as_ref().map_or_else(|| ".".to_owned(), expand);
        let context = below(&self.project.directory, &context);
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
        services: &BTreeMap<String, PlacedService>,
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
                    let path = plain(&format!("{}{directory}{file}", self.project.directory));
                    directory.push_str(parent(&file));
                    let text = surroundings.read(&path);
                    elsewhere =
                        text.and_then(|text| model::parse(&text).ok()).map(|file| file.services);
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
    /// What this service says wins over what an earlier file says.
    fn merged_into(self, earlier: Service) -> Service {
        let extends = self.extends.clone().or_else(|| earlier.extends.clone());
        Service { extends, ..self.over(&earlier) }
    }

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
