//! Ruby and Rails: which stages are about them, how Bundler is called there, and what is served.

use std::ops::Range;

use probity_dockerfile::{Base, ImageRef, Os, Setting, Stage};
use probity_shell::{Call, Command, Script};

use crate::{
    engine::context::Context,
    facts::{environment, stage_purpose, startup},
};

/// Programs that only images with Ruby start.
const PROGRAMS: &[&str] = &[
    "bundle",
    "falcon",
    "iodine",
    "passenger",
    "puma",
    "rackup",
    "rails",
    "rake",
    "resque",
    "ruby",
    "sidekiq",
    "thin",
    "thrust",
    "unicorn",
];
/// Servers of web applications.
const WEB_SERVERS: &[&str] =
    &["falcon", "iodine", "passenger", "puma", "rackup", "rails", "thin", "thrust", "unicorn"];
/// Variables that only images with Ruby set, beside those of Bundler.
const VARIABLES: &[&str] =
    &["GEM_HOME", "GEM_PATH", "RACK_ENV", "RAILS_ENV", "RUBYOPT", "RUBY_VERSION"];
/// What a file about Ruby mentions somewhere.
const MENTIONS: &[&str] = &["ruby", "bundle", "BUNDLE", "rails", "RAILS", "GEM_", "RACK_"];

/// Whether each stage has Ruby: its image or its variables say so, also those of the stages below, or
/// what it starts does. Stages of Windows do not count.
pub(crate) fn stages(context: &Context<'_>) -> Vec<bool> {
    // Few files are about Ruby, and the others need not be looked through.
    if !is_mentioned(context) {
        return Vec::new();
    }
    let mut inherited: Vec<bool> = Vec::new();
    let mut found = Vec::new();
    for stage in context.facts.stages() {
        let below = match stage.base {
            Base::Stage(base) => inherited.get(base).copied().unwrap_or_default(),
            Base::Image(ref name) => is_ruby_image(name),
            Base::Scratch | Base::Unknown => is_ruby_image(stage.image.pattern()),
        };
        let sets =
            |(name, _): (&str, &str)| name.starts_with("BUNDLE_") || VARIABLES.contains(&name);
        let own = below || environment::of_stage(context, stage.index).any(sets);
        inherited.push(own);
        let starts =
            || started(context, stage).iter().any(|word| PROGRAMS.contains(&word.as_str()));
        found.push(stage.os == Os::Linux && (own || starts()));
    }
    found
}

/// The stages with Ruby whose names do not say that they are for development.
pub(crate) fn production<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a Stage> + use<'a> {
    let has_ruby = stages(context);
    context.facts.stages().iter().filter(move |stage| {
        has_ruby.get(stage.index).copied().unwrap_or_default()
            && !stage_purpose::is_development(stage)
    })
}

/// The last stage, where it has Ruby and is not for development.
pub(crate) fn final_stage<'a>(context: &Context<'a>) -> Option<&'a Stage> {
    let last = context.facts.final_stage()?;
    production(context).find(|stage| stage.index == last.index)
}

fn is_mentioned(context: &Context<'_>) -> bool {
    let programs = WEB_SERVERS.iter().chain(&["rake", "resque", "sidekiq"]);
    MENTIONS.iter().chain(programs).any(|word| context.file.text.contains(word))
}

fn is_ruby_image(name: &str) -> bool {
    let name =
        ImageRef::parse(name).map_or_else(|_| name.to_owned(), |image| image.familiar_name());
    name.contains("ruby") || name.contains("rails")
}

/// Whether an image is the official one of Ruby.
pub(crate) fn official_image(context: &Context<'_>, stage: &Stage) -> Option<ImageRef> {
    let root = context.facts.stages().get(stage.root)?;
    let Base::Image(name) = &root.base else { return None };
    ImageRef::parse(name).ok().filter(|image| image.familiar_name() == "ruby")
}

/// Major and minor of a tag: `3.3` of `3.3.4-slim`.
pub(crate) fn version(tag: &str) -> Option<(u32, u32)> {
    crate::facts::cuda::dotted(tag.split('-').next()?)
}

/// The words that a stage itself starts, each without directories.
fn started(context: &Context<'_>, stage: &Stage) -> Vec<String> {
    let config = context.facts.config(stage.index);
    let settings = [Setting::Entrypoint, Setting::Cmd];
    let entries = settings.into_iter().flat_map(|setting| config.map(|config| config.get(setting)));
    entries.flatten().flat_map(|entry| startup::words(&entry.entry.value)).collect()
}

/// Whether the stage starts a web server.
pub(crate) fn serves_web(context: &Context<'_>, stage: &Stage) -> bool {
    started(context, stage).iter().any(|word| WEB_SERVERS.contains(&word.as_str()))
}

/// Whether the stage starts a server of any kind, such as a worker.
pub(crate) fn serves(context: &Context<'_>, stage: &Stage) -> bool {
    serves_web(context, stage)
        || started(context, stage).iter().any(|word| word == "sidekiq" || word == "resque")
}

/// Whether what the stage starts has this word.
pub(crate) fn starts_with_word(context: &Context<'_>, stage: &Stage, word: &str) -> bool {
    started(context, stage).iter().any(|own| own == word)
}

/// A command of Ruby's tools, without `bundle exec` before it.
pub(crate) struct Tool<'a> {
    pub(crate) index: usize,
    pub(crate) script: &'a Script,
    pub(crate) command: &'a Command,
    pub(crate) call: Call<'a>,
}

/// The commands of `RUN` in a range of instructions.
pub(crate) fn commands<'a>(
    context: &Context<'a>,
    instructions: Range<usize>,
) -> impl Iterator<Item = Tool<'a>> + use<'a> {
    let (file, facts) = (context.file, context.facts);
    let is_run = |index: &usize| {
        let instruction = file.instructions.get(*index);
        instruction.is_some_and(|it| it.keyword == probity_dockerfile::Keyword::Run)
    };
    instructions.filter(is_run).flat_map(move |index| {
        let scripts: &'a [Script] = facts.scripts(file, index);
        scripts.iter().flat_map(move |script| {
            script.commands.iter().map(move |command| {
                let call = without_exec(command.effective());
                Tool { index, script, command, call }
            })
        })
    })
}

/// The calls of `bundle install` in a stage.
pub(crate) fn installs<'a>(
    context: &Context<'a>,
    stage: &Stage,
) -> impl Iterator<Item = Tool<'a>> + use<'a> {
    commands(context, stage.instructions.clone()).filter(|tool| is_install(&tool.call))
}

pub(crate) fn is_install(call: &Call<'_>) -> bool {
    call.is_any(&["bundle"]) && call.args().first().is_some_and(|word| word.is("install"))
}

/// Whether a call is `bundle config set NAME VALUE`, and the value is right.
pub(crate) fn configures(call: &Call<'_>, name: &str, is_right: fn(&str) -> bool) -> bool {
    let words = call.positional(&[]);
    match words.as_slice() {
        [config, set, own, values @ ..]
            if call.is_any(&["bundle"]) && config.is("config") && set.is("set") && own.is(name) =>
        {
            values.iter().any(|value| value.literal().is_some_and(|value| is_right(&value)))
        }
        _ => false,
    }
}

fn without_exec(call: Call<'_>) -> Call<'_> {
    let is_exec =
        call.is_any(&["bundle"]) && call.args().first().is_some_and(|argument| argument.is("exec"));
    match call.words.get(2..) {
        Some(words) if is_exec && !words.is_empty() => Call { wrappers: call.wrappers, words },
        _ => call,
    }
}

/// Whether a stage builds for production as far as its variables tell, at an instruction.
pub(crate) fn may_be_production(context: &Context<'_>, index: usize) -> bool {
    ["RAILS_ENV", "RACK_ENV"].iter().all(|name| {
        !matches!(environment::before(context, index, name), Some("development" | "test"))
    })
}

/// Whether a value switches something on.
pub(crate) fn is_on(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

/// Whether the file asks for a frontend that knows the mounts of BuildKit.
pub(crate) fn names_frontend(context: &Context<'_>) -> bool {
    context.facts.contract().syntax.is_some()
}

/// Whether a mount of a `RUN` is over the place where Bundler keeps what it downloads.
pub(crate) fn is_bundler_cache(target: &str) -> bool {
    const TARGETS: &[&str] = &[
        "${BUNDLE_PATH}/cache",
        "$BUNDLE_PATH/cache",
        "/usr/local/bundle/cache",
        "/bundle/cache",
        "/bundle-cache",
        "/cache",
    ];
    TARGETS.contains(&target.trim_end_matches('/'))
}
