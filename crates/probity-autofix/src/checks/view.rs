//! A text with what is known about it. What many checks ask for is worked out once.

use std::{cell::OnceCell, collections::BTreeMap, iter::repeat_with};

use probity_dockerfile::{Dockerfile, Facts, Instruction, parse};

use super::{
    commands::{self, Called, Segment, is_cache},
    kept::pages::page_builds,
    moved::transfers,
    steps::{self, forms::forms},
};

/// What is known about each instruction.
type OfEach<T> = Vec<OnceCell<T>>;

/// Where something comes from, and where it goes.
type Pair = (String, String);

pub(crate) struct View<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: Dockerfile<'a>,
    pub(crate) facts: Facts,
    parts: OfEach<Option<Vec<Segment>>>,
    called: OfEach<Vec<Called>>,
    pairs: OfEach<Option<Vec<Pair>>>,
    whole: OfWhole,
}

/// What is known about the file as a whole, once somebody has asked for it.
#[derive(Default)]
struct OfWhole {
    written: OnceCell<Vec<String>>,
    places: OnceCell<BTreeMap<String, usize>>,
    forms: OnceCell<BTreeMap<String, usize>>,
    uses_c: OnceCell<bool>,
    page_builds: OnceCell<Vec<(usize, String)>>,
    transfers: OnceCell<Vec<Pair>>,
}

impl<'a> View<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let file = parse(text);
        let facts = Facts::of(&file);
        let count = file.instructions.len();
        let parts = repeat_with(OnceCell::new).take(count).collect();
        let called = repeat_with(OnceCell::new).take(count).collect();
        let pairs = repeat_with(OnceCell::new).take(count).collect();
        Self { text, file, facts, parts, called, pairs, whole: OfWhole::default() }
    }

    /// Whether an instruction runs as root, as far as the file tells.
    pub(crate) fn is_root_at(&self, index: usize) -> bool {
        let user = self.facts.state(index).and_then(|state| state.user.clone());
        user.is_none_or(|user| matches!(user.pattern().split(':').next(), Some("root" | "0")))
    }

    /// The parts of a RUN, each with the directory that it runs in: some may be a `cd`. The RUN may
    /// mount files of the build context.
    pub(crate) fn parts(&self, index: usize) -> Option<&[Segment]> {
        self.parts.get(index)?.get_or_init(|| commands::parts(self, index)).as_deref()
    }

    /// Every command of a RUN.
    pub(crate) fn called(&self, index: usize) -> &[Called] {
        let called = self.called.get(index);
        called
            .map(|cell| cell.get_or_init(|| commands::called(self, index)))
            .map_or(&[], Vec::as_slice)
    }

    /// Every command of every RUN.
    pub(crate) fn all_called(&self) -> impl Iterator<Item = &Called> {
        (0..self.called.len()).flat_map(|index| self.called(index))
    }

    /// What a COPY or ADD of the build context brings, each source with the place it is put at.
    pub(crate) fn pairs(&self, index: usize) -> Option<&[Pair]> {
        self.pairs.get(index)?.get_or_init(|| steps::pairs(self, index)).as_deref()
    }

    /// What all COPYs and ADDs of the build context bring.
    pub(crate) fn all_pairs(&self) -> impl Iterator<Item = &Pair> {
        (0..self.pairs.len()).filter_map(|index| self.pairs(index)).flatten()
    }

    /// The instructions as two files can be compared by: joined, and spaces count within quotes alone.
    pub(crate) fn written(&self) -> &[String] {
        let all =
            || self.file.instructions.iter().map(|instruction| self.joined(instruction)).collect();
        self.whole.written.get_or_init(all)
    }

    /// The first instruction that is written like this.
    pub(crate) fn position(&self, written: &str) -> Option<usize> {
        let all = || self.written().iter().cloned().enumerate();
        self.whole.places.get_or_init(|| firsts(all())).get(written).copied()
    }

    /// The parts of all RUNs in all their forms, each with the first RUN that has it.
    pub(crate) fn forms(&self) -> &BTreeMap<String, usize> {
        self.whole.forms.get_or_init(|| {
            firsts((0..self.file.instructions.len()).flat_map(|index| {
                let parts = self.parts(index).unwrap_or_default();
                let texts: Vec<String> = parts.iter().flat_map(forms).collect();
                texts.into_iter().map(move |text| (index, text))
            }))
        })
    }

    /// Whether something shows that a program calls libraries of C.
    pub(crate) fn uses_c(&self) -> bool {
        *self.whole.uses_c.get_or_init(|| commands::shows_c(self))
    }

    /// The RUNs that make pages with tools of Node, each with the directory that it does so in.
    pub(crate) fn page_builds(&self) -> &[(usize, String)] {
        self.whole.page_builds.get_or_init(|| {
            let indices = 0..self.file.instructions.len();
            let of = |index| {
                page_builds(self, index).into_iter().map(move |directory| (index, directory))
            };
            indices.flat_map(of).collect()
        })
    }

    /// `cp FROM TO`, `mv FROM TO` and `install FROM TO` of one file or directory.
    pub(crate) fn transfers(&self) -> &[Pair] {
        self.whole.transfers.get_or_init(|| transfers(self))
    }

    /// The text of one of the instructions in [`View::written`].
    pub(crate) fn written_as(&self, instruction: &Instruction) -> &str {
        let start = instruction.span.start;
        let place = self.file.instructions.partition_point(|other| other.span.start < start);
        self.written().get(place).map(String::as_str).unwrap_or_default()
    }

    fn joined(&self, instruction: &Instruction) -> String {
        let mut body = instruction.body_text().to_string();
        for flag in instruction.flags.iter().filter(|flag| is_cache(flag)) {
            let written = flag.span.slice(self.text).unwrap_or_default();
            body = body.replacen(written, "", 1);
        }
        let body = if body.contains(['"', '\'']) {
            body.trim().to_owned()
        } else {
            body.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut text = format!("{} {body}", instruction.keyword);
        for heredoc in instruction.heredocs() {
            text.push('\n');
            text.push_str(&heredoc.content(self.text));
        }
        text
    }
}

/// Each text with the first place that has it.
fn firsts(all: impl Iterator<Item = (usize, String)>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (place, text) in all {
        found.entry(text).or_insert(place);
    }
    found
}
