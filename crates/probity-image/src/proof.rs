//! The experiment: an original and proposals for it are built, looked into and started.

mod evidence;
mod obstacle;

use std::thread;

use crate::{
    BuildOptions, Difference, Image, ImageError, Pair, Recipe, Setting, StartOptions, State,
    TestEnd, Workbench,
    build::{Built, build, find},
    compare,
    engine::{Interrupt, MemoryLimit},
    inspect,
    start::{self, Observation},
};

pub use evidence::Evidence;
pub use obstacle::Obstacle;

/// How far an experiment went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing but the text was looked at.
    Static,
    /// Both images were built and looked into.
    Build,
    /// Both images were started.
    Run,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Build => "build",
            Self::Run => "run",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Options {
    /// No further than this.
    pub level: Level,
    pub build: BuildOptions,
    pub start: StartOptions,
    /// How many bytes of the images' files may be kept at a time.
    pub disk_limit: u64,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Dockerfile(Recipe),
    /// An image that the engine has, which stays there.
    Image(String),
}

impl Subject {
    fn base(&self) -> Option<&str> {
        match self {
            Self::Dockerfile(recipe) => recipe.base.as_deref(),
            Self::Image(_) => None,
        }
    }

    fn obtain(
        &self,
        bench: &Workbench,
        name: &str,
        options: &BuildOptions,
        interrupt: Interrupt<'_>,
    ) -> Result<Built, ImageError> {
        match self {
            Self::Dockerfile(recipe) => build(bench, name, recipe, options, interrupt),
            Self::Image(image) => find(bench, image, options, interrupt),
        }
    }
}

/// What an experiment came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub level: Level,
    /// Why the level is lower than asked for.
    pub obstacle: Option<Obstacle>,
    pub evidence: Evidence,
    pub differences: Vec<Difference>,
}

impl Verdict {
    /// An experiment that could not be made.
    pub fn without(obstacle: Obstacle) -> Self {
        let (evidence, differences) = (Evidence::default(), Vec::new());
        Self { level: Level::Static, obstacle: Some(obstacle), evidence, differences }
    }

    /// Whether nothing speaks against the proposal.
    pub fn is_harmless(&self) -> bool {
        !self.differences.iter().any(Difference::is_harmful)
    }
}

/// An original, built and started once, with which proposals are compared.
#[derive(Debug)]
pub struct Experiment {
    bench: Workbench,
    options: Options,
    original: Result<Original, Obstacle>,
    proposals: u32,
}

#[derive(Debug)]
struct Original {
    image: Image,
    base: Option<Image>,
    starts: Result<[Observation; 2], Obstacle>,
}

impl Experiment {
    /// Builds the original, and starts it twice if the level asks for it.
    ///
    /// # Errors
    ///
    /// If the run was cancelled, or the engine fails in a way that says nothing about the original.
    pub fn prepare(
        mut bench: Workbench,
        subject: &Subject,
        options: Options,
        interrupt: Interrupt<'_>,
    ) -> Result<Self, ImageError> {
        bench.limit_disk(options.disk_limit);
        let original = match subject.obtain(&bench, "original", &options.build, interrupt)? {
            Built::Image(id) => {
                within_disk(Original::of(&bench, &id, subject, &options, interrupt))?
            }
            Built::Failed(output) => {
                Err(Obstacle::OriginalFails { output, network: options.build.network })
            }
            Built::Impossible(obstacle) => Err(obstacle),
        };
        Ok(Self { bench, options, original, proposals: 0 })
    }

    /// Builds a proposal and compares it with the original. `allowed` may differ.
    ///
    /// # Errors
    ///
    /// If the run was cancelled, or the engine fails in a way that says nothing about the proposal.
    pub fn try_proposal(
        &mut self,
        subject: &Subject,
        allowed: &[Setting],
        interrupt: Interrupt<'_>,
    ) -> Result<Verdict, ImageError> {
        let original = match &self.original {
            Ok(original) => original,
            Err(obstacle) => return Ok(Verdict::without(obstacle.clone())),
        };
        self.proposals += 1;
        let name = format!("proposal{}", self.proposals);
        let id = match subject.obtain(&self.bench, &name, &self.options.build, interrupt)? {
            Built::Image(id) => id,
            Built::Failed(output) => {
                return Ok(Verdict {
                    level: Level::Build,
                    obstacle: None,
                    evidence: Evidence::default(),
                    differences: vec![Difference::BuildFails { output }],
                });
            }
            Built::Impossible(obstacle) => return Ok(Verdict::without(obstacle)),
        };
        let image = match within_disk(inspect(&self.bench, &name, &id, interrupt))? {
            Ok(image) => image,
            Err(obstacle) => return Ok(Verdict::without(obstacle)),
        };
        // Its files go with it, at the end of this.
        self.bench.release(image.size);
        let base = original.base.as_ref();
        let context = Some(self.options.build.context.as_path());
        let pair = Pair { original: &original.image, proposal: &image, base, context, allowed };
        let mut verdict = Verdict {
            level: Level::Build,
            obstacle: None,
            evidence: Evidence {
                sizes: Some(pair.sizes()),
                has_no_memory_limit: self.bench.engine.memory_limit() == MemoryLimit::None,
                ..Evidence::default()
            },
            differences: compare(&pair),
        };
        if self.options.level < Level::Run || !verdict.is_harmless() {
            return Ok(verdict);
        }
        let [first, second] = match &original.starts {
            Ok(starts) => starts,
            Err(obstacle) => {
                verdict.obstacle = Some(obstacle.clone());
                return Ok(verdict);
            }
        };
        let has_health = has_health(&image);
        let started =
            start::start(&self.bench, &name, &id, has_health, &self.options.start, interrupt)?;
        let lost = start::differences([first, second], &started, &pair);
        verdict.differences.extend(lost);
        verdict.level = Level::Run;
        verdict.evidence.observe(first, &started);
        Ok(verdict)
    }

    /// Removes whatever the experiment made.
    ///
    /// # Errors
    ///
    /// If the engine does not answer.
    pub fn finish(self) -> Result<(), ImageError> {
        self.bench.clean()
    }
}

impl Original {
    fn of(
        bench: &Workbench,
        id: &str,
        subject: &Subject,
        options: &Options,
        interrupt: Interrupt<'_>,
    ) -> Result<Self, ImageError> {
        let image = inspect(bench, "original", id, interrupt)?;
        let base = subject.base().map(|base| inspect(bench, "base", base, interrupt));
        let base = base.transpose()?;
        let starts = match options.level {
            level if level > bench.engine.kind.highest_level() => {
                Err(Obstacle::CannotStart { engine: bench.engine.kind.name() })
            }
            Level::Run => starts(bench, id, has_health(&image), &options.start, interrupt)?,
            Level::Static | Level::Build => Err(Obstacle::OriginalUnsteady),
        };
        Ok(Self { image, base, starts })
    }
}

/// Two starts at once: what differs between them is noise.
fn starts(
    bench: &Workbench,
    id: &str,
    has_health: bool,
    options: &StartOptions,
    interrupt: Interrupt<'_>,
) -> Result<Result<[Observation; 2], Obstacle>, ImageError> {
    let start = |name: &str| start::start(bench, name, id, has_health, options, interrupt);
    let (first, second) = thread::scope(|threads| {
        let second = threads.spawn(|| start("second"));
        (start("first"), second.join())
    });
    let broken = || ImageError::Answer { what: "a start", why: "its thread ended".to_owned() };
    let (first, second) = (first?, second.map_err(|_| broken())??);
    if let Some(TestEnd::Failed { last_lines: output }) = &first.command {
        return Ok(Err(Obstacle::OriginalFailsCommand { output: output.clone() }));
    }
    if !matches!(first.state, State::Running | State::Ended { code: 0 }) {
        return Ok(Err(Obstacle::OriginalEndsBadly { state: first.state.to_string() }));
    }
    if !start::is_steady(&first, &second) {
        return Ok(Err(Obstacle::OriginalUnsteady));
    }
    Ok(Ok([first, second]))
}

/// Reaching the limit is not a failure: it bounds how far an experiment can go.
fn within_disk<T>(kept: Result<T, ImageError>) -> Result<Result<T, Obstacle>, ImageError> {
    match kept {
        Err(ImageError::DiskLimit { needed, limit }) => {
            Ok(Err(Obstacle::DiskLimit { needed, limit }))
        }
        kept => kept.map(Ok),
    }
}

fn has_health(image: &Image) -> bool {
    let test = image.configuration.healthcheck.first();
    test.is_some_and(|word| word != "NONE")
}
