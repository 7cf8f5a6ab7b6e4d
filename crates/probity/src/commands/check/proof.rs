//! The proof of a fix by building and starting both images, as `[ai]` asks for it.
//!
//! One prover a file: the original is built and started once, whatever the number of proposals.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use probity_agent::Cancel;
use probity_autofix::{Issue, Proof};
use probity_check::{ProofReport, Prover, StagesReport, Target, source::Source};
use probity_dockerfile::Setting as Instruction;
use probity_image::{
    BuildOptions, Engine, EngineKind, Experiment, ImageError, Level, Obstacle, Options, Setting,
    StartOptions, Subject, Variant, Verdict, Workbench,
};
use probity_report::proof::proof_of;

use crate::{
    config::{Settings, table::ai::Ai, words::Proof as Wanted},
    recipe::recipe,
};

/// The proofs of one file.
pub(super) struct ImageProver<'p> {
    ai: &'p Ai,
    /// None for standard input, which has no directory to build in.
    context: Option<PathBuf>,
    source: &'p Source,
    cancel: Cancel,
    experiment: Option<Experiment>,
    /// About the last proposal.
    verdict: Option<Verdict>,
    /// The last proposal and its original.
    texts: (String, String),
}

impl<'p> ImageProver<'p> {
    pub(super) fn new(
        config: &'p Settings,
        target: &Target,
        source: &'p Source,
        cancel: Cancel,
    ) -> Self {
        let beside = match target {
            Target::File(path) => path.parent().map(ToOwned::to_owned),
            Target::Stdin(_) | Target::Inline(..) => None,
        };
        Self {
            ai: &config.ai,
            context: config.check.context.clone().or(beside),
            source,
            cancel,
            experiment: None,
            verdict: None,
            texts: <_>::default(),
        }
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
        let is_cancelled = || self.cancel.is_cancelled();
        let experiment = match &mut self.experiment {
            Some(experiment) => experiment,
            empty => {
                let Some(engine) = Engine::find() else {
                    return Ok(Verdict::without(Obstacle::NoEngine));
                };
                let options = self::options(self.ai, engine.kind, context, self.source);
                let bench = Workbench::new(engine)?;
                let subject = Subject::Dockerfile(recipe(original, &variant));
                let prepared = Experiment::prepare(bench, &subject, options, &is_cancelled)?;
                empty.insert(prepared)
            }
        };
        let allowed: Vec<Setting> =
            allowed.iter().filter_map(|setting| of_image(*setting)).collect();
        let subject = Subject::Dockerfile(recipe(proposal, &variant));
        experiment.try_proposal(&subject, &allowed, &is_cancelled)
    }
}

impl Prover for ImageProver<'_> {
    fn judge(&mut self, original: &str, proposal: &str, allowed: &[Instruction]) -> Proof {
        if self.ai.proof == Wanted::Static && self.ai.proof_required == Level::Static {
            return Proof::Accepted;
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
            return Proof::Refused(issues);
        }
        if reached < self.ai.proof_required {
            let required = self.ai.proof_required.name();
            return Proof::Unproven(format!(
                "`ai.proof-required = \"{required}\"`, but the proof got no further than \
                 `{}`: {summary}",
                reached.name()
            ));
        }
        match reached {
            Level::Static => Proof::Accepted,
            Level::Build | Level::Run => Proof::Proven,
        }
    }

    fn report(&self, hide: &dyn Fn(&str) -> String) -> Option<ProofReport> {
        let (before, after) = &self.texts;
        let stages = StagesReport::of(before, after, hide);
        let report = proof_of(self.verdict.as_ref()?).masked(hide);
        Some(ProofReport { stages, ..report })
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
            Wanted::Auto => engine.highest_level(),
            Wanted::Run => Level::Run,
            Wanted::Build => Level::Build,
            Wanted::Static => ai.proof_required,
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
