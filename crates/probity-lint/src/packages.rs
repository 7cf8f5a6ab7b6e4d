//! What the rules about package managers ask alike: which calls there are, which packages have no
//! version, which calls would wait for an answer, and what they leave behind.

use probity_dockerfile::{
    Action, Instruction, Keyword, Manager, Package, PackageCall, PackageKind, Version,
};
use probity_finding::{Finding, Fix};
use probity_shell::{Call, Script};

use crate::{context::Context, shell_edits};

/// The calls of these managers that do this, each with the index of its `RUN`.
pub(crate) fn calls<'a>(
    context: &Context<'a>,
    managers: &'static [Manager],
    actions: &'static [Action],
) -> impl Iterator<Item = (usize, &'a PackageCall)> {
    let runs: Vec<usize> = context.each(Keyword::Run).map(|(index, _)| index).collect();
    let calls: Vec<(usize, &'a PackageCall)> = runs
        .into_iter()
        .flat_map(|index| context.package_calls(index).iter().map(move |call| (index, call)))
        .collect();
    calls
        .into_iter()
        .filter(|(_, call)| managers.contains(&call.manager) && actions.contains(&call.action))
}

/// The words of a call, for flags that are given as letters.
pub(crate) fn words<'a>(
    context: &Context<'a>,
    index: usize,
    call: &PackageCall,
) -> Option<Call<'a>> {
    let script: &'a Script = context.scripts(index).get(call.script)?;
    Some(script.commands.get(call.command)?.effective())
}

/// The packages of a call that name no version, with their names.
pub(crate) fn unpinned(call: &PackageCall) -> impl Iterator<Item = (&Package, &str)> {
    call.packages.iter().filter_map(|package| match &package.kind {
        PackageKind::Named { name, version: Version::None } => Some((package, name.as_str())),
        _ => None,
    })
}

/// Adds a finding for every package without a version; `shape` is how one is written.
pub(crate) fn flag_unpinned(
    context: &Context<'_>,
    managers: &'static [Manager],
    shape: &str,
    findings: &mut Vec<Finding>,
) {
    for (_, call) in calls(context, managers, &[Action::Install]) {
        for (package, name) in unpinned(call) {
            let written = shape.replace("NAME", name);
            let message = format!("package {name} has no version; write {written}");
            findings.push(context.finding(package.span, message));
        }
    }
}

/// Adds a finding, with a fix, for every call that would ask and has none of the flags.
pub(crate) fn flag_asking(
    context: &Context<'_>,
    managers: &'static [Manager],
    actions: &'static [Action],
    flags: &[&str],
    findings: &mut Vec<Finding>,
) {
    for (index, call) in calls(context, managers, actions) {
        let Some(words) = words(context, index, call) else { continue };
        if words.has_flag(flags) {
            continue;
        }
        let message = "without -y it waits for an answer that nobody gives";
        let finding = context.finding(call.subcommand, message);
        findings.push(with_flag(context, index, call, "-y", finding));
    }
}

/// Offers to put a flag behind the subcommand of a call.
pub(crate) fn with_flag(
    context: &Context<'_>,
    index: usize,
    call: &PackageCall,
    flag: &'static str,
    finding: Finding,
) -> Finding {
    let Some(script) = context.scripts(index).get(call.script) else { return finding };
    let edit = shell_edits::insert_behind(context, script, call.subcommand, flag);
    finding.with_fix(Fix::suggestion(format!("add {flag}"), vec![edit]))
}

/// What removes the downloads of a manager.
pub(crate) struct Cleaning<'c> {
    pub(crate) managers: &'static [Manager],
    /// Where the downloads are.
    pub(crate) directories: &'c [&'c str],
    /// Behind the manager's name: `clean all`.
    pub(crate) subcommand: &'static str,
}

/// Adds a finding, with a fix, for every `RUN` that installs and leaves the manager's downloads in the image: it
/// neither cleans up, nor removes one of the directories, nor mounts something over one of them.
pub(crate) fn flag_left_behind(
    context: &Context<'_>,
    cleaning: &Cleaning<'_>,
    message: &str,
    findings: &mut Vec<Finding>,
) {
    let Cleaning { managers, directories, subcommand } = *cleaning;
    for (index, run) in context.each(Keyword::Run) {
        let calls = context.package_calls(index);
        let of_these = |action: Action| {
            calls.iter().filter(move |it| managers.contains(&it.manager) && it.action == action)
        };
        let last =
            of_these(Action::Install).chain(of_these(Action::Upgrade)).max_by_key(|it| it.span);
        let Some(last) = last else { continue };
        let is_clean = of_these(Action::Clean).next().is_some()
            || removes(context.scripts(index), directories)
            || mounts(run, directories);
        if is_clean {
            continue;
        }
        let finding = context.finding(last.span, message);
        let name = words(context, index, last).and_then(|call| call.name());
        let command = name.map(|name| format!("{name} {subcommand}"));
        let edit =
            command.and_then(|command| shell_edits::append_command(context, index, &command));
        let fix = edit.map(|edit| Fix::suggestion("clean up behind it", vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Whether a mount that leaves nothing in the image lies over one of the directories.
pub(crate) fn mounts(run: &Instruction, directories: &[&str]) -> bool {
    run.passing_mounts().any(|target| directories.iter().any(|it| covers(target, it)))
}

/// Whether a command removes one of the directories or what is in it.
pub(crate) fn removes(scripts: &[Script], directories: &[&str]) -> bool {
    scripts.iter().flat_map(|script| &script.commands).any(|command| {
        let call = command.effective();
        call.is_any(&["rm"])
            && call.positional(&[]).iter().filter_map(|word| word.pattern()).any(|path| {
                directories.iter().any(|it| covers(path.trim_end_matches(['*', '/']), it))
            })
    })
}

/// Whether a directory is another one or lies above it. What is above nearly everything was hardly
/// meant.
fn covers(directory: &str, below: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    let rest = below.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) && directory.len() > 4
}
