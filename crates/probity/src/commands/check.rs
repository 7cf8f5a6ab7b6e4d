//! `check`: find the files, lint them in parallel, report them in order.

mod output;
mod settings;
mod statistics;

use std::{
    collections::HashMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use probity_finding::Finding;
use probity_lint::{DirectiveOptions, LintOptions, is_syntax_rule};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

pub(crate) use self::settings::catalogue;
use self::{
    output::Output,
    settings::{FileRules, layer},
};
use crate::{
    cli::check::CheckArgs,
    config::{CheckConfig, Choice, Configs, Layer, Sources},
    discover::{self, Request, Targets},
    exit::Exit,
    ignore_file::IgnoreFiles,
    name::Name,
    report::FileReport,
    source::{self, Limits, Read},
};

/// Files that are held in memory together: linted in parallel, then reported in order.
const BATCH: usize = 512;

pub(crate) fn run(name: Name, args: CheckArgs) -> anyhow::Result<Exit> {
    settings::refuse_unbuilt(&args)?;
    let directory = std::env::current_dir().context("cannot tell the working directory")?;
    let mut configs = configs(name, &args, &directory)?;
    if let Some(file) = &args.configuration.print_config {
        let config = configs.for_target(&directory.join(file))?;
        warn(&mut configs);
        io::stdout().lock().write_all(config.print(&catalogue()).as_bytes())?;
        return Ok(Exit::Clean);
    }
    let general = configs.without_file()?;
    let targets = discover::discover(&Request {
        paths: &args.paths,
        exclude: &general.run.exclude,
        directory: &directory,
    })?;
    let jobs = jobs(name, &targets, &args, &directory, &mut configs)?;
    warn(&mut configs);
    if args.rules.list_rules {
        return settings::list_rules(name, jobs.first().map_or(&general, |job| &job.config));
    }
    for error in &targets.errors {
        tracing::error!("{error}");
    }
    if jobs.is_empty() {
        return no_files(&targets);
    }
    if let Some(jobs) = args.files.jobs {
        // The pool is made once; a second request in one process would keep the first.
        drop(rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build_global());
    }
    let exit = check(&jobs, &args, &directory)?;
    Ok(if targets.errors.is_empty() { exit } else { Exit::Failure })
}

/// One file to check, with what holds for it.
struct Job {
    target: Target,
    config: Arc<CheckConfig>,
    rules: Arc<FileRules>,
}

enum Target {
    File(PathBuf),
    Stdin(Option<PathBuf>),
}

/// What checking one file gave.
struct Checked {
    shown: String,
    text: String,
    findings: Vec<Finding>,
}

fn configs<'a>(name: Name, args: &CheckArgs, directory: &Path) -> anyhow::Result<Configs<'a>> {
    let choice = match &args.configuration {
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

fn warn(configs: &mut Configs<'_>) {
    for warning in configs.take_warnings() {
        tracing::warn!("{warning}");
    }
}

fn jobs(
    name: Name,
    targets: &Targets,
    args: &CheckArgs,
    directory: &Path,
    configs: &mut Configs<'_>,
) -> anyhow::Result<Vec<Job>> {
    // Files that share a configuration share the rules made of it.
    let mut made: HashMap<*const CheckConfig, Arc<FileRules>> = HashMap::new();
    let mut job = |target: Target, path: &Path, configs: &mut Configs<'_>| {
        let config = configs.for_target(path)?;
        let rules = match made.get(&Arc::as_ptr(&config)) {
            Some(rules) => Arc::clone(rules),
            None => {
                let rules = Arc::new(FileRules::new(name, &config)?);
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

fn no_files(targets: &Targets) -> anyhow::Result<Exit> {
    if !targets.errors.is_empty() {
        return Ok(Exit::Failure);
    }
    tracing::error!(
        "no Dockerfile or Containerfile found; name one, or look into an ignored or hidden directory \
         by naming it"
    );
    Ok(Exit::NoFiles)
}

fn check(jobs: &[Job], args: &CheckArgs, directory: &Path) -> anyhow::Result<Exit> {
    let first = jobs.first().map(|job| &job.config).context("nothing to check")?;
    let mut output = Output::open(first, &args.output)?;
    let ignore_files =
        IgnoreFiles::new(args.files.context.as_deref().or(first.run.context.as_deref()));
    let mut counted = Counted::default();
    for batch in jobs.chunks(BATCH) {
        let work = |job: &Job| lint(job, directory, &ignore_files);
        // One file is not worth waking the pool for.
        let checked: Vec<Checked> = match batch {
            [job] => vec![work(job)],
            _ => batch.par_iter().map(work).collect(),
        };
        for (job, checked) in batch.iter().zip(&checked) {
            counted.add(job, &checked.findings);
            output.file(&FileReport {
                path: &checked.shown,
                text: &checked.text,
                findings: &checked.findings,
            })?;
        }
    }
    let rules_enabled = jobs.first().map_or(0, |job| job.rules.set.len());
    output.finish(jobs.len(), rules_enabled)?;
    Ok(counted.exit())
}

fn lint(job: &Job, directory: &Path, ignore_files: &IgnoreFiles) -> Checked {
    let limits = Limits::new(job.config.max_file_size.unwrap_or(0));
    let read = match &job.target {
        Target::File(path) => source::read(path, directory, limits),
        Target::Stdin(name) => {
            source::read_stdin(io::stdin().lock(), name.as_deref(), directory, limits)
        }
    };
    let source = match read {
        Read::Text(source) => source,
        Read::Problem(unread) => {
            return Checked {
                shown: unread.shown,
                text: String::new(),
                findings: vec![unread.finding],
            };
        }
    };
    let (dockerignore, complaint) = ignore_files.of(&source.path);
    let asked = &job.config.inline_directives;
    let mut findings = source.findings;
    findings.extend(complaint);
    findings.extend(probity_lint::lint(
        &source.text,
        &LintOptions {
            rules: &job.rules.set,
            directives: DirectiveOptions {
                enabled: asked.enabled,
                validate_rules: asked.validate_rules,
                warn_unused: asked.warn_unused,
                require_reason: asked.require_reason,
            },
            dockerignore: dockerignore.as_ref(),
        },
    ));
    job.rules.keep_wanted(&source.shown, &mut findings);
    Checked { shown: source.shown, text: source.text, findings }
}

/// The findings that decide the exit code.
#[derive(Default)]
struct Counted {
    syntax: usize,
    other: usize,
}

impl Counted {
    fn add(&mut self, job: &Job, findings: &[Finding]) {
        let Some(least) = job.config.output.fail_level.severity() else { return };
        for finding in findings.iter().filter(|finding| finding.severity >= least) {
            if is_syntax_rule(&finding.rule) {
                self.syntax += 1;
            } else {
                self.other += 1;
            }
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self { syntax: 0, other: 0 } => Exit::Clean,
            Self { other: 0, .. } => Exit::SyntaxOnly,
            Self { .. } => Exit::Findings,
        }
    }
}
