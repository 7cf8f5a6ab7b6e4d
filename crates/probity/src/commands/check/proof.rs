//! The proof of a fix by building and starting both images, as `[ai]` asks for it.
//!
//! One prover a file: the original is built and started once, whatever the number of proposals.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use probity_autofix::Issue;
use probity_check::source::Source;
use probity_dockerfile::Setting as Instruction;
use probity_image::{
    BuildOptions, Engine, EngineKind, Experiment, ImageError, Level, Obstacle, Options, Setting,
    StartOptions, Subject, Variant, Verdict, Workbench,
};

use super::job::{Job, Target};
use crate::{
    config::{table::ai::Ai, words::Proof},
    recipe::recipe,
    report::{proof::ProofReport, stages::StagesReport},
};

/// The proofs of one file.
pub(super) struct Prover<'p> {
    ai: &'p Ai,
    /// None for standard input, which has no directory to build in.
    context: Option<PathBuf>,
    source: &'p Source,
    is_cancelled: &'p (dyn Fn() -> bool + Sync),
    experiment: Option<Experiment>,
    /// About the last proposal.
    verdict: Option<Verdict>,
    /// The last proposal and its original.
    texts: (String, String),
}

/// How a proposal stands.
pub(super) enum Standing {
    /// Nothing speaks against it, and no image was compared.
    Accepted,
    /// Both images were compared.
    Proven,
    Refused(Vec<Issue>),
    /// It does not reach the level that is required, in words.
    Unproven(String),
}

impl<'p> Prover<'p> {
    pub(super) fn new(
        job: &'p Job,
        source: &'p Source,
        is_cancelled: &'p (dyn Fn() -> bool + Sync),
    ) -> Self {
        let beside = match &job.target {
            Target::File(path) => path.parent().map(ToOwned::to_owned),
            Target::Stdin(_) | Target::Inline(..) => None,
        };
        let context = job.config.check.context.clone().or(beside);
        let ai = &job.config.ai;
        Self {
            ai,
            context,
            source,
            is_cancelled,
            experiment: None,
            verdict: None,
            texts: <_>::default(),
        }
    }

    /// Compares a proposal with an original, in which these settings may differ.
    pub(super) fn judge(
        &mut self,
        original: &str,
        proposal: &str,
        allowed: &[Instruction],
    ) -> Standing {
        if self.ai.proof == Proof::Static && self.ai.proof_required == Level::Static {
            return Standing::Accepted;
        }
        let verdict = self
            .verdict_of(original, proposal, allowed)
            .unwrap_or_else(|error| Verdict::without(Obstacle::Engine { why: error.to_string() }));
        let file = self.source.shown.rsplit('/').next().unwrap_or_default();
        let harm = verdict.differences.iter().filter(|difference| difference.is_harmful());
        let issues: Vec<Issue> = harm
            .map(|difference| Issue::new(difference.check(), &difference.to_string(), file))
            .collect();
        self.texts = (original.to_owned(), proposal.to_owned());
        let reached = verdict.level;
        let summary = verdict.to_string();
        self.verdict = Some(verdict);
        if !issues.is_empty() {
            return Standing::Refused(issues);
        }
        if reached < self.ai.proof_required {
            let required = self.ai.proof_required.name();
            return Standing::Unproven(format!(
                "`ai.proof-required = \"{required}\"`, but the proof got no further than \
                 `{}`: {summary}",
                reached.name()
            ));
        }
        match reached {
            Level::Static => Standing::Accepted,
            Level::Build | Level::Run => Standing::Proven,
        }
    }

    /// About the last proposal; nothing where no experiment was asked for.
    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// The same with the stages of both files, without what `hide` replaces.
    pub(super) fn report(&self, hide: &impl Fn(&str) -> String) -> Option<ProofReport> {
        let (before, after) = &self.texts;
        let stages = StagesReport::of(before, after, hide);
        let report = ProofReport::of(self.verdict.as_ref()?).masked(hide);
        Some(ProofReport { stages, ..report })
    }

    fn verdict_of(
        &mut self,
        original: &str,
        proposal: &str,
        allowed: &[Instruction],
    ) -> Result<Verdict, ImageError> {
        let Some(context) = &self.context else {
            let why = "standard input has no build context; give --context DIR".to_owned();
            return Ok(Verdict::without(Obstacle::Engine { why }));
        };
        let variant = variant(self.ai);
        let experiment = match &mut self.experiment {
            Some(experiment) => experiment,
            empty => {
                let Some(engine) = Engine::find() else {
                    return Ok(Verdict::without(Obstacle::NoEngine));
                };
                let options = self::options(self.ai, engine.kind, context, self.source);
                let bench = Workbench::new(engine)?;
                let subject = Subject::Dockerfile(recipe(original, &variant));
                let prepared = Experiment::prepare(bench, &subject, options, self.is_cancelled)?;
                empty.insert(prepared)
            }
        };
        let allowed: Vec<Setting> =
            allowed.iter().filter_map(|setting| of_image(*setting)).collect();
        let subject = Subject::Dockerfile(recipe(proposal, &variant));
        experiment.try_proposal(&subject, &allowed, self.is_cancelled)
    }
}

fn options(ai: &Ai, engine: EngineKind, context: &Path, source: &Source) -> Options {
    let mut own = source.path.as_os_str().to_owned();
    own.push(".dockerignore");
    let own = PathBuf::from(own);
    // The client runs in another directory.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let context =
        if context.as_os_str().is_empty() { PathBuf::from(".") } else { context.to_owned() };
    Options {
        level: match ai.proof {
            Proof::Auto => engine.highest_level(),
            Proof::Run => Level::Run,
            Proof::Build => Level::Build,
            Proof::Static => ai.proof_required,
        },
        build: BuildOptions {
            context: absolute(context),
            ignore_file: own.is_file().then(|| absolute(own)),
            variant: variant(ai),
            network: ai.proof_network,
            pull: ai.proof_pull,
            timeout: ai.proof_timeout,
            memory: BuildOptions::MEMORY,
        },
        start: StartOptions {
            watched: Duration::from_secs(ai.proof_seconds.into()),
            command: ai.proof_command.clone().unwrap_or_default(),
        },
        disk_limit: ai.proof_disk.0,
    }
}

fn variant(ai: &Ai) -> Variant {
    let pairs = ai.proof_build_args.iter().filter_map(|argument| argument.split_once('='));
    let arguments = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let (target, platform) = (ai.proof_target.clone(), ai.proof_platform.clone());
    Variant { arguments, target, platform }
}

/// The part of an image that an instruction sets; none for what a container never sees.
fn of_image(setting: Instruction) -> Option<Setting> {
    Some(match setting {
        Instruction::Cmd => Setting::Command,
        Instruction::Entrypoint => Setting::Entrypoint,
        Instruction::User => Setting::User,
        Instruction::Expose => Setting::Ports,
        Instruction::Workdir => Setting::Directory,
        Instruction::Env => Setting::Environment,
        Instruction::Label => Setting::Labels,
        Instruction::Healthcheck => Setting::Healthcheck,
        Instruction::Shell => Setting::Shell,
        Instruction::Stopsignal => Setting::StopSignal,
        Instruction::Volume => Setting::Volumes,
        Instruction::Author => return None,
    })
}
