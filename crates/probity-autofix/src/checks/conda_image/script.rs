//! The commands of a RUN, as they are once conda's wrappers are gone.

use probity_dockerfile::{Action, Flag, Instruction, PackageKind};
use probity_lint::CONDA_PROGRAMS;

use super::plan::UV_IMAGE;
use crate::checks::{
    View,
    commands::{self, Segment, last_part, name_of, segments, words},
    steps::written,
};

/// One pipeline.
pub(super) struct Part {
    pub(super) text: String,
    /// The words of its only command, if all are constant and nothing is redirected.
    pub(super) words: Vec<String>,
    pub(super) programs: Vec<String>,
    pub(super) package_call: Option<Packages>,
}

/// A call of the package manager of the distribution.
pub(super) struct Packages {
    pub(super) action: Action,
    pub(super) flags: Vec<String>,
    pub(super) names: Vec<String>,
}

pub(super) fn parts(view: &View<'_>, instruction: &Instruction) -> Vec<Part> {
    let script = if instruction.heredocs().is_empty() {
        let text = with_places(view, instruction, &without_mounts(view, instruction));
        format!("RUN {}", without_activation(&text))
    } else {
        instruction.span.slice(view.text).unwrap_or_default().to_owned()
    };
    parsed(&script).unwrap_or_else(|| {
        let text = written(view, instruction);
        let text = text.strip_prefix("RUN ").unwrap_or(&text).to_owned();
        vec![Part { text, words: Vec::new(), programs: vec![String::new()], package_call: None }]
    })
}

/// The script without the mounts of caches and of uv's image.
fn without_mounts(view: &View<'_>, instruction: &Instruction) -> String {
    let is_known = |flag: &&Flag| {
        let value = flag.value.as_ref().map(|value| value.text.as_str()).unwrap_or_default();
        commands::is_cache(flag) || value.contains(&format!("from={UV_IMAGE}"))
    };
    instruction
        .flags
        .iter()
        .filter(is_known)
        .fold(instruction.body_text().to_owned(), |text, flag| {
            text.replacen(flag.span.slice(view.text).unwrap_or_default(), "", 1)
        })
}

/// The script with the places that variables of the file name.
fn with_places(view: &View<'_>, instruction: &Instruction, script: &str) -> String {
    let mut all = view.file.instructions.iter();
    let Some(index) = all.position(|other| other.span == instruction.span) else {
        return script.to_owned();
    };
    let variables = view.facts.scope(index).variables();
    variables.iter().fold(script.to_owned(), |text, variable| match &variable.value {
        Some(value) if value.starts_with('/') => {
            let name = &variable.name;
            let text = text.replace(&format!("${{{name}}}"), value);
            let (quoted, plain) = (format!("\"${name}\""), format!("${name} "));
            text.replace(&quoted, value).replace(&plain, &format!("{value} "))
        }
        _ => text,
    })
}

/// Reads the script of a RUN by itself: whatever shell conda put before it does not matter.
fn parsed(script: &str) -> Option<Vec<Part>> {
    let text = format!("FROM debian\n{script}\n");
    let view = View::of(&text);
    let parts = segments(&view, 1)?;
    Some(parts.iter().flat_map(part).collect())
}

fn part(segment: &Segment) -> Vec<Part> {
    if let Some(inner) = without_run(&segment.text)
        && let Some(parts) = parsed(&format!("RUN {inner}"))
    {
        return parts;
    }
    let is_plain = |command: &probity_shell::Command| {
        command.redirections().is_empty()
            && command.assignments().iter().all(|assignment| assignment.name == "DEBIAN_FRONTEND")
    };
    let constant = match segment.commands.as_slice() {
        [command] if is_plain(command) => words(command).unwrap_or_default(),
        _ => Vec::new(),
    };
    let programs = segment.commands.iter().map(|command| match name_of(command) {
        Some(name) => name.into_owned(),
        None => String::new(),
    });
    let call = segment.calls.iter().find(|call| !commands::is_language_manager(call.manager));
    let package_call = call.filter(|_| !constant.is_empty()).map(|call| Packages {
        action: call.action,
        flags: call.flags.iter().map(|flag| flag.name.clone()).collect(),
        names: call
            .packages
            .iter()
            .chain(&call.files)
            .map(|package| match &package.kind {
                PackageKind::Named { name, .. } => name.clone(),
                _ => package.text.clone(),
            })
            .collect(),
    });
    let words = called(&constant);
    let text = if words.is_empty() { segment.text.clone() } else { words.join(" ") };
    vec![Part { text, words, programs: programs.collect(), package_call }]
}

/// Conda's directories and the two names of Python do not matter: PATH finds the one that is there.
pub(super) fn called(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    if let Some(program) = words.first_mut() {
        if program.contains("conda")
            || program.contains("mamba")
            || program.starts_with("/usr/local/bin/")
        {
            *program = last_part(program).to_owned();
        }
        match program.as_str() {
            "python3" => *program = "python".to_owned(),
            "pip3" => *program = "pip".to_owned(),
            _ => {}
        }
    }
    words
}

/// What `conda run -n NAME` runs.
pub(super) fn without_run(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (program, rest) = words.split_first()?;
    let (verb, rest) = rest.split_first()?;
    if !CONDA_PROGRAMS.contains(&last_part(program)) || *verb != "run" {
        return None;
    }
    let mut rest = rest.iter();
    while let Some(word) = rest.as_slice().first() {
        match *word {
            "-n" | "--name" | "-p" | "--prefix" => drop((rest.next(), rest.next())),
            "--" => drop(rest.next()),
            _ if word.starts_with('-') => drop(rest.next()),
            _ => break,
        }
    }
    Some(rest.as_slice().join(" "))
}

/// A script without the commands at its beginning that activate an environment of conda.
pub(super) fn without_activation(script: &str) -> &str {
    let mut rest = script.trim();
    while let Some((first, next)) = rest.split_once("&&") {
        let words: Vec<&str> = first.split_whitespace().collect();
        let is_activation = match words.as_slice() {
            ["conda" | "mamba" | "micromamba", "activate", ..]
            | ["source" | ".", "activate", ..] => true,
            ["source" | ".", file] => file.contains("conda") || file.ends_with("/.bashrc"),
            ["eval", ..] => first.contains("conda") || first.contains("mamba"),
            _ => false,
        };
        if !is_activation {
            break;
        }
        rest = next.trim();
    }
    rest
}
