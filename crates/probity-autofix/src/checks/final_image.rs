//! The image below the final stage against that of the original: release, library, run time, command.

use probity_dockerfile::{Instruction, Keyword, Setting};

use super::{
    Change, Check, Issue, View,
    base_image::base,
    belongings::final_chain,
    commands::{self, Linkage},
    image_kind::{Distribution, ImageKind, agree},
};

pub(crate) const BASE_RELEASE: Check = Check::new("base-release", base_release).heuristic();
pub(crate) const NEEDS_LIBC: Check = Check::new("needs-libc", needs_libc).heuristic();
pub(crate) const RUNTIME_VERSION: Check =
    Check::new("runtime-version", runtime_version).heuristic();
pub(crate) const BASE_COMMAND: Check = Check::new("base-command", base_command);

/// The oldest Debian that a program built on an image without a named release is likely to start on.
pub(super) const OLDEST_DEBIAN: u32 = 12;

fn kinds(change: &Change<'_>) -> Option<(ImageKind, ImageKind)> {
    Some((ImageKind::of(&base(change.before)?)?, ImageKind::of(&base(change.after)?)?))
}

/// What was linked on one release need not start on another.
fn base_release(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some((old, new)) = kinds(change) else { return Vec::new() };
    // Full images of scripting languages compile parts of packages without being told.
    let may_compile = old.is_full() && old.is_interpreted();
    let is_native = commands::linkage_of(change) == Linkage::Native || may_compile;
    if !is_native || !copies(change.after) {
        return Vec::new();
    }
    let (Some(was), Some(is)) = (old.distribution, new.distribution) else { return Vec::new() };
    // Another C library altogether is the business of the next check.
    if is == Distribution::Bare || old.is_musl() != new.is_musl() {
        return Vec::new();
    }
    let is_other = match (&old.release, &new.release) {
        _ if was != is => true,
        (Some(old), Some(new)) => !agree(old, new),
        (None, Some(new)) => {
            let number = new.parse().unwrap_or(OLDEST_DEBIAN);
            is == Distribution::Debian && number < OLDEST_DEBIAN
        }
        _ => false,
    };
    if !is_other {
        return Vec::new();
    }
    vec![issue(
        check,
        change,
        "the program was built on `{old}` and need not start on `{new}`, which is another release or \
         distribution; take a smaller image of the same release",
    )]
}

/// A program that was linked against the library of one distribution does not start without it.
fn needs_libc(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some((old, new)) = kinds(change) else { return Vec::new() };
    let has_none =
        new.distribution == Some(Distribution::Bare) && old.distribution != new.distribution;
    let is_other = old.is_musl() != new.is_musl() || has_none;
    let links = match commands::linkage_of(change) {
        Linkage::Native => true,
        Linkage::Static => false,
        // Packages may hold compiled parts, and .NET's images of Alpine lack data of cultures.
        Linkage::Portable => {
            commands::installs_local_packages(change.before) || old.language == Some("dotnet")
        }
    };
    if !is_other || !links || !copies(change.after) {
        return Vec::new();
    }
    vec![issue(
        check,
        change,
        "nothing shows that what was built on `{old}` needs no library that `{new}` lacks; take a \
         smaller image of the same distribution",
    )]
}

/// A program reads the libraries of the version that it was installed or compiled for.
fn runtime_version(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some((old, new)) = kinds(change) else { return Vec::new() };
    if old.language == Some("java") && new.language.is_none() && !brings_java(change.after) {
        return vec![issue(check, change, "nothing shows that `{new}` has Java, as `{old}` has")];
    }
    if !old.is_interpreted() || old.language != new.language {
        return Vec::new();
    }
    let is_same = match (&old.version, &new.version) {
        (Some(old), Some(new)) => agree(old, new),
        (None, None) => true,
        // A distroless image of Python does not tell its version.
        (Some(_), None) => new.name.contains("-debian"),
        (None, Some(_)) => false,
    };
    if !is_same {
        let text =
            "the program was made for the run time of `{old}`, and `{new}` has another version";
        return vec![issue(check, change, text)];
    }
    let is_web = {
        let runtime = change.before.facts.final_runtime();
        let mut variables = runtime.get(Setting::Env).iter();
        let mut ports =
            runtime.get(Setting::Expose).iter().map(|setting| setting.entry.to_string());
        ports.any(|port| is_port_of_web(&port))
            || variables.any(|variable| variable.entry.key.starts_with("ASPNETCORE_"))
            || ["http", "Web", "Api", "Mvc", "Blazor", "urls"]
                .iter()
                .any(|word| change.before.text.contains(word))
    };
    let lacks = match new.name.as_str() {
        "runtime" => is_web && matches!(old.name.as_str(), "sdk" | "aspnet"),
        "runtime-deps" => commands::starts(change.before, "dotnet"),
        _ => false,
    };
    if new.language != Some("dotnet") || !lacks {
        return Vec::new();
    }
    vec![issue(check, change, "`{new}` lacks a part of the run time that `{old}` has")]
}

/// Whether the final stage gets Java from a package or another stage, or a build makes machine code of it.
fn brings_java(view: &View<'_>) -> bool {
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let chain = final_chain(view);
    let mut finals = chain.into_iter().filter_map(|index| view.file.instructions.get(index));
    has(view.text, &["native-image", "jlink", "jpackage", "graalvm", "nativeCompile"])
        || finals.any(|instruction| {
            has(instruction.body_text(), &["jre", "jdk", "java"])
                && instruction.keyword != Keyword::Cmd
        })
}

/// Whether web servers usually listen on a port; one that nobody knows may be theirs too.
fn is_port_of_web(port: &str) -> bool {
    let digits: String = port.chars().filter(char::is_ascii_digit).collect();
    let is_low =
        digits.parse::<u32>().is_ok_and(|number| (1024..5000).contains(&number) && number != 3000);
    !is_low
}

/// What an image starts by itself is lost on another.
fn base_command(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some((old, new)) = kinds(change) else { return Vec::new() };
    let runtime = change.before.facts.final_runtime();
    let has = |setting: Setting| !runtime.get(setting).is_empty();
    let relies = !has(Setting::Entrypoint) && (!has(Setting::Cmd) || !old.is_plain());
    if !relies || (old.name == new.name && old.flavor() == new.flavor()) {
        return Vec::new();
    }
    let text = "`{old}` has its own command or entry point, which `{new}` does not have";
    vec![issue(check, change, text)]
}

fn issue(check: &Check, change: &Change<'_>, text: &str) -> Issue {
    let (old, new) = (base(change.before), base(change.after));
    let message =
        text.replace("{old}", &old.unwrap_or_default()).replace("{new}", &new.unwrap_or_default());
    let issue = change.issue(check, &message);
    match change.after.facts.final_stage().and_then(|stage| stage.image_span) {
        Some(span) => issue.at(change.after, span),
        None => issue,
    }
}

/// Whether the final stage takes anything from another one.
fn copies(view: &View<'_>) -> bool {
    let Some(stage) = view.facts.final_stage() else { return false };
    let all = view.file.instructions.get(stage.instructions.clone()).unwrap_or_default();
    let is_copy = |instruction: &Instruction| {
        instruction.keyword == Keyword::Copy && instruction.flag_value("from").is_some()
    };
    all.iter().any(is_copy)
}
