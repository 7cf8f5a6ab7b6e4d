//! `image diff`: what a change of a Dockerfile does to its image, for people.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use probity_check::{ProofReport, StagesReport, discover};
use probity_image::{
    BuildOptions, Difference, Engine, Experiment, Level, Obstacle, Options, StartOptions, Subject,
    Variant, Verdict, Workbench,
};
use probity_report::{
    Paint, Screen, padded,
    proof::{proof_json, proof_of},
    stages::{mermaid, tree},
};
use probity_scope::{MOST_BYTES, read_text};
use probity_text::visible;

use super::{print_json, stop::Stop};
use crate::{
    config::word::words,
    exit::Exit,
    failure::Failure,
    recipe::recipe,
    screen::{self, count::Count},
    streams,
};

pub(crate) struct DiffOptions {
    pub(crate) original: String,
    pub(crate) new: String,
    pub(crate) context: Option<PathBuf>,
    pub(crate) format: DiffFormat,
    pub(crate) run: bool,
    pub(crate) watched: Duration,
    pub(crate) pull: bool,
    pub(crate) network: bool,
    pub(crate) timeout: Duration,
    pub(crate) disk_limit: u64,
    pub(crate) variant: Variant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffFormat {
    Text,
    Json,
    Markdown,
}

words! {
    DiffFormat { Text = "text", Json = "json", Markdown = "markdown" }
}

pub(crate) fn diff(options: &DiffOptions) -> anyhow::Result<Exit> {
    let subject = |name: &str| subject(name, &options.variant);
    let (original, new) = (subject(&options.original)?, subject(&options.new)?);
    let Some(engine) = Engine::find() else {
        let way_out =
            "start docker, or install podman or buildah; `probity doctor` shows which engines work";
        return Err(Failure::new(Obstacle::NoEngine.to_string(), way_out).into());
    };
    let stop = Stop::listen();
    let interrupt = || stop.cancel.is_cancelled();
    let bench = Workbench::new(engine)?;
    let count = Count::steps();
    count.say(&format!("building {}", options.original));
    let mut experiment =
        Experiment::prepare(bench, &original, experiment_options(options)?, &interrupt)?;
    count.say(&format!("building {} and comparing both images", options.new));
    let verdict = experiment.try_proposal(&new, &[], &interrupt);
    experiment.finish()?;
    drop(count);
    let verdict = verdict?;
    if let (Some(obstacle), Level::Static) = (&verdict.obstacle, verdict.level) {
        return Err(Failure::new(in_flags(obstacle), way_out(obstacle)).into());
    }
    let stages = match (&original, &new) {
        (Subject::Dockerfile(before), Subject::Dockerfile(after)) => {
            StagesReport::of(&before.text, &after.text, &|text: &str| {
                visible::line(text).into_owned()
            })
        }
        _ => None,
    };
    match options.format {
        DiffFormat::Json => {
            let report = ProofReport { stages, ..proof_of(&verdict) };
            print_json(&proof_json(&report))?;
        }
        DiffFormat::Text => {
            let tree = stages.map(|stages| tree(&stages, "")).unwrap_or_default();
            let screen = screen::stdout();
            let text = screen.folded(&text(options, &verdict, screen));
            write!(streams::stdout().lock(), "{text}{tree}")?;
        }
        DiffFormat::Markdown => {
            let graph = stages.map(|stages| format!("\n{}", mermaid(&stages))).unwrap_or_default();
            write!(streams::stdout().lock(), "{}{graph}", markdown(options, &verdict))?;
        }
    }
    Ok(if verdict.is_harmless() { Exit::Clean } else { Exit::Findings })
}

/// A name that is a file is a Dockerfile, any other is an image.
fn subject(name: &str, variant: &Variant) -> anyhow::Result<Subject> {
    if !Path::new(name).is_file() {
        if discover::is_dockerfile_name(Path::new(name)) {
            let way_out = "pass a Dockerfile that exists, or the name of an image";
            return Err(Failure::new(format!("`{name}` does not exist"), way_out).into());
        }
        return Ok(Subject::Image(name.to_owned()));
    }
    let text =
        read_text(Path::new(name), MOST_BYTES).with_context(|| format!("cannot read {name}"))?;
    Ok(Subject::Dockerfile(recipe(&text, variant)))
}

fn experiment_options(options: &DiffOptions) -> anyhow::Result<Options> {
    let beside = || match Path::new(&options.original).parent() {
        Some(above) if !above.as_os_str().is_empty() => above.to_owned(),
        _ => PathBuf::from("."),
    };
    let context = options.context.clone().unwrap_or_else(beside);
    let context = std::path::absolute(&context)
        .with_context(|| format!("cannot find the directory {}", context.display()))?;
    let ignore_file = std::path::absolute(format!("{}.dockerignore", options.original))?;
    Ok(Options {
        level: if options.run { Level::Run } else { Level::Build },
        build: BuildOptions {
            context,
            ignore_file: ignore_file.is_file().then_some(ignore_file),
            variant: options.variant.clone(),
            network: options.network,
            pull: options.pull,
            timeout: options.timeout,
            memory: BuildOptions::MEMORY,
        },
        start: StartOptions { watched: options.watched, command: Vec::new() },
        disk_limit: options.disk_limit,
    })
}

/// The obstacle without the keys of `[ai]`, which have no part in this command.
fn in_flags(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Frontend { image } => format!("`# syntax={image}` needs a pull"),
        Obstacle::MissingImage { image } => format!("the image {image} is not on this machine"),
        Obstacle::BuildTimeout { limit } => {
            format!("the build took longer than {} seconds", limit.as_secs())
        }
        Obstacle::DiskLimit { needed, limit } => {
            format!("the files of both images need {needed} bytes, more than {limit}")
        }
        Obstacle::ForeignFrontend { image } => {
            format!(
                "cannot be built here: `# syntax={image}` runs a program that can fetch anything"
            )
        }
        Obstacle::RemoteSource { line, source } => {
            format!("cannot be built here: line {line} fetches {source}")
        }
        Obstacle::UnknownSource { line, source } => {
            format!(
                "cannot be built here: line {line} may fetch {source}, whose value is not known"
            )
        }
        Obstacle::Trigger { image, trigger } => {
            format!("cannot be built here: the image {image} adds `ONBUILD {trigger}`")
        }
        Obstacle::BuilderArgument { name } => {
            format!("cannot be built here: the build argument {name} changes the builder")
        }
        Obstacle::OriginalFails { output, .. } => format!("the original does not build: {output}"),
        other => other.to_string(),
    }
}

fn way_out(obstacle: &Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Frontend { .. } | Obstacle::MissingImage { .. } => "pull it, or add --pull",
        Obstacle::ForeignFrontend { .. }
        | Obstacle::RemoteSource { .. }
        | Obstacle::UnknownSource { .. }
        | Obstacle::Trigger { .. } => "add --network to allow it",
        Obstacle::Unpulled { .. } => "correct its name, or log in to its registry",
        Obstacle::BuilderArgument { .. } => "remove it from --build-arg",
        Obstacle::RunFlag { .. } => "remove the flag, or compare two images that you built",
        Obstacle::MemoryLimit { .. } => "compare two images that you built",
        Obstacle::BuildTimeout { .. } => "set a larger --timeout",
        Obstacle::DiskLimit { .. } => "set a larger --disk",
        Obstacle::OriginalFails { network: false, .. } => {
            "correct it, or add --network if `RUN` needs the network"
        }
        _ => "`probity doctor` shows which engines answer",
    }
}

fn text(options: &DiffOptions, verdict: &Verdict, screen: Screen) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    _ = writeln!(out, "{} → {}", options.original, options.new);
    for difference in &verdict.differences {
        let paint = if difference.is_harmful() { Paint::Bad } else { Paint::Faint };
        let weight = screen.painted(paint, &padded(weight(difference), 7));
        _ = writeln!(out, "{weight}  {}  {difference}", padded(difference.check(), 19));
    }
    if verdict.is_harmless() {
        _ = writeln!(out, "{}", screen.painted(Paint::Good, "no harmful difference"));
    }
    _ = writeln!(out, "{verdict}");
    out
}

fn markdown(options: &DiffOptions, verdict: &Verdict) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let mut out = String::new();
    _ = writeln!(out, "### `{}` → `{}`\n", options.original, options.new);
    if !verdict.differences.is_empty() {
        _ = writeln!(out, "| Weight | Check | Difference |\n| --- | --- | --- |");
        for difference in &verdict.differences {
            let sentence = cell(&difference.to_string());
            let (weight, check) = (weight(difference), difference.check());
            _ = writeln!(out, "| {weight} | {check} | {sentence} |");
        }
        out.push('\n');
    }
    _ = writeln!(out, "{}.", cell(&verdict.to_string()));
    out
}

fn weight(difference: &Difference) -> &'static str {
    if difference.is_harmful() { "harmful" } else { "note" }
}
