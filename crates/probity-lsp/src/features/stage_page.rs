//! What a stage starts from and what runs in it, in markdown.

use probity_dockerfile::{Base, CommandLine, Dockerfile, Facts, Setting, Stage, Value};
use probity_finding::Span;

/// The page of the stage that is used at an offset.
pub(super) fn used_at(file: &Dockerfile<'_>, facts: &Facts, at: usize) -> Option<(Span, String)> {
    let touches = |span: Span| span.start <= at && at <= span.end;
    let mut references = facts.graph().references().iter();
    let reference = references.find(|reference| touches(reference.span))?;
    let stage = facts.stages().get(reference.target.stage()?)?;
    Some((reference.span, page(file, facts, stage)))
}

/// The page of the stage that begins at an offset.
pub(super) fn begun_at(
    file: &Dockerfile<'_>,
    facts: &Facts,
    instruction: usize,
    at: usize,
) -> Option<(Span, String)> {
    let touches = |span: Span| span.start <= at && at <= span.end;
    let stage = facts.stages().iter().find(|stage| stage.instruction == instruction)?;
    let span = file.instructions.get(instruction)?.span;
    // The keyword itself has help of its own.
    let keyword = file.instructions.get(instruction)?.keyword_span();
    (touches(span) && !touches(keyword)).then(|| (span, page(file, facts, stage)))
}

fn page(file: &Dockerfile<'_>, facts: &Facts, stage: &Stage) -> String {
    let name = stage.name.clone().unwrap_or_else(|| format!("number {}", stage.index));
    let base = match &stage.base {
        Base::Stage(base) => {
            let named = facts.stages().get(*base).and_then(|base| base.name.clone());
            format!("stage `{}`", named.unwrap_or_else(|| base.to_string()))
        }
        Base::Scratch => "`scratch`, which is empty".to_owned(),
        Base::Image(image) => format!("image `{image}`"),
        Base::Unknown => "an image that only the build knows".to_owned(),
    };
    let line = |index: usize| file.instructions.get(index).map(|found| found.lines().0);
    let from = line(stage.instruction).unwrap_or_default();
    let mut rows = vec![format!("Stage `{name}` (line {from}), from {base}"), String::new()];
    let runtime = facts.runtime(stage.index);
    let unset = "of the base image";
    for (title, setting) in [
        ("User", Setting::User),
        ("Working directory", Setting::Workdir),
        ("Shell", Setting::Shell),
        ("Entry point", Setting::Entrypoint),
        ("Command", Setting::Cmd),
    ] {
        let entry = runtime.get(setting).last();
        let value = match (entry, setting) {
            (Some(entry), _) => {
                let place = line(entry.instruction).unwrap_or_default();
                format!("`{}` (line {place})", in_words(&entry.entry.value))
            }
            (None, Setting::Shell) => {
                let last = stage.instructions.end.checked_sub(1);
                let state = last.and_then(|last| facts.state(last));
                state.map_or_else(
                    || unset.to_owned(),
                    |state| format!("`{}`", state.shell.argv.join(" ")),
                )
            }
            (None, _) => unset.to_owned(),
        };
        rows.push(format!("- {title}: {value}"));
    }
    if !facts.graph().is_reachable(stage.index) {
        rows.push("- The final stage does not need it.".to_owned());
    }
    rows.join("\n")
}

pub(super) fn in_words(value: &Value) -> String {
    match value {
        Value::Present => String::new(),
        Value::Text(text) => text.to_string(),
        Value::Command(CommandLine::Exec(words)) => words.join(" "),
        Value::Command(CommandLine::Shell { text, .. }) => text.to_string(),
        Value::Healthcheck(check) => match &check.command {
            Some(CommandLine::Exec(words)) => words.join(" "),
            Some(CommandLine::Shell { text, .. }) => text.to_string(),
            None => "NONE".to_owned(),
        },
    }
}
