//! A file as steps in a row, with the installs of conda and pip told apart from the rest.

use super::install::{Conda, Pip};
use crate::checks::{
    View,
    commands::{Segment, segments},
    steps::written,
};

/// A file, step by step; a RUN is one step for each command that works by itself.
pub(super) struct Plan {
    pub(super) items: Vec<Item>,
}

pub(super) enum Item {
    Conda(Conda),
    /// An install by pip, and how it is written.
    Pip(Pip, String),
    /// `conda clean`.
    Cleaning,
    Other(String),
}

/// What is installed between two other steps.
#[derive(Default)]
pub(super) struct Spot<'p> {
    pub(super) condas: Vec<&'p Conda>,
    pub(super) pips: Vec<&'p Pip>,
}

impl Spot<'_> {
    pub(super) fn joined(spots: Vec<Self>) -> Self {
        let mut all = Self::default();
        for spot in spots {
            all.condas.extend(spot.condas);
            all.pips.extend(spot.pips);
        }
        all
    }
}

impl Plan {
    /// The steps of a file but for instructions that something else explains.
    pub(super) fn of(view: &View<'_>, is_explained: &dyn Fn(usize) -> bool) -> Self {
        let all = view.file.instructions.iter().enumerate();
        let items =
            all.filter(|(index, _)| !is_explained(*index)).flat_map(|(index, instruction)| {
                match segments(view, index) {
                    Some(parts) => parts.iter().map(Item::of).collect(),
                    None => vec![Item::Other(written(view, instruction))],
                }
            });
        Self { items: items.collect() }
    }

    /// Takes installs by pip that another file has too for ordinary steps.
    pub(super) fn keep_known(&mut self, other: &Self) {
        let known: Vec<&String> = other.items.iter().filter_map(Item::pip_text).collect();
        self.keep_pips(&|text| known.contains(&text));
    }

    /// Takes all installs by pip for ordinary steps.
    pub(super) fn keep_all_pips(&mut self) {
        self.keep_pips(&|_| true);
    }

    fn keep_pips(&mut self, is_kept: &dyn Fn(&String) -> bool) {
        for item in &mut self.items {
            if let Item::Pip(_, text) = item
                && is_kept(text)
            {
                *item = Item::Other(std::mem::take(text));
            }
        }
    }

    /// The steps that must stay.
    pub(super) fn rest(&self) -> Vec<&str> {
        let others = self.items.iter().filter_map(|item| match item {
            Item::Other(text) => Some(text.as_str()),
            _ => None,
        });
        others.collect()
    }

    /// What is installed before, between and after those steps.
    pub(super) fn spots(&self) -> Vec<Spot<'_>> {
        let mut spots = vec![Spot::default()];
        for item in &self.items {
            let Some(spot) = spots.last_mut() else { break };
            match item {
                Item::Conda(conda) => spot.condas.push(conda),
                Item::Pip(pip, _) => spot.pips.push(pip),
                Item::Cleaning => {}
                Item::Other(_) => spots.push(Spot::default()),
            }
        }
        spots
    }

    /// Whether a step before an install brings uv.
    pub(super) fn has_uv_before(&self, install: &Pip) -> bool {
        let earlier = self.items.iter().take_while(|item| match item {
            Item::Pip(pip, _) => pip.start < install.start,
            _ => true,
        });
        earlier.into_iter().any(|item| match item {
            Item::Pip(pip, _) => !pip.is_uv && pip.packages.iter().any(|package| package == "uv"),
            Item::Other(text) => {
                text.split_whitespace().any(|word| word == "uv" || word.ends_with("/uv"))
            }
            Item::Conda(_) | Item::Cleaning => false,
        })
    }
}

impl Item {
    fn of(part: &Segment) -> Self {
        let text = format!("RUN {}", part.text);
        let [command] = part.commands.as_slice() else { return Self::Other(text) };
        if Conda::is_cleaning(command) {
            return Self::Cleaning;
        }
        match (Conda::of(command), Pip::of(command)) {
            (Some(conda), _) => Self::Conda(conda),
            (_, Some(pip)) => Self::Pip(pip, text),
            _ => Self::Other(text),
        }
    }

    pub(super) fn conda(&self) -> Option<&Conda> {
        match self {
            Self::Conda(conda) => Some(conda),
            _ => None,
        }
    }

    fn pip_text(&self) -> Option<&String> {
        match self {
            Self::Pip(_, text) => Some(text),
            _ => None,
        }
    }
}
