//! Facts: what a Dockerfile means, computed once, so that no rule has to find it out again.
//!
//! The order of evaluation is BuildKit's: arguments before the first FROM, then the stages, then the
//! instructions of each stage in order. Values are those of one build, by default of one without build
//! arguments; where builds can differ a [`Text`] says so.
//!
//! **Invariant:** the cost is linear in the length of the file. Nothing is copied per instruction:
//! environments share their structure, and states are numbered.

mod build;
mod contract;
mod definitions;
mod graph;
mod packages;
mod ports;
mod runtime;
mod shell;
mod stages;
mod state;
mod steps;
mod suggestion;
mod text;
mod variables;
mod walk;

use std::{num::NonZeroU32, ops::Range};

use probity_finding::Span;

use crate::{
    Dockerfile,
    compact::wide_range,
    facts::{
        build::ContextNames,
        packages::Packages,
        runtime::Settings,
        shell::Scripts,
        variables::{Environment, Environments},
    },
};

pub use self::{
    build::BuildValues,
    contract::{ImageContract, StageContract, Step, StepFlag, StepHeredoc, Transfer},
    graph::{Graph, StageReference, StageReferenceKind, Target},
    packages::{Action, Manager, Package, PackageCall, PackageFlag, PackageKind, Version},
    runtime::{CommandLine, Entry, Healthcheck, Runtime, RuntimeEntry, Setting, Value},
    shell::ShellText,
    stages::{Base, Os, Stage},
    state::{Shell, ShellSource, State, Workdir, is_absolute},
    text::Text,
    variables::{Scope, Variable, VariableKind, VariableReference},
};

/// Everything there is to know about one file. Instructions are named by their index in
/// [`Dockerfile::instructions`].
#[derive(Clone, Debug)]
pub struct Facts {
    contract: ImageContract,
    stages: Vec<Stage>,
    graph: Graph,
    places: Vec<InstructionFacts>,
    environments: Environments,
    references: Vec<VariableReference>,
    expansion_errors: Vec<ExpansionError>,
    states: Vec<State>,
    /// What each stage itself sets.
    configs: Vec<Runtime>,
    scripts: Scripts,
    packages: Packages,
    /// The stage that the build ends with.
    last: Option<usize>,
    /// Whether the build builds each stage.
    built: Vec<bool>,
    /// Names of additional contexts of the build.
    contexts: ContextNames,
}

/// A word that BuildKit cannot expand, whatever arguments the build is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpansionError {
    pub instruction: usize,
    /// The part of the word that is to blame.
    pub span: Span,
    pub message: String,
}

/// Where to find the facts of one instruction.
#[derive(Clone, Debug, Default)]
struct InstructionFacts {
    stage: Option<u32>,
    /// From before the instruction.
    environment: Environment,
    state: u32,
    references: Range<u32>,
    steps: Range<u32>,
    /// Which of the instructions with commands it is, counted from one; none where it is not one.
    command_cell: Option<NonZeroU32>,
}

impl Facts {
    #[must_use]
    pub fn of(dockerfile: &Dockerfile<'_>) -> Self {
        walk::walk(dockerfile, None)
    }

    /// The facts of a build with these arguments and this target, whose other arguments have their
    /// defaults.
    #[must_use]
    pub fn of_build(dockerfile: &Dockerfile<'_>, build: &BuildValues) -> Self {
        walk::walk(dockerfile, Some(build))
    }

    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The stage that the build ends with: its target, otherwise the last one.
    #[must_use]
    pub fn final_stage(&self) -> Option<&Stage> {
        self.stages.get(self.last?)
    }

    /// Whether the build builds this stage: its last stage is this one or needs it.
    #[must_use]
    pub fn is_built(&self, stage: usize) -> bool {
        self.built.get(stage).copied().unwrap_or_default()
    }

    /// The number of the stage that a target means.
    #[must_use]
    pub fn target_stage(&self, target: &str) -> Option<usize> {
        build::stage_of(target, &self.stages)
    }

    /// Where the scripts of an instruction are kept, and the calls of package managers in them.
    fn command_cell(&self, instruction: usize) -> Option<usize> {
        let number = self.places.get(instruction)?.command_cell?;
        Some(number.get() as usize - 1)
    }

    /// Whether the build gives this name to an additional context. Such a name is not an image.
    #[must_use]
    pub fn is_build_context(&self, name: &str) -> bool {
        self.contexts.contains(name)
    }

    /// The stage that an instruction belongs to; none before the first FROM.
    #[must_use]
    pub fn stage_of(&self, instruction: usize) -> Option<&Stage> {
        self.stages.get(self.places.get(instruction)?.stage? as usize)
    }

    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The variables that the words of an instruction see. For FROM these are the arguments before
    /// the first FROM and the platform arguments. The proxy arguments are in no scope: BuildKit hands
    /// them to commands and to nothing else. For an ONBUILD that runs in another stage of the file
    /// they are those of that stage, and so are its references and its state.
    #[must_use]
    pub fn scope(&self, instruction: usize) -> Scope<'_> {
        let place = self.places.get(instruction);
        let environment = place.map(|place| place.environment).unwrap_or_default();
        Scope { environments: &self.environments, environment }
    }

    /// The variables in the words that BuildKit expands and complains about, in its order. Commands
    /// are not among them, since a shell expands those, and neither is EXPOSE.
    #[must_use]
    pub fn references(&self, instruction: usize) -> &[VariableReference] {
        let place = self.places.get(instruction);
        let range = place.map(|place| wide_range(&place.references)).unwrap_or_default();
        self.references.get(range).unwrap_or_default()
    }

    /// The first word of each instruction that makes every build fail, in the order of the source.
    #[must_use]
    pub fn expansion_errors(&self) -> &[ExpansionError] {
        &self.expansion_errors
    }

    /// What is in force when an instruction runs; none for an index that is not in the file.
    #[must_use]
    pub fn state(&self, instruction: usize) -> Option<&State> {
        self.states.get(self.places.get(instruction)?.state as usize)
    }

    /// What an instruction of a stage does, with its words expanded. CMD, LABEL and the like do
    /// nothing: see [`Facts::config`].
    #[must_use]
    pub fn steps(&self, instruction: usize) -> &[Step] {
        let steps = self.places.get(instruction).and_then(|place| {
            let stage = self.contract.stages.get(place.stage? as usize)?;
            stage.steps.get(wide_range(&place.steps))
        });
        steps.unwrap_or_default()
    }

    /// What a stage itself sets, without what it inherits.
    #[must_use]
    pub fn config(&self, stage: usize) -> Option<&Runtime> {
        self.configs.get(stage)
    }

    /// What a stage sets and inherits from the stages it is based on.
    #[must_use]
    pub fn runtime(&self, stage: usize) -> Runtime {
        let mut chain = Vec::new();
        let mut next = self.stages.get(stage);
        while let Some(stage) = next {
            chain.push(stage.index);
            next = match stage.base {
                Base::Stage(base) => self.stages.get(base),
                _ => None,
            };
        }
        let mut settings = Settings::default();
        for config in chain.iter().rev().filter_map(|&stage| self.configs.get(stage)) {
            settings.put_stage(config);
        }
        settings.finish()
    }

    /// What a container of the image starts with.
    #[must_use]
    pub fn final_runtime(&self) -> Runtime {
        self.final_stage().map(|stage| self.runtime(stage.index)).unwrap_or_default()
    }

    /// What decides what a build makes; equal contracts, equal images.
    #[must_use]
    pub fn contract(&self) -> &ImageContract {
        &self.contract
    }
}
