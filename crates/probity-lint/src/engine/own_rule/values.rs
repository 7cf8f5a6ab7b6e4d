//! What is known about an instruction, as values of an expression.

use std::{collections::HashMap, sync::Arc};

use cel::{
    Context as Scope, Value,
    objects::{Key, Map},
};
use probity_dockerfile::{
    Action, Arguments, Base, Command, Dockerfile, Facts, Instruction, Keyword, PackageKind, Pair,
    Version, Word,
};

use super::types::Checked;

/// Adds what the expression uses, and nothing else.
pub(super) fn add(
    scope: &mut Scope<'_, '_>,
    checked: &Checked,
    file: &Dockerfile<'_>,
    facts: &Facts,
    index: usize,
) {
    let Some(instruction) = file.instructions.get(index) else { return };
    let stage = facts.stage_of(index);
    let state = facts.state(index);
    let mut set = |name: &str, value: &dyn Fn() -> Value| {
        if checked.uses(name) {
            scope.add_variable_from_value(name, value());
        }
    };
    set("instruction", &|| text(instruction.keyword_text().to_ascii_uppercase()));
    set("text", &|| text(instruction.body_text()));
    set("words", &|| list(words(file, facts, index, instruction).into_iter().map(text)));
    set("flags", &|| {
        let flags = instruction.flags.iter();
        map(flags.map(|flag| {
            let value = flag.value.as_ref().map(|value| value.text.to_string());
            (flag.name.text.to_string(), value.unwrap_or_default())
        }))
    });
    set("commands", &|| {
        list(commands(file, facts, index).into_iter().map(|words| {
            let mut words = words.into_iter();
            let name = words.next().unwrap_or_default();
            object([("name", text(name)), ("arguments", list(words.map(text)))])
        }))
    });
    set("packages", &|| {
        list(packages(file, facts, index).into_iter().map(|[name, version, manager]| {
            object([("name", text(name)), ("version", text(version)), ("manager", text(manager))])
        }))
    });
    set("labels", &|| map(pairs(instruction, &[Keyword::Label])));
    set("variables", &|| map(pairs(instruction, &[Keyword::Env, Keyword::Arg])));
    set("stage", &|| {
        let last = facts.final_stage().map(|last| last.index);
        let name = stage.and_then(|stage| stage.name.clone()).unwrap_or_default();
        let number = stage.and_then(|stage| i64::try_from(stage.index).ok());
        let is_final = stage.is_some() && stage.map(|stage| stage.index) == last;
        object([
            ("name", text(name)),
            ("index", Value::Int(number.unwrap_or(-1))),
            ("is_final", Value::Bool(is_final)),
        ])
    });
    set("base", &|| {
        text(stage.map_or_else(String::new, |stage| match &stage.base {
            Base::Scratch => "scratch".to_owned(),
            Base::Stage(earlier) => {
                let earlier = facts.stages().get(*earlier);
                earlier.and_then(|stage| stage.name.clone()).unwrap_or_default()
            }
            Base::Image(name) => name.clone(),
            Base::Unknown => stage.image.pattern().to_owned(),
        }))
    });
    set("user", &|| {
        let user = state.and_then(|state| state.user.as_ref());
        text(user.map(|user| user.pattern()).unwrap_or_default())
    });
    set("shell", &|| {
        let program = state.and_then(|state| state.shell.argv.first());
        text(program.map(String::as_str).unwrap_or_default())
    });
    if !checked.environment.is_empty() {
        let known = facts.scope(index);
        let found = checked
            .environment
            .iter()
            .filter_map(|name| Some((name.clone(), known.get(name)?.value.clone()?)));
        scope.add_variable_from_value("environment", map(found));
    }
}

fn text(text: impl Into<String>) -> Value {
    Value::String(Arc::new(text.into()))
}

fn list(members: impl Iterator<Item = Value>) -> Value {
    Value::List(Arc::new(members.collect()))
}

fn map(entries: impl IntoIterator<Item = (String, String)>) -> Value {
    let entries = entries.into_iter().map(|(key, value)| (Key::String(Arc::new(key)), text(value)));
    Value::Map(Map { map: Arc::new(entries.collect()) })
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.map(|(name, value)| (Key::String(Arc::new(name.to_owned())), value));
    Value::Map(Map { map: Arc::new(HashMap::from(fields)) })
}

/// The words of each command, without their quotes where they are constant.
fn commands(file: &Dockerfile<'_>, facts: &Facts, index: usize) -> Vec<Vec<String>> {
    let scripts = facts.scripts(file, index).iter();
    let commands = scripts.flat_map(|script| &script.commands);
    let words = commands.map(|command| {
        let each = command.words.iter();
        each.map(|word| match word.literal() {
            Some(constant) => constant.into_owned(),
            None => word.text().to_string(),
        })
        .collect()
    });
    words.collect()
}

fn words(
    file: &Dockerfile<'_>,
    facts: &Facts,
    index: usize,
    instruction: &Instruction,
) -> Vec<String> {
    let plain = |words: &[Word]| words.iter().map(|word| word.text.to_string()).collect();
    match &instruction.arguments {
        Arguments::Command(Command::Json { words, .. }) => plain(words),
        Arguments::Command(_) | Arguments::Healthcheck { .. } | Arguments::Onbuild(_) => {
            commands(file, facts, index).into_iter().flatten().collect()
        }
        Arguments::Words { words, .. } => plain(words),
        Arguments::Transfer { sources, destination, .. } => {
            let mut all: Vec<String> = plain(sources);
            all.extend(destination.iter().map(|word| word.text.to_string()));
            all
        }
        _ => instruction.rest_text().split_whitespace().map(str::to_owned).collect(),
    }
}

/// Name, version and manager of each package that is installed.
fn packages(file: &Dockerfile<'_>, facts: &Facts, index: usize) -> Vec<[String; 3]> {
    let calls = facts.package_calls(file, index).iter();
    let installs = calls.filter(|call| call.action == Action::Install);
    let named = installs.flat_map(|call| {
        let manager = call.manager.name();
        call.packages.iter().map(move |package| match &package.kind {
            PackageKind::Named { name, version } => {
                let version = match version {
                    Version::Exact(version) | Version::Range(version) => version.clone(),
                    Version::None => String::new(),
                };
                [name.clone(), version, manager.to_owned()]
            }
            _ => [package.text.clone(), String::new(), manager.to_owned()],
        })
    });
    named.collect()
}

/// What an instruction with one of these keywords sets.
fn pairs(instruction: &Instruction, keywords: &[Keyword]) -> Vec<(String, String)> {
    match &instruction.arguments {
        Arguments::Pairs { pairs, .. } if keywords.contains(&instruction.keyword) => {
            let unquoted = |word: &Word| {
                let text = word.text.as_str();
                let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                inner.unwrap_or(text).to_owned()
            };
            let pair = |pair: &Pair| {
                (unquoted(&pair.key), pair.value.as_ref().map(unquoted).unwrap_or_default())
            };
            pairs.iter().map(pair).collect()
        }
        _ => Vec::new(),
    }
}
