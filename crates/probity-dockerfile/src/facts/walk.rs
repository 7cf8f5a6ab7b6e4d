//! The one pass over the file that computes every fact.

use std::{num::NonZeroU32, sync::Arc};

use probity_finding::Span;

use crate::{
    Arguments, DirectiveName, Dockerfile, Instruction, Keyword,
    compact::compact,
    facts::{
        ExpansionError, Facts, InstructionFacts,
        build::{BuildValues, ContextNames},
        contract::{ImageContract, StageContract, Step},
        definitions::predefined,
        graph::Graph,
        packages::Packages,
        runtime::{Runtime, Settings},
        shell::Scripts,
        stages::{self, Base, Stage, Stages},
        state::{self, Pragma, Shell, ShellSource, State},
        suggestion::Suggestions,
        text::{Budget, Text},
        variables::{Environment, Environments, PLATFORM_ARGUMENTS, VariableReference},
    },
};

/// What the pass knows so far.
pub(super) struct Walk<'d> {
    pub(super) dockerfile: &'d Dockerfile<'d>,
    /// None if the file is for any build.
    pub(super) build: Option<&'d BuildValues>,
    contexts: ContextNames,
    pub(super) stages: Stages,
    pub(super) environments: Environments,
    pub(super) budget: Budget,
    pub(super) suggestions: Suggestions,
    pub(super) references: Vec<VariableReference>,
    pub(super) expansion_errors: Vec<ExpansionError>,
    pub(super) globals: Environment,
    states: Vec<State>,
    places: Vec<InstructionFacts>,
}

/// What is in force at the instruction that is being looked at.
pub(super) struct Current {
    pub(super) index: usize,
    pub(super) environment: Environment,
    /// Whether nothing can come from a base image.
    pub(super) closed: bool,
    /// Whether nothing but `PATH` can.
    pub(super) bare: bool,
    /// Whether the instruction is one of a stage, FROM excluded.
    pub(super) in_stage: bool,
    /// The shell that the build uses, whatever pragmas say.
    pub(super) shell: Arc<[String]>,
    /// The index of the state.
    state: usize,
    pub(super) steps: Vec<Step>,
    pub(super) settings: Settings,
}

/// What a stage leaves to the stages that are based on it.
struct End {
    environment: Environment,
    shell: Arc<[String]>,
    state: usize,
}

pub(super) fn walk(dockerfile: &Dockerfile<'_>, build: Option<&BuildValues>) -> Facts {
    let mut walk = Walk {
        dockerfile,
        build,
        contexts: ContextNames::of(build),
        stages: Stages::default(),
        environments: Environments::with_room_for(stages::definitions(dockerfile)),
        budget: Budget::new(),
        suggestions: Suggestions::default(),
        references: Vec::new(),
        expansion_errors: Vec::new(),
        globals: Environment::default(),
        states: vec![State::initial(stages::Os::Linux, false)],
        places: vec![InstructionFacts::default(); dockerfile.instructions.len()],
    };
    for name in PLATFORM_ARGUMENTS {
        let variable = predefined(name);
        walk.globals = walk.environments.define(walk.globals, variable);
    }
    let arguments = walk.stages_and_arguments();
    walk.stages.find_triggers(dockerfile);
    let graph = Graph::of(dockerfile, &walk.stages);
    let (contracts, configs) = walk.instructions();
    // A build ends at the first broken word of an instruction; a trigger breaks in every stage that
    // runs it.
    walk.expansion_errors.sort_by_key(|error| (error.instruction, error.span.start));
    walk.expansion_errors.dedup_by_key(|error| error.instruction);
    walk.references.shrink_to_fit();
    walk.states.shrink_to_fit();
    let command_cells = walk.number_command_cells();
    let syntax =
        dockerfile.directives.iter().find(|directive| directive.name == DirectiveName::Syntax);
    let last = BuildValues::last_stage(build, &walk.stages.all);
    Facts {
        last,
        built: graph.built_for(last, walk.stages.all.len()),
        contexts: walk.contexts,
        contract: ImageContract {
            syntax: syntax.map(|directive| directive.value.clone()),
            arguments,
            stages: contracts,
        },
        stages: walk.stages.all,
        graph,
        places: walk.places,
        environments: walk.environments,
        references: walk.references,
        expansion_errors: walk.expansion_errors,
        states: walk.states,
        configs,
        scripts: Scripts::with_room_for(command_cells),
        packages: Packages::with_room_for(command_cells),
    }
}

impl Current {
    fn at(index: usize, environment: Environment, closed: bool) -> Self {
        Self {
            index,
            environment,
            closed,
            bare: closed,
            in_stage: false,
            shell: Arc::from([]),
            state: 0,
            steps: Vec::new(),
            settings: Settings::default(),
        }
    }
}

impl Walk<'_> {
    /// Everything that later instructions may refer to before it comes: the arguments before the
    /// first FROM, and all stages.
    fn stages_and_arguments(&mut self) -> Vec<Step> {
        let mut arguments = Vec::new();
        for (index, instruction) in self.dockerfile.instructions.iter().enumerate() {
            let (start, before) = (self.references.len(), self.globals);
            let mut current = Current::at(index, self.globals, true);
            if instruction.keyword == Keyword::From {
                self.begin_stage(&mut current, instruction);
            } else if let Some(stage) = self.stages.all.last_mut() {
                stage.instructions.end = index + 1;
                let stage = compact(stage.index);
                self.edit_place(index, |place| place.stage = Some(stage));
                continue;
            } else if let (Keyword::Arg, Arguments::Pairs { pairs, .. }) =
                (instruction.keyword, &instruction.arguments)
            {
                pairs.iter().for_each(|pair| self.argument(&mut current, instruction, pair));
                self.globals = current.environment;
                arguments.append(&mut current.steps);
            }
            let references = compact(start)..compact(self.references.len());
            self.edit_place(index, |place| {
                place.environment = before;
                place.references = references;
            });
        }
        arguments
    }

    fn begin_stage(&mut self, current: &mut Current, instruction: &Instruction) {
        let image = match &instruction.arguments {
            Arguments::From { image: Some(image), .. } => {
                let image = self.word(current, instruction, image);
                self.unless_context(image)
            }
            _ => Text::default(),
        };
        let platform = instruction.flag_value("platform");
        let platform = platform.map(|word| self.word(current, instruction, word));
        let number = self.stages.all.len();
        self.stages.begin(instruction, current.index, image, platform);
        self.edit_place(current.index, |place| place.stage = Some(compact(number)));
    }

    /// A name that means an additional context says nothing about an image.
    fn unless_context(&self, image: Text) -> Text {
        let name = image.value.as_deref().unwrap_or_default();
        let is_stage = self.stages.by_name.contains_key(&name.to_lowercase());
        if self.contexts.contains(name) && !is_stage {
            Text { open: Some(image.pattern().to_owned()), value: None }
        } else {
            image
        }
    }

    /// Gives a number to each instruction that may have scripts; says how many there are.
    fn number_command_cells(&mut self) -> usize {
        let mut count = 0;
        for (instruction, place) in self.dockerfile.instructions.iter().zip(&mut self.places) {
            if instruction.may_run_commands() {
                count += 1;
                place.command_cell = NonZeroU32::new(compact(count));
            }
        }
        count
    }

    /// The instructions of every stage, in order, and what they amount to.
    fn instructions(&mut self) -> (Vec<StageContract>, Vec<Runtime>) {
        let pragmas = state::pragmas(self.dockerfile);
        let mut pragmas = pragmas.as_slice();
        let mut everywhere = None;
        let mut ends: Vec<End> = Vec::new();
        let mut contracts = Vec::new();
        let mut configs = Vec::new();
        for number in 0..self.stages.all.len() {
            let Some(stage) = self.stages.all.get(number).cloned() else { continue };
            let mut current = self.start(&stage, &ends);
            let instructions = self.dockerfile.instructions.get(stage.instructions.clone());
            for (offset, instruction) in instructions.unwrap_or_default().iter().enumerate() {
                current.index = stage.instruction + offset;
                let named = take_pragmas(&mut pragmas, instruction.span);
                // What stands above the first FROM holds for the file; a stage that is based on
                // another has the shell of that one.
                if number == 0 && offset == 0 {
                    everywhere = named;
                }
                let inherits = matches!(stage.base, Base::Stage(_));
                let general = if offset == 0 && !inherits { everywhere } else { None };
                if let Some(pragma) = named.or(general) {
                    self.name_shell(&mut current, pragma);
                }
                self.instruction(&mut current, &stage, instruction);
            }
            let config = current.settings.finish();
            current.steps.shrink_to_fit();
            contracts.push(StageContract {
                name: stage.key(),
                image: (!matches!(stage.base, Base::Stage(_)) || !stage.image.is_constant())
                    .then(|| stage.image.clone()),
                base: stage.base,
                platform: stage.platform,
                config: config.entries().iter().map(|entry| Arc::clone(&entry.entry)).collect(),
                steps: current.steps,
            });
            configs.push(config);
            ends.push(End {
                environment: current.environment,
                shell: current.shell,
                state: current.state,
            });
        }
        (contracts, configs)
    }

    fn start(&mut self, stage: &Stage, ends: &[End]) -> Current {
        let closed = self.stages.is_closed(stage.index);
        let base = match stage.base {
            Base::Stage(base) => ends.get(base),
            _ => None,
        };
        let mut current = Current::at(stage.instruction, Environment::default(), closed);
        current.in_stage = true;
        current.bare = self.stages.is_bare(stage.index);
        if let Some(base) = base {
            current.environment = base.environment;
            current.shell = Arc::clone(&base.shell);
            current.state = base.state;
            self.run_triggers(&mut current, stage);
            return current;
        }
        if stage.os == stages::Os::Linux {
            current.environment = self.environments.define(current.environment, predefined("PATH"));
        }
        current.shell = Arc::from(state::default_shell(stage.os));
        self.states.push(State::initial(stage.os, closed));
        current.state = self.states.len() - 1;
        current
    }

    /// The ONBUILDs of the base run first. What they do is in the contract of the base; what they
    /// leave is this stage's. All stages on one base run them alike, so that what the first of these
    /// sees is what the ONBUILD sees.
    fn run_triggers(&mut self, current: &mut Current, stage: &Stage) {
        for (index, trigger) in self.stages.triggers(self.dockerfile, stage.index) {
            current.index = index;
            let (state, environment) = (current.state, current.environment);
            let start = self.references.len();
            self.dispatch(current, stage, trigger);
            let references = compact(start)..compact(self.references.len());
            let known = |place: &InstructionFacts| !place.references.is_empty();
            if self.places.get(index).is_some_and(known) {
                self.references.truncate(start);
                continue;
            }
            self.edit_place(index, |place| {
                place.state = compact(state);
                place.environment = environment;
                place.references = references;
            });
        }
        current.steps.clear();
    }

    fn instruction(&mut self, current: &mut Current, stage: &Stage, instruction: &Instruction) {
        let (state, environment) = (current.state, current.environment);
        self.edit_place(current.index, |place| place.state = compact(state));
        if instruction.keyword == Keyword::From {
            return;
        }
        let (references, steps) = (self.references.len(), current.steps.len());
        self.dispatch(current, stage, instruction);
        let references = compact(references)..compact(self.references.len());
        let steps = compact(steps)..compact(current.steps.len());
        self.edit_place(current.index, |place| {
            place.environment = environment;
            place.references = references;
            place.steps = steps;
        });
    }

    /// Pushes a changed copy of the state in force.
    pub(super) fn change_state(&mut self, current: &mut Current, change: impl FnOnce(&mut State)) {
        let Some(mut state) = self.states.get(current.state).cloned() else { return };
        change(&mut state);
        self.states.push(state);
        current.state = self.states.len() - 1;
    }

    fn name_shell(&mut self, current: &mut Current, pragma: &Pragma) {
        let source = ShellSource::Pragma(pragma.span);
        let shell = Arc::new(Shell { argv: vec![pragma.shell.clone()], source });
        self.change_state(current, |state| state.shell = shell);
    }

    fn edit_place(&mut self, index: usize, edit: impl FnOnce(&mut InstructionFacts)) {
        if let Some(place) = self.places.get_mut(index) {
            edit(place);
        }
    }
}

/// The last pragma before the instruction; the ones before it are overridden.
fn take_pragmas<'p>(pragmas: &mut &'p [Pragma], instruction: Span) -> Option<&'p Pragma> {
    let count = pragmas.partition_point(|pragma| pragma.span.start < instruction.start);
    let (taken, rest) = pragmas.split_at(count);
    *pragmas = rest;
    taken.last()
}
