//! A text with what is known about it. What many checks ask for is worked out once.

use std::{cell::OnceCell, collections::BTreeMap};

use probity_dockerfile::{Dockerfile, Facts, Instruction, parse};

use super::{
    commands::{self, is_cache, parts},
    kept::pages::page_builds,
    moved::transfers,
    steps::forms::forms,
};

pub(crate) struct View<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: Dockerfile<'a>,
    pub(crate) facts: Facts,
    written: OnceCell<Vec<String>>,
    places: OnceCell<BTreeMap<String, usize>>,
    forms: OnceCell<BTreeMap<String, usize>>,
    uses_c: OnceCell<bool>,
    page_builds: OnceCell<Vec<(usize, String)>>,
    transfers: OnceCell<Vec<(String, String)>>,
}

impl<'a> View<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let file = parse(text);
        let facts = Facts::of(&file);
        let (written, places) = (OnceCell::new(), OnceCell::new());
        let (forms, uses_c) = (OnceCell::new(), OnceCell::new());
        let (page_builds, transfers) = (OnceCell::new(), OnceCell::new());
        Self { text, file, facts, written, places, forms, uses_c, page_builds, transfers }
    }

    /// Whether an instruction runs as root, as far as the file tells.
    pub(crate) fn is_root_at(&self, index: usize) -> bool {
        let user = self.facts.state(index).and_then(|state| state.user.clone());
        user.is_none_or(|it| matches!(it.pattern().split(':').next(), Some("root" | "0")))
    }

    /// The instructions as two files can be compared by: joined, and spaces count within quotes alone.
    pub(crate) fn written(&self) -> &[String] {
        let all = || self.file.instructions.iter().map(|it| self.joined(it)).collect();
        self.written.get_or_init(all)
    }

    /// The first instruction that is written like this.
    pub(crate) fn position(&self, written: &str) -> Option<usize> {
        let all = || self.written().iter().cloned().enumerate();
        self.places.get_or_init(|| firsts(all())).get(written).copied()
    }

    /// The parts of all RUNs in all their forms, each with the first RUN that has it.
    pub(crate) fn forms(&self) -> &BTreeMap<String, usize> {
        self.forms.get_or_init(|| {
            firsts((0..self.file.instructions.len()).flat_map(|index| {
                let parts = parts(self, index).unwrap_or_default();
                let texts: Vec<String> = parts.iter().flat_map(forms).collect();
                texts.into_iter().map(move |text| (index, text))
            }))
        })
    }

    /// Whether something shows that a program calls libraries of C.
    pub(crate) fn uses_c(&self) -> bool {
        *self.uses_c.get_or_init(|| commands::shows_c(self))
    }

    /// The RUNs that make pages with tools of Node, each with the directory that it does so in.
    pub(crate) fn page_builds(&self) -> &[(usize, String)] {
        self.page_builds.get_or_init(|| {
            let indices = 0..self.file.instructions.len();
            let of = |index| page_builds(self, index).into_iter().map(move |it| (index, it));
            indices.flat_map(of).collect()
        })
    }

    /// `cp FROM TO`, `mv FROM TO` and `install FROM TO` of one file or directory.
    pub(crate) fn transfers(&self) -> &[(String, String)] {
        self.transfers.get_or_init(|| transfers(self))
    }

    /// The text of one of the instructions in [`View::written`].
    pub(crate) fn written_as(&self, instruction: &Instruction) -> &str {
        let start = instruction.span.start;
        let place = self.file.instructions.partition_point(|it| it.span.start < start);
        self.written().get(place).map(String::as_str).unwrap_or_default()
    }

    fn joined(&self, instruction: &Instruction) -> String {
        let mut body = instruction.body_text().to_string();
        for flag in instruction.flags.iter().filter(|flag| is_cache(flag)) {
            let written = flag.span.slice(self.text).unwrap_or_default();
            body = body.replacen(written, "", 1);
        }
        let body = match body.contains(['"', '\'']) {
            true => body.trim().to_owned(),
            false => body.split_whitespace().collect::<Vec<_>>().join(" "),
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
