//! The graph of stages: who needs whom, what the final stage reaches, and what goes in circles.

mod cycles;

use std::{collections::HashMap, ops::Range};

use probity_finding::Span;

use crate::{
    Dockerfile, Instruction, Keyword,
    facts::stages::{Base, Stages},
};

/// The references between stages.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Stage by stage, in the order in which they are needed.
    references: Vec<StageReference>,
    /// The part of `references` that belongs to each stage.
    ranges: Vec<Range<usize>>,
    reachable: Vec<bool>,
    cycles: Vec<Vec<usize>>,
    /// The place in `cycles` of each stage that is in one.
    cycle_of: HashMap<usize, usize>,
}

/// One place where a stage asks for another stage or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageReference {
    /// The stage that asks.
    pub stage: usize,
    pub instruction: usize,
    pub kind: StageReferenceKind,
    /// What was written.
    pub text: String,
    pub span: Span,
    pub target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StageReferenceKind {
    /// `FROM base`
    From,
    /// `COPY --from=…`
    Copy,
    /// `RUN --mount=…,from=…`
    Mount,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// By name, whatever its case. For COPY and RUN it may come later, which BuildKit refuses.
    Stage(usize),
    /// By number, which only COPY knows.
    StageIndex(usize),
    /// An image or a named context.
    Image(String),
    Scratch,
    /// There is no such stage, or the name holds a variable that is not resolved here.
    Unknown,
}

impl Target {
    /// The stage that is meant.
    #[must_use]
    pub fn stage(&self) -> Option<usize> {
        match self {
            Self::Stage(stage) | Self::StageIndex(stage) => Some(*stage),
            Self::Image(_) | Self::Scratch | Self::Unknown => None,
        }
    }
}

impl Graph {
    #[must_use]
    pub fn references(&self) -> &[StageReference] {
        &self.references
    }

    /// What one stage asks for.
    #[must_use]
    pub fn references_of(&self, stage: usize) -> &[StageReference] {
        let range = self.ranges.get(stage).cloned().unwrap_or_default();
        self.references.get(range).unwrap_or_default()
    }

    /// Whether the final stage needs this one.
    #[must_use]
    pub fn is_reachable(&self, stage: usize) -> bool {
        self.reachable.get(stage).copied().unwrap_or_default()
    }

    /// The groups of stages that need each other, and the stages that need themselves.
    #[must_use]
    pub fn cycles(&self) -> &[Vec<usize>] {
        &self.cycles
    }

    /// The circle that a reference is a part of, by its place in [`Graph::cycles`].
    #[must_use]
    pub fn cycle_of(&self, reference: &StageReference) -> Option<usize> {
        let from = self.cycle_of.get(&reference.stage)?;
        let to = self.cycle_of.get(&reference.target.stage()?)?;
        (from == to).then_some(*from)
    }

    pub(super) fn of(dockerfile: &Dockerfile<'_>, stages: &Stages) -> Self {
        let mut graph = Self::default();
        for stage in &stages.all {
            let start = graph.references.len();
            let instructions = dockerfile.instructions.get(stage.instructions.clone());
            for (offset, instruction) in instructions.unwrap_or_default().iter().enumerate() {
                graph.add(stages, stage.index, stage.instruction + offset, instruction);
                if instruction.keyword != Keyword::From {
                    continue;
                }
                for (index, trigger) in stages.triggers(dockerfile, stage.index) {
                    graph.add(stages, stage.index, index, trigger);
                }
            }
            graph.ranges.push(start..graph.references.len());
        }
        graph.reachable = graph.reached_from(stages.all.len().checked_sub(1), stages.all.len());
        graph.cycles = cycles::find(&graph, stages.all.len());
        for (index, cycle) in graph.cycles.iter().enumerate() {
            graph.cycle_of.extend(cycle.iter().map(|&stage| (stage, index)));
        }
        graph
    }

    /// The stages that a build with this last stage builds. All of them, if only the build knows which
    /// stage a name means.
    pub(super) fn built_for(&self, last: Option<usize>, count: usize) -> Vec<bool> {
        let built = self.reached_from(last, count);
        let may_mean_any = |reference: &StageReference| {
            let is_built = built.get(reference.stage).copied().unwrap_or_default();
            is_built && reference.target == Target::Unknown && reference.text.contains('$')
        };
        if self.references.iter().any(may_mean_any) { vec![true; count] } else { built }
    }

    fn add(&mut self, stages: &Stages, stage: usize, index: usize, instruction: &Instruction) {
        let mut push = |kind, text: &str, span, target| {
            let text = text.to_owned();
            let reference = StageReference { stage, instruction: index, kind, text, span, target };
            self.references.push(reference);
        };
        match instruction.keyword {
            Keyword::From => {
                let Some(stage) = stages.all.get(stage) else { return };
                let Some(span) = stage.image_span else { return };
                let target = match &stage.base {
                    Base::Stage(base) => Target::Stage(*base),
                    Base::Scratch => Target::Scratch,
                    Base::Image(name) => Target::Image(name.clone()),
                    Base::Unknown => Target::Unknown,
                };
                push(StageReferenceKind::From, stage.image.pattern(), span, target);
            }
            Keyword::Copy => {
                let Some(word) = instruction.flag_value("from") else { return };
                let target = copy_target(stages, &word.text);
                push(StageReferenceKind::Copy, &word.text, word.span, target);
            }
            Keyword::Run => {
                for flag in instruction.flags_named("mount") {
                    let Some(word) = flag.option("from") else { continue };
                    let target = mount_target(stages, &word.text);
                    push(StageReferenceKind::Mount, &word.text, word.span, target);
                }
            }
            _ => {}
        }
    }

    fn targets(&self, stage: usize) -> impl Iterator<Item = usize> + '_ {
        self.references_of(stage).iter().filter_map(|reference| reference.target.stage())
    }

    fn reached_from(&self, start: Option<usize>, count: usize) -> Vec<bool> {
        let mut reached = vec![false; count];
        let mut pending: Vec<usize> = start.into_iter().collect();
        while let Some(stage) = pending.pop() {
            match reached.get_mut(stage) {
                Some(mark) if !*mark => *mark = true,
                _ => continue,
            }
            pending.extend(self.targets(stage));
        }
        reached
    }
}

/// Where `COPY --from` leads.
pub(super) fn copy_target(stages: &Stages, text: &str) -> Target {
    match text.parse::<usize>() {
        Ok(index) if index < stages.all.len() => Target::StageIndex(index),
        Ok(_) => Target::Unknown,
        Err(_) => mount_target(stages, text),
    }
}

/// Where `from=` of a mount leads.
pub(super) fn mount_target(stages: &Stages, text: &str) -> Target {
    if text.is_empty() || text.contains('$') {
        return Target::Unknown;
    }
    match stages.by_name.get(&text.to_lowercase()) {
        Some(&stage) => Target::Stage(stage),
        None if text == "scratch" => Target::Scratch,
        None => Target::Image(text.to_owned()),
    }
}
