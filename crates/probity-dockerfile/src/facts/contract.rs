//! The image contract: everything that decides what a build makes, and nothing else.
//!
//! Two texts with equal contracts build the same images. Comments, keyword case, blank lines and the
//! layout of continuations are not in it; every word that is executed, copied or recorded is. Where
//! one cannot tell whether a difference matters, it counts.

use std::{fmt, sync::Arc};

use probity_finding::TextSlice;

use crate::{
    Keyword,
    facts::{
        runtime::{CommandLine, Entry},
        stages::Base,
        text::Text,
    },
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageContract {
    /// The frontend that the file asks for.
    pub syntax: Option<String>,
    /// The `ARG`s before the first FROM.
    pub arguments: Vec<Step>,
    pub stages: Vec<StageContract>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageContract {
    /// In lower case, as BuildKit compares it.
    pub name: Option<String>,
    pub base: Base,
    /// The word behind FROM, where it is not just the name of a stage.
    pub image: Option<Text>,
    pub platform: Option<Text>,
    /// What the stage itself sets; the rest comes from its base.
    pub config: Vec<Arc<Entry>>,
    pub steps: Vec<Step>,
}

/// Something that changes files, or what later steps see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Arg {
        name: TextSlice,
        default: Option<Box<Text>>,
    },
    Env {
        key: Box<Text>,
        value: Box<Text>,
    },
    User(Text),
    Workdir(Text),
    Run {
        flags: Box<[StepFlag]>,
        command: CommandLine,
        heredocs: Box<[StepHeredoc]>,
    },
    Transfer(Box<Transfer>),
    /// The trigger, with the text of its heredocs.
    Onbuild {
        trigger: String,
        heredocs: Vec<StepHeredoc>,
    },
    /// An instruction that BuildKit does not know.
    Unknown(String),
}

/// COPY or ADD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub keyword: Keyword,
    pub flags: Vec<StepFlag>,
    pub sources: Vec<Text>,
    pub destination: Option<Text>,
    pub heredocs: Vec<StepHeredoc>,
}

/// A flag; in its value stages are `stage:N`, however the text refers to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFlag {
    pub name: TextSlice,
    pub value: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepHeredoc {
    pub name: String,
    pub content: Text,
}

impl ImageContract {
    /// What is different, in words; empty where the contracts are equal.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.syntax != other.syntax {
            found.push(changed("the syntax directive", &self.syntax, &other.syntax));
        }
        step_difference("before the first FROM", &self.arguments, &other.arguments, &mut found);
        if self.stages.len() != other.stages.len() {
            found.push(format!(
                "the number of stages was {} and is {}",
                self.stages.len(),
                other.stages.len()
            ));
        }
        for (index, (before, after)) in self.stages.iter().zip(&other.stages).enumerate() {
            before.differences(after, &before.label(index), &mut found);
        }
        found
    }
}

impl StageContract {
    fn label(&self, index: usize) -> String {
        match &self.name {
            Some(name) => format!("in stage {index} ({name})"),
            None => format!("in stage {index}"),
        }
    }

    fn differences(&self, other: &Self, label: &str, found: &mut Vec<String>) {
        if self.name != other.name {
            found.push(changed(&format!("{label} the name"), &self.name, &other.name));
        }
        if (&self.base, &self.image) != (&other.base, &other.image) {
            let text = |stage: &Self| match (&stage.base, &stage.image) {
                (_, Some(image)) => Some(image.pattern().to_owned()),
                (Base::Stage(base), None) => Some(format!("stage {base}")),
                _ => None,
            };
            found.push(changed(&format!("{label} the base"), &text(self), &text(other)));
        }
        if self.platform != other.platform {
            found.push(changed(&format!("{label} the platform"), &self.platform, &other.platform));
        }
        config_differences(label, &self.config, &other.config, found);
        step_difference(label, &self.steps, &other.steps, found);
    }
}

/// Both lists are ordered by setting and, but for variables, by key.
fn config_differences(
    label: &str,
    before: &[Arc<Entry>],
    after: &[Arc<Entry>],
    found: &mut Vec<String>,
) {
    let known = |entry: &Entry| (entry.setting, entry.key.clone());
    let old: std::collections::HashMap<_, _> =
        before.iter().map(|entry| (known(entry), entry)).collect();
    let new: std::collections::HashMap<_, _> =
        after.iter().map(|entry| (known(entry), entry)).collect();
    let count = found.len();
    for entry in before {
        match new.get(&known(entry)) {
            None => found.push(format!("{label} `{entry}` is gone")),
            Some(&now) if now != entry => {
                found.push(format!("{label} `{entry}` became `{now}`"));
            }
            Some(_) => {}
        }
    }
    let added = after.iter().filter(|entry| !old.contains_key(&known(entry)));
    found.extend(added.map(|entry| format!("{label} `{entry}` is new")));
    if count == found.len() && before != after {
        found.push(format!("{label} the variables are in another order"));
    }
}

/// Names the first step that differs, unless the settings have named it; what follows it is often the
/// same, one place further.
fn step_difference(label: &str, before: &[Step], after: &[Step], found: &mut Vec<String>) {
    let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
    let message = match (before.get(same), after.get(same)) {
        (None, None) => return,
        (Some(gone), None) => format!("{label} `{gone}` is gone"),
        (None, Some(new)) => format!("{label} `{new}` is new"),
        (Some(old), Some(new)) => format!("{label} `{old}` became `{new}`"),
    };
    let here = found.iter().rev().take_while(|message| message.starts_with(label));
    if !here.into_iter().any(|known| *known == message) {
        found.push(message);
    }
}

fn changed(
    what: &str,
    before: &Option<impl fmt::Display>,
    after: &Option<impl fmt::Display>,
) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("{what} was `{before}` and is `{after}`"),
        (Some(before), None) => format!("{what} `{before}` is gone"),
        (None, Some(after)) => format!("{what} `{after}` is new"),
        (None, None) => format!("{what} changed"),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arg { name, default: None } => write!(formatter, "ARG {name}"),
            Self::Arg { name, default: Some(value) } => {
                write!(formatter, "ARG {name}={}", value.pattern())
            }
            Self::Env { key, value } => {
                write!(formatter, "ENV {}={}", key.pattern(), value.pattern())
            }
            Self::User(user) => write!(formatter, "USER {}", user.pattern()),
            Self::Workdir(path) => write!(formatter, "WORKDIR {}", path.pattern()),
            Self::Run { flags, command, heredocs } => {
                formatter.write_str("RUN")?;
                write_flags(formatter, flags)?;
                write!(formatter, " {command}")?;
                write_heredocs(formatter, heredocs)
            }
            Self::Transfer(transfer) => write!(formatter, "{transfer}"),
            Self::Onbuild { trigger, heredocs } => {
                write!(formatter, "ONBUILD {trigger}")?;
                write_heredocs(formatter, heredocs)
            }
            Self::Unknown(text) => formatter.write_str(text),
        }
    }
}

impl fmt::Display for Transfer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.keyword)?;
        write_flags(formatter, &self.flags)?;
        for path in self.sources.iter().chain(&self.destination) {
            write!(formatter, " {}", path.pattern())?;
        }
        write_heredocs(formatter, &self.heredocs)
    }
}

fn write_flags(formatter: &mut fmt::Formatter<'_>, flags: &[StepFlag]) -> fmt::Result {
    for flag in flags {
        write!(formatter, " --{}", flag.name)?;
        if let Some(value) = &flag.value {
            write!(formatter, "={}", value.pattern())?;
        }
    }
    Ok(())
}

fn write_heredocs(formatter: &mut fmt::Formatter<'_>, heredocs: &[StepHeredoc]) -> fmt::Result {
    for heredoc in heredocs {
        write!(formatter, "\n{}{}", heredoc.content.pattern(), heredoc.name)?;
    }
    Ok(())
}
