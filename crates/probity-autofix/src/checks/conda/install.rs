//! Calls of conda and pip, word by word.

use crate::checks::commands::{last_part, words};
use probity_shell::Command;

/// Options of conda that change neither what is installed nor where.
const CONDA_OPTIONS: &[&str] = &[
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "-yq",
    "-qy",
    "--override-channels",
    "--freeze-installed",
    "--strict-channel-priority",
    "--no-channel-priority",
    "--satisfied-skip-solve",
    "-S",
    "--no-pin",
];

/// Options of pip and uv that do the same.
const PIP_OPTIONS: &[&str] = &[
    "--no-cache-dir",
    "--no-cache",
    "-q",
    "--quiet",
    "--no-input",
    "--disable-pip-version-check",
    "--root-user-action=ignore",
    "--compile-bytecode",
    "--compile",
    "--system",
];

/// One `conda install`.
#[derive(Debug)]
pub(super) struct Conda {
    /// As it is called, with its directory.
    pub(super) program: String,
    pub(super) channels: Vec<String>,
    /// Options that decide more than how much is printed.
    others: Vec<String>,
    pub(super) packages: Vec<String>,
}

/// One `pip install` or `uv pip install`.
#[derive(Debug)]
pub(super) struct Pip {
    /// Where pip or Python is called from; empty for what PATH finds.
    directory: String,
    pub(super) is_uv: bool,
    pub(super) packages: Vec<String>,
    /// The index in the place of PyPI.
    pub(super) index: Option<String>,
    /// An index beside PyPI.
    pub(super) extra_index: Option<String>,
    /// The command in the text, by its first byte.
    pub(super) start: usize,
}

impl Conda {
    pub(super) fn of(command: &Command) -> Option<Self> {
        let words = plain_words(command)?;
        let (program, words) = words.split_first()?;
        if !matches!(last_part(program), "conda" | "mamba") {
            return None;
        }
        let mut conda = Self {
            program: program.clone(),
            channels: Vec::new(),
            others: Vec::new(),
            packages: Vec::new(),
        };
        let mut words = words.iter().map(String::as_str);
        let mut verb = None;
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').unwrap_or((word, ""));
            match flag {
                "-c" | "--channel" if value.is_empty() => {
                    conda.channels.push(words.next()?.to_owned())
                }
                "--channel" => conda.channels.push(value.to_owned()),
                "-n" | "--name" => {
                    let name = if value.is_empty() { words.next()? } else { value };
                    if name != "base" {
                        conda.others.push(format!("the environment {name}"));
                    }
                }
                _ if CONDA_OPTIONS.contains(&word) => {}
                _ if word.starts_with('-') => conda.others.push(word.to_owned()),
                _ if verb.is_none() => verb = Some(word),
                _ => conda.packages.push(word.to_owned()),
            }
        }
        (verb == Some("install") && !conda.packages.is_empty()).then_some(conda)
    }

    /// `conda clean`, which is not missed.
    pub(super) fn is_cleaning(command: &Command) -> bool {
        let words = plain_words(command).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        matches!(words.as_slice(), [program, "clean", flags @ ..]
            if matches!(last_part(program), "conda" | "mamba")
                && flags.iter().all(|flag| flag.starts_with('-')))
    }

    pub(super) fn is_same_call(&self, other: &Self) -> bool {
        (&self.program, &self.channels, &self.others)
            == (&other.program, &other.channels, &other.others)
    }

    /// Why pip cannot install what this does.
    pub(super) fn is_apart(&self) -> Option<String> {
        if let Some(other) = self.others.first() {
            return Some(format!("pip knows nothing of {other}"));
        }
        let is_private = |channel: &&String| !super::CHANNELS.contains(&channel.as_str());
        let channel = self.channels.iter().find(is_private)?;
        Some(format!("PyPI may not have what the channel {channel} has"))
    }

    fn directory(&self) -> &str {
        self.program.rsplit_once('/').map_or("", |(directory, _)| directory)
    }
}

impl Pip {
    pub(super) fn of(command: &Command) -> Option<Self> {
        let all = plain_words(command)?;
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let (program, is_uv, rest) = match all.as_slice() {
            ["uv", "pip", "install", rest @ ..] => ("uv", true, rest),
            [program, "-m", "pip", "install", rest @ ..]
                if matches!(last_part(program), "python" | "python3") =>
            {
                (*program, false, rest)
            }
            [program, "install", rest @ ..] if matches!(last_part(program), "pip" | "pip3") => {
                (*program, false, rest)
            }
            _ => return None,
        };
        let directory = program.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
        let start = command.span.start;
        let (mut index, mut extra_index) = (None, None);
        let mut pip =
            Self { directory, is_uv, packages: Vec::new(), index: None, extra_index: None, start };
        let mut is_system = false;
        let mut words = rest.iter().copied();
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').unwrap_or((word, ""));
            match flag {
                "--index-url" | "-i" | "--default-index" | "--extra-index-url" | "--index" => {
                    let value = if value.is_empty() { words.next()? } else { value };
                    let value = value.trim_end_matches('/').to_owned();
                    let is_whole = matches!(flag, "--index-url" | "-i" | "--default-index");
                    let place = if is_whole { &mut index } else { &mut extra_index };
                    if place.replace(value).is_some() {
                        return None;
                    }
                }
                "--torch-backend" if is_uv => {
                    let value = if value.is_empty() { words.next()? } else { value };
                    extra_index = Some(format!("{}{value}", super::WHEELS));
                }
                _ if PIP_OPTIONS.contains(&word) => is_system |= word == "--system",
                _ if word.starts_with('-') || word.contains(['/', '@', '[', ' ', ';']) => {
                    return None;
                }
                _ => pip.packages.push(word.to_owned()),
            }
        }
        (pip.index, pip.extra_index) = (index, extra_index);
        // Without a virtual environment uv refuses to install anywhere else.
        (is_system == is_uv && !pip.packages.is_empty()).then_some(pip)
    }

    /// Whether it installs for the Python that conda installed for.
    pub(super) fn is_of(&self, conda: &Conda) -> bool {
        self.directory == conda.directory() && (!self.is_uv || conda.directory().is_empty())
    }

    pub(super) fn is_for_uv(&self) -> bool {
        self.packages.iter().all(|package| package == "uv") && !self.is_uv
    }
}

/// The words of a command that neither assigns nor redirects.
fn plain_words(command: &Command) -> Option<Vec<String>> {
    let is_plain = command.assignments().is_empty()
        && command.redirections().is_empty()
        && command.effective().wrappers.is_empty();
    if is_plain { words(command) } else { None }
}

/// The name and the version of a requirement of pip.
pub(crate) fn pip_parts(requirement: &str) -> (&str, &str) {
    let end = requirement.find(['=', '<', '>', '!', '~']).unwrap_or(requirement.len());
    requirement.split_at_checked(end).unwrap_or((requirement, ""))
}

/// Whether pip installs only what conda would: `=1.26` means any 1.26.
pub(crate) fn is_same_version(conda: &str, pip: &str) -> bool {
    let exact = conda.strip_prefix("==");
    let prefix = conda.strip_prefix('=').filter(|_| exact.is_none());
    if let Some(version) = exact.or(prefix) {
        // Behind the version, conda may name a build.
        let version = version.split('=').next().unwrap_or(version).trim_end_matches(".*");
        let is_short = version.split('.').count() == 2;
        return pip == format!("=={version}")
            || (prefix.is_some()
                && pip.strip_prefix("==").is_some_and(|other| {
                    other.strip_prefix(version).is_some_and(|rest| rest.starts_with('.'))
                }))
            || (prefix.is_some() && is_short && pip == format!("~={version}.0"));
    }
    conda == pip
}
