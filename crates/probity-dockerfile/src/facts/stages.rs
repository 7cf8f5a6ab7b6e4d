//! Stages: what each is called and what it is based on.

use std::{collections::HashMap, ops::Range};

use probity_finding::Span;

use crate::{Arguments, Dockerfile, Instruction, Keyword, facts::text::Text};

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
}

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
            name: alias.map(|alias| alias.name.text.clone()),
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

/// How many variables the file defines at most.
pub(super) fn definitions(dockerfile: &Dockerfile<'_>) -> usize {
    let counts = dockerfile.instructions.iter().map(|instruction| match &instruction.arguments {
        Arguments::Pairs { pairs, .. } if instruction.keyword != Keyword::Label => pairs.len(),
        _ => 0,
    });
    counts.sum()
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
