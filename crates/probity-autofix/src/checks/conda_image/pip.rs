//! Installs by pip and uv: what they install, and for which Python.

use probity_dockerfile::{Instruction, Keyword, Setting, Value};

use crate::checks::View;

#[derive(Debug)]
pub(super) struct Pip {
    /// As they are asked for; `-r FILE` is one.
    pub(super) requirements: Vec<String>,
    pub(super) place: PipTarget,
    /// The index beside or in the place of PyPI, and whether it is in its place.
    pub(super) index: Option<(String, bool)>,
    /// Whether root runs it, and uv is there if it is called.
    pub(super) can_run: bool,
}

/// Which Python finds what is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PipTarget {
    /// That of the image.
    Image,
    /// A virtual environment.
    Environment(String),
    /// None before it is copied to `/usr/local`.
    Prefix(String),
}

/// Where `pip install --user` of root puts packages.
pub(super) const ROOTS: &str = "/root/.local";

/// Options that change neither what is installed nor where.
const OPTIONS: &[&str] = &[
    "--compile",
    "--compile-bytecode",
    "--disable-pip-version-check",
    "--no-cache",
    "--no-cache-dir",
    "--no-compile",
    "--no-input",
    "--only-binary=:all:",
    "--prefer-binary",
    "--quiet",
    "--root-user-action=ignore",
    "--upgrade",
    "-U",
    "-q",
];

/// What the instructions before one have set.
pub(super) struct Surroundings {
    pub(super) has_uv: bool,
    /// Whether the original's image starts as a user of its own.
    pub(super) has_own_user: bool,
    /// The environment on PATH, and the instruction that puts it there.
    path: Option<(String, usize)>,
    /// The instruction at hand.
    at: usize,
    workdir: String,
    is_root: bool,
    uses_image: bool,
    /// Lists of requirements that the file itself has, by their paths.
    lists: Vec<(String, Vec<String>)>,
}

impl Surroundings {
    pub(super) fn of(view: &View<'_>, indices: &[usize], has_own_user: bool) -> Self {
        let last = indices.last().and_then(|index| view.facts.stage_of(*index));
        let runtime = last.map(|stage| view.facts.runtime(stage.index)).unwrap_or_default();
        let is_path = |index: &&usize| {
            let instruction = view.file.instructions.get(**index);
            instruction.is_some_and(|instruction| {
                instruction.keyword == Keyword::Env && instruction.body_text().contains("PATH")
            })
        };
        let variables = runtime.get(Setting::Env);
        let path = environments(view, last.map_or(0, |stage| stage.index)).into_iter().next();
        Self {
            has_uv: false,
            has_own_user,
            path: path.zip(indices.iter().find(is_path).copied()),
            at: 0,
            workdir: "/".to_owned(),
            is_root: true,
            uses_image: variables.iter().any(|variable| variable.entry.key == "UV_SYSTEM_PYTHON"),
            lists: Vec::new(),
        }
    }

    pub(super) fn pass(&mut self, index: usize, instruction: &Instruction) {
        self.at = index;
        match instruction.keyword {
            Keyword::Workdir => {
                if let Some(path) = self.absolute(instruction.body_text()) {
                    self.workdir = path;
                }
            }
            Keyword::User => {
                let user = instruction.body_text().split(':').next().unwrap_or_default();
                self.is_root = matches!(user, "root" | "0");
            }
            _ => {}
        }
    }

    /// Keeps a file that a heredoc makes. Only plain requirements count; any other line fails the check.
    pub(super) fn keep_list(&mut self, target: &str, content: &str) -> bool {
        let lines = content
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines: Vec<String> = lines.map(normal).collect();
        let is_plain =
            lines.iter().all(|line| !line.starts_with('-') && !line.contains(['/', '@', ';']));
        if !is_plain {
            return false;
        }
        let Some(path) = self.absolute(target) else { return false };
        self.lists.push((path, lines));
        true
    }

    pub(super) fn absolute(&self, path: &str) -> Option<String> {
        if path.contains(['$', '*']) {
            return None;
        }
        let path = path.trim_end_matches('/');
        Some(if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{}", self.workdir.trim_end_matches('/'), path.trim_start_matches("./"))
        })
    }

    fn active(&self) -> PipTarget {
        match &self.path {
            Some((directory, index)) if *index < self.at => {
                PipTarget::Environment(directory.clone())
            }
            _ => PipTarget::Image,
        }
    }
}

/// The directories whose `bin` a stage puts before the others on PATH.
pub(super) fn environments(view: &View<'_>, stage: usize) -> Vec<String> {
    let runtime = view.facts.runtime(stage);
    let path = runtime.get(Setting::Env).iter().find(|setting| setting.entry.key == "PATH");
    let Some(Value::Text(text)) = path.map(|path| &path.entry.value) else { return Vec::new() };
    let parts = text.pattern().split(':').take_while(|part| !part.starts_with('$'));
    parts.filter_map(|part| part.strip_suffix("/bin")).map(str::to_owned).collect()
}

pub(super) fn read_pip(words: &[&str], around: &Surroundings) -> Option<Pip> {
    let (is_uv, directory, rest) = match words {
        ["uv", "pip", "install", rest @ ..] => (true, "", rest),
        [python, "-m", "pip", "install", rest @ ..] => (false, program(python, "python")?, rest),
        [pip, "install", rest @ ..] => (false, program(pip, "pip")?, rest),
        _ => return None,
    };
    let mut place = match directory {
        "" => around.active(),
        directory => PipTarget::Environment(directory.strip_suffix("/bin")?.to_owned()),
    };
    let mut is_placed = !is_uv || place != PipTarget::Image || around.uses_image;
    let (mut requirements, mut index) = (Vec::new(), None);
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        let (flag, value) = word.split_once('=').map_or((word, None), |(a, b)| (a, Some(b)));
        match flag {
            "-r" | "--requirement" => {
                let file = value.or_else(|| words.next())?;
                match around
                    .lists
                    .iter()
                    .find(|(path, _)| around.absolute(file).as_ref() == Some(path))
                {
                    Some((_, lines)) => requirements.extend(lines.iter().cloned()),
                    None => requirements.push(format!("-r {}", file.trim_start_matches("./"))),
                }
            }
            "-e" | "--editable" => requirements.push(format!("-e {}", words.next()?)),
            "--index-url" | "-i" | "--default-index" | "--extra-index-url" | "--index" => {
                let address = value.or_else(|| words.next())?.trim_end_matches('/').to_owned();
                let is_whole = matches!(flag, "--index-url" | "-i" | "--default-index");
                if index.replace((address, is_whole)).is_some() {
                    return None;
                }
            }
            "--prefix" => place = PipTarget::Prefix(value.or_else(|| words.next())?.to_owned()),
            "--python" | "-p" if is_uv => {
                let python = value.or_else(|| words.next())?;
                let directory = python.strip_suffix("/bin/python").unwrap_or(python);
                place = PipTarget::Environment(around.absolute(directory)?);
                is_placed = true;
            }
            "--user" if !is_uv => place = PipTarget::Environment(ROOTS.to_owned()),
            "--system" if is_uv => (place, is_placed) = (PipTarget::Image, true),
            "--only-binary" if value.is_none() => drop(words.next()),
            // It must be the same in both files, as a requirement must.
            "--no-deps" => requirements.push(word.to_owned()),
            _ if OPTIONS.contains(&word) => {}
            _ if word.starts_with('-') => return None,
            _ => requirements.push(normal(word)),
        }
    }
    let can_run = around.is_root && is_placed && (!is_uv || around.has_uv);
    Some(Pip { requirements, place, index, can_run })
}

/// A requirement with its name as PyPI compares names.
fn normal(requirement: &str) -> String {
    let requirement = requirement.replace(' ', "");
    if requirement.contains(['/', '@']) || requirement.starts_with('.') {
        return requirement;
    }
    let end = requirement.find(['=', '<', '>', '!', '~', '[']).unwrap_or(requirement.len());
    let (name, version) = requirement.split_at_checked(end).unwrap_or((&requirement, ""));
    format!("{}{version}", name.to_lowercase().replace(['_', '.'], "-"))
}

/// The directory of a program by this name.
fn program<'w>(word: &'w str, name: &str) -> Option<&'w str> {
    let (directory, last) = word.rsplit_once('/').unwrap_or(("", word));
    (last == name || last.strip_suffix('3') == Some(name)).then_some(directory)
}
