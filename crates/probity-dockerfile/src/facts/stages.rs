//! Stages: what each is called and what it is based on.

use std::{collections::HashMap, ops::Range};

use probity_finding::Span;

use crate::{Arguments, Dockerfile, ImageRef, Instruction, Keyword, facts::text::Text};

/// One stage, from its FROM to the instruction before the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub index: usize,
    /// The index of its FROM.
    pub instruction: usize,
    /// Its instructions, FROM included.
    pub instructions: Range<usize>,
    /// As written behind `AS`.
    pub name: Option<String>,
    pub name_span: Option<Span>,
    /// The word behind FROM.
    pub image: Text,
    pub image_span: Option<Span>,
    pub base: Base,
    pub platform: Option<Text>,
    pub os: Os,
    /// The stage at the bottom of the chain of bases; itself where it is not based on a stage.
    pub root: usize,
}

/// What a stage starts from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// An earlier stage.
    Stage(usize),
    Scratch,
    /// An image, as it is called in a build without build arguments.
    Image(String),
    /// Nothing was written, or the name depends on values that only the build knows.
    Unknown,
}

/// The operating system of an image, as far as its name and platform tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Os {
    Linux,
    Windows,
}

impl Stage {
    /// The name as BuildKit compares it.
    #[must_use]
    pub fn key(&self) -> Option<String> {
        self.name.as_deref().map(str::to_lowercase)
    }
}

/// Builds the stages one FROM at a time, so that each can be resolved against the earlier ones.
#[derive(Debug, Default)]
pub(super) struct Stages {
    pub(super) all: Vec<Stage>,
    /// The latest stage of each name, in lower case.
    pub(super) by_name: HashMap<String, usize>,
    /// The ONBUILDs of each stage, by the index of the instruction.
    triggers: Vec<Vec<usize>>,
    /// The stage whose ONBUILDs a stage begins with.
    triggered_by: Vec<Option<usize>>,
}

/// Official images whose environment is `PATH` alone.
const BARE_IMAGES: [&str; 4] = ["alpine", "busybox", "debian", "ubuntu"];

/// How many triggers are followed in one file: each can run in many stages.
const MAX_TRIGGERS: usize = 10_000;

impl Stages {
    pub(super) fn begin(
        &mut self,
        instruction: &Instruction,
        index: usize,
        image: Text,
        platform: Option<Text>,
    ) {
        let (word, alias) = match &instruction.arguments {
            Arguments::From { image, alias, .. } => (image.as_ref(), alias.as_ref()),
            _ => (None, None),
        };
        let base = self.base(&image);
        let number = self.all.len();
        let below = match base {
            Base::Stage(below) => self.all.get(below),
            _ => None,
        };
        let stage = Stage {
            index: number,
            instruction: index,
            instructions: index..index + 1,
            name: alias.map(|alias| alias.name.text.to_string()),
            name_span: alias.map(|alias| alias.name.span),
            image_span: word.map(|word| word.span),
            os: below.map_or_else(|| os(&image, platform.as_ref()), |below| below.os),
            root: below.map_or(number, |below| below.root),
            image,
            base,
            platform,
        };
        if let Some(key) = stage.key() {
            self.by_name.insert(key, number);
        }
        self.all.push(stage);
    }

    /// Whether a name that is not set in the stage is not set at all: nothing comes from an image.
    pub(super) fn is_closed(&self, stage: usize) -> bool {
        let root = self.all.get(stage).and_then(|stage| self.all.get(stage.root));
        root.is_some_and(|root| root.base == Base::Scratch)
    }

    /// Whether the image below the stage is one of those that set `PATH` and nothing else.
    pub(super) fn is_bare(&self, stage: usize) -> bool {
        let root = self.all.get(stage).and_then(|stage| self.all.get(stage.root));
        root.is_some_and(|root| match &root.base {
            Base::Scratch => true,
            Base::Image(name) => {
                root.image.is_constant()
                    && ImageRef::parse(name)
                        .is_ok_and(|image| BARE_IMAGES.contains(&image.familiar_name().as_str()))
            }
            Base::Stage(_) | Base::Unknown => false,
        })
    }

    /// Notes which triggers run where, once all stages are known.
    pub(super) fn find_triggers(&mut self, dockerfile: &Dockerfile<'_>) {
        let onbuild = |stage: &Stage| {
            let is_trigger = |&index: &usize| {
                let instruction = dockerfile.instructions.get(index);
                instruction.is_some_and(|instruction| instruction.keyword == Keyword::Onbuild)
            };
            stage.instructions.clone().filter(is_trigger).collect::<Vec<usize>>()
        };
        self.triggers = self.all.iter().map(onbuild).collect();
        let mut left = MAX_TRIGGERS;
        for stage in &self.all {
            let base = match stage.base {
                Base::Stage(base) => Some(base),
                _ => None,
            };
            let count = base.and_then(|base| self.triggers.get(base)).map_or(0, Vec::len);
            let runs = count > 0 && count <= left;
            left -= if runs { count } else { 0 };
            self.triggered_by.push(if runs { base } else { None });
        }
    }

    /// The instructions that a stage begins with because its base asks for them, each with the index
    /// of the ONBUILD it stands in.
    pub(super) fn triggers<'d>(
        &self,
        dockerfile: &'d Dockerfile<'_>,
        stage: usize,
    ) -> Vec<(usize, &'d Instruction)> {
        let base = self.triggered_by.get(stage).copied().flatten();
        let indices = base.and_then(|base| self.triggers.get(base)).into_iter().flatten();
        let nested = |&index: &usize| match &dockerfile.instructions.get(index)?.arguments {
            Arguments::Onbuild(Some(nested)) => Some((index, &**nested)),
            _ => None,
        };
        indices.filter_map(nested).collect()
    }

    fn base(&self, image: &Text) -> Base {
        let Some(name) = image.value.as_deref().filter(|name| !name.is_empty()) else {
            return Base::Unknown;
        };
        match self.by_name.get(&name.to_lowercase()) {
            Some(&stage) => Base::Stage(stage),
            None if name == "scratch" => Base::Scratch,
            None => Base::Image(name.to_owned()),
        }
    }
}

/// How many variables the file defines at most, but for triggers that make up names.
pub(super) fn definitions(dockerfile: &Dockerfile<'_>) -> usize {
    let nested = |instruction: &Instruction| match &instruction.arguments {
        Arguments::Onbuild(Some(nested)) => pairs(nested),
        _ => pairs(instruction),
    };
    dockerfile.instructions.iter().map(nested).sum()
}

fn pairs(instruction: &Instruction) -> usize {
    match &instruction.arguments {
        Arguments::Pairs { pairs, .. } if instruction.keyword != Keyword::Label => pairs.len(),
        _ => 0,
    }
}

fn os(image: &Text, platform: Option<&Text>) -> Os {
    if let Some(platform) = platform.and_then(|platform| platform.value.as_deref()) {
        let windows = platform.to_ascii_lowercase().starts_with("windows");
        return if windows { Os::Windows } else { Os::Linux };
    }
    let image = image.pattern().to_ascii_lowercase();
    let parts = ["/windows/", "servercore", "nanoserver"];
    if parts.iter().any(|part| image.contains(part)) { Os::Windows } else { Os::Linux }
}
