//! The stages of a Dockerfile before and after a change.

use probity_dockerfile::{Base, Facts, StageReferenceKind, parse};

/// Texts are fit to be shown: without secrets and control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StagesReport {
    pub before: Vec<StageShown>,
    pub after: Vec<StageShown>,
}

/// One stage: what it is called, what it begins with and what else it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageShown {
    pub name: String,
    pub base: String,
    pub needs: Vec<StageNeed>,
}

/// Another stage or an image that an instruction of a stage uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageNeed {
    pub instruction: &'static str,
    /// A stage of the same file; otherwise `name` is an image.
    pub stage: Option<usize>,
    pub name: String,
}

impl StagesReport {
    /// Two texts whose stages differ; none if they are the same.
    #[must_use]
    pub fn of(before: &str, after: &str, hide: &dyn Fn(&str) -> String) -> Option<Self> {
        let (before, after) = (stages(before, hide), stages(after, hide));
        (before != after).then_some(Self { before, after })
    }
}

fn stages(text: &str, hide: &dyn Fn(&str) -> String) -> Vec<StageShown> {
    let facts = Facts::of(&parse(text));
    let all = facts.stages();
    let named = |index: usize| match all.get(index).and_then(|stage| stage.name.as_deref()) {
        Some(name) => hide(name),
        None => format!("stage {index}"),
    };
    let shown = |(index, stage): (usize, &probity_dockerfile::Stage)| {
        let mut needs = Vec::new();
        for reference in facts.graph().references_of(index) {
            let instruction = match reference.kind {
                StageReferenceKind::From => "FROM",
                StageReferenceKind::Copy => "COPY",
                StageReferenceKind::Mount => "RUN",
            };
            let stage = reference.target.stage();
            if instruction == "FROM" && stage.is_none() {
                continue;
            }
            let name = stage.map_or_else(|| hide(&reference.text), named);
            let need = StageNeed { instruction, stage, name };
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        let base = match &stage.base {
            Base::Stage(base) => named(*base),
            Base::Scratch => "scratch".to_owned(),
            Base::Image(image) => hide(image),
            Base::Unknown => hide(stage.image.pattern()),
        };
        StageShown { name: named(index), base, needs }
    };
    all.iter().enumerate().map(shown).collect()
}
