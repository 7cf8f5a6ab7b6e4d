//! The configuration that an image takes along: the settings a container starts with.

use std::{collections::HashMap, fmt, sync::Arc};

use probity_finding::{Span, TextSlice};

use crate::facts::{ports, text::Text};

/// What the instructions of a stage, and of the stages it is based on, set.
#[derive(Clone, Debug, Default)]
pub struct Runtime {
    entries: Vec<RuntimeEntry>,
}

/// One setting and the instruction that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeEntry {
    /// Shared with the contract of the stage.
    pub entry: Arc<Entry>,
    pub instruction: usize,
    /// The word, pair or command that says it.
    pub span: Span,
}

/// One setting: `key` tells the labels, variables, ports and volumes apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub setting: Setting,
    pub key: String,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Setting {
    Cmd,
    Entrypoint,
    User,
    Expose,
    Workdir,
    Env,
    Label,
    Healthcheck,
    Shell,
    Stopsignal,
    Volume,
    /// MAINTAINER, which a container never sees.
    Author,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The key says it all.
    Present,
    Text(Text),
    Command(CommandLine),
    Healthcheck(Healthcheck),
}

/// A command as it will be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    Exec(Vec<String>),
    Shell { shell: Arc<[String]>, text: TextSlice },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Healthcheck {
    /// None for `HEALTHCHECK NONE`. In shell form the shell is chosen when the container runs.
    pub command: Option<CommandLine>,
    /// The flags, by name.
    pub options: Vec<(String, String)>,
}

impl Runtime {
    /// Ordered by setting; variables as they were first set, all else by key.
    #[must_use]
    pub fn entries(&self) -> &[RuntimeEntry] {
        &self.entries
    }

    /// The entries of one setting.
    #[must_use]
    pub fn get(&self, setting: Setting) -> &[RuntimeEntry] {
        let start = self.entries.partition_point(|entry| entry.entry.setting < setting);
        let end = self.entries.partition_point(|entry| entry.entry.setting <= setting);
        self.entries.get(start..end).unwrap_or_default()
    }

    /// The settings that differ, each once. A variable's place among the others does not count, since
    /// a container does not see it.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Setting> {
        fn sorted(runtime: &Runtime, setting: Setting) -> Vec<&Entry> {
            let mut entries: Vec<&Entry> =
                runtime.get(setting).iter().map(|entry| &*entry.entry).collect();
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            entries
        }
        let changed = |setting: &Setting| sorted(self, *setting) != sorted(other, *setting);
        Setting::ALL.into_iter().filter(changed).collect()
    }
}

impl Setting {
    pub const ALL: [Self; 12] = [
        Self::Cmd,
        Self::Entrypoint,
        Self::User,
        Self::Expose,
        Self::Workdir,
        Self::Env,
        Self::Label,
        Self::Healthcheck,
        Self::Shell,
        Self::Stopsignal,
        Self::Volume,
        Self::Author,
    ];

    /// The instruction that makes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cmd => "CMD",
            Self::Entrypoint => "ENTRYPOINT",
            Self::User => "USER",
            Self::Expose => "EXPOSE",
            Self::Workdir => "WORKDIR",
            Self::Env => "ENV",
            Self::Label => "LABEL",
            Self::Healthcheck => "HEALTHCHECK",
            Self::Shell => "SHELL",
            Self::Stopsignal => "STOPSIGNAL",
            Self::Volume => "VOLUME",
            Self::Author => "MAINTAINER",
        }
    }
}

/// Collects settings; of two with the same key the later one holds, at the earlier one's place.
#[derive(Debug, Default)]
pub(super) struct Settings {
    entries: Vec<Option<RuntimeEntry>>,
    places: HashMap<(Setting, String), usize>,
}

impl Settings {
    pub(super) fn put(&mut self, entry: RuntimeEntry) {
        let key = (entry.entry.setting, entry.entry.key.clone());
        let place = *self.places.entry(key).or_insert(self.entries.len());
        match self.entries.get_mut(place) {
            Some(slot) => *slot = Some(entry),
            None => self.entries.push(Some(entry)),
        }
    }

    /// Adds what a stage sets to what it inherits. An ENTRYPOINT drops the CMD of the base, unless
    /// the stage has one of its own.
    pub(super) fn put_stage(&mut self, stage: &Runtime) {
        let sets = |setting| !stage.get(setting).is_empty();
        if sets(Setting::Entrypoint) && !sets(Setting::Cmd) {
            let place = self.places.get(&(Setting::Cmd, String::new()));
            if let Some(slot) = place.and_then(|&place| self.entries.get_mut(place)) {
                *slot = None;
            }
        }
        stage.entries.iter().cloned().for_each(|entry| self.put(entry));
    }

    pub(super) fn finish(self) -> Runtime {
        let mut entries: Vec<RuntimeEntry> = self.entries.into_iter().flatten().collect();
        entries.sort_by(|a, b| {
            let (a, b) = (&a.entry, &b.entry);
            a.setting.cmp(&b.setting).then_with(|| match a.setting {
                Setting::Env => std::cmp::Ordering::Equal,
                Setting::Expose => ports::order(&a.key, &b.key),
                _ => a.key.cmp(&b.key),
            })
        });
        Runtime { entries }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.setting.name())?;
        match (&self.value, self.key.as_str()) {
            (_, key) if matches!(self.setting, Setting::Expose | Setting::Volume) => {
                write!(formatter, " {key}")
            }
            (value, "") => write!(formatter, " {value}"),
            (value, key) => write!(formatter, " {key}={value}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => Ok(()),
            Self::Text(text) => write!(formatter, "{text}"),
            Self::Command(command) => write!(formatter, "{command}"),
            Self::Healthcheck(check) => {
                for (name, value) in &check.options {
                    write!(formatter, "--{name}={value} ")?;
                }
                match &check.command {
                    Some(command) => write!(formatter, "CMD {command}"),
                    None => formatter.write_str("NONE"),
                }
            }
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec(words) => write!(formatter, "{words:?}"),
            Self::Shell { text, .. } => formatter.write_str(text),
        }
    }
}
