//! Jobs: the files to check, each with the configuration and the rules that hold for it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    settings::{FileRules, catalogue, layer},
    shellcheck::ShellcheckProgram,
};
use crate::{
    cli::check::CheckArgs,
    config::{CheckConfig, Choice, Configs, Layer, Sources},
    discover::Targets,
    failure::Failure,
    name::Name,
};

/// One file to check, with what holds for it.
pub(super) struct Job {
    pub(super) target: Target,
    pub(super) config: Arc<CheckConfig>,
    pub(super) rules: Arc<FileRules>,
}

pub(super) enum Target {
    File(PathBuf),
    Stdin(Option<PathBuf>),
}

pub(super) fn configs<'a>(
    name: Name,
    args: &CheckArgs,
    directory: &Path,
) -> anyhow::Result<Configs<'a>> {
    let choice = match &args.configuration {
        given if given.no_config && given.config.is_some() => {
            let what = "--config and --no-config cannot be used together";
            return Err(Failure::new(what, "give one of them").into());
        }
        given if given.no_config => Choice::None,
        given => given.config.clone().map_or(Choice::Nearest, Choice::This),
    };
    let mut defaults = Layer::default();
    if name == Name::Tally {
        defaults.default_value("file-validation.max-file-size", "102400")?;
    }
    Ok(Configs::new(Sources {
        catalogue: catalogue(),
        choice,
        current: directory.to_owned(),
        defaults,
        environment: std::env::vars_os(),
        flags: layer(args)?,
    })?)
}

pub(super) fn jobs(
    name: Name,
    targets: &Targets,
    args: &CheckArgs,
    directory: &Path,
    configs: &mut Configs<'_>,
) -> anyhow::Result<Vec<Job>> {
    // Files that share a configuration share the rules made of it.
    let mut made: HashMap<*const CheckConfig, Arc<FileRules>> = HashMap::new();
    // One for the whole run, so that what it knows is known to all.
    let mut program: Option<Arc<ShellcheckProgram>> = None;
    let mut job = |target: Target, path: &Path, configs: &mut Configs<'_>| {
        let config = configs.for_target(path)?;
        let rules = match made.get(&Arc::as_ptr(&config)) {
            Some(rules) => Arc::clone(rules),
            None => {
                let rules = FileRules::new(name, &config, || match &program {
                    Some(found) => Ok(Arc::clone(found)),
                    None => {
                        let found = ShellcheckProgram::find(&config)?;
                        Ok(Arc::clone(program.insert(found)))
                    }
                });
                let rules = Arc::new(rules?);
                made.insert(Arc::as_ptr(&config), Arc::clone(&rules));
                rules
            }
        };
        anyhow::Ok(Job { target, config, rules })
    };
    let mut jobs = Vec::with_capacity(targets.files.len() + 1);
    if targets.stdin {
        let filename = args.files.stdin_filename.clone();
        let path = directory.join(filename.as_deref().unwrap_or(Path::new("Dockerfile")));
        jobs.push(job(Target::Stdin(filename), &path, configs)?);
    }
    for path in &targets.files {
        jobs.push(job(Target::File(path.clone()), path, configs)?);
    }
    Ok(jobs)
}
