//! What the commands of the final stage need of the image below it.

use std::collections::BTreeSet;

use probity_dockerfile::{
    Action, CommandLine, ImageRef, Instruction, Keyword, PackageKind, Setting, ShellSource, Stage,
    Step, Value,
};

use super::{
    Change, Check, Issue, View,
    base_image::{RELEASES, base, is_bare},
    foreign,
};

pub(crate) const NEEDS_SHELL: Check = Check::new("needs-shell", needs_shell).heuristic();
pub(crate) const NEEDS_TOOLS: Check = Check::new("needs-tools", needs_tools).heuristic();

const DEBIAN: &[&str] = &["apt-get", "apt", "apt-key", "aptitude", "dpkg", "add-apt-repository"];
const RED_HAT: &[&str] = &["yum", "dnf", "microdnf", "rpm"];
const OTHER_MANAGERS: &[&str] = &["apk", "zypper"];

/// What full images have and neither Debian's nor Alpine's small ones do.
const BUILDERS: &[&str] =
    &["git", "hg", "svn", "gcc", "g++", "cc", "c++", "make", "cmake", "autoconf", "patch"];

/// Programs of `procps`, which only full images have.
const PROCESSES: &[&str] = &["ps", "pgrep", "pkill"];

/// Commands cannot run where there is no shell.
fn needs_shell(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(image) = base(change.after).filter(|image| is_bare(image)) else { return Vec::new() };
    let stages = &change.after.facts.contract().stages;
    let runs = stages
        .last()
        .is_some_and(|stage| stage.steps.iter().any(|step| matches!(step, Step::Run { .. })));
    let shell = change.after.facts.final_runtime().entries().iter().any(|entry| {
        let command = match &entry.entry.value {
            Value::Command(command) => Some(command),
            Value::Healthcheck(check) => check.command.as_ref(),
            _ => None,
        };
        matches!(command, Some(CommandLine::Shell { .. }))
    });
    // The start scripts that Gradle and Maven make are for a shell.
    let starts_script = started(change.after).iter().any(|program| program.ends_with(".sh"))
        || start_paths(change.after).any(|path| path.contains("/build/install/"));
    if !runs && !shell && !starts_script {
        return Vec::new();
    }
    let message = format!("`{image}` has no shell, and the final stage needs one");
    vec![change.issue(check, &message)]
}

/// Commands that were written for one image need not be there in another.
fn needs_tools(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let after = change.after;
    let Some(image) = base(after).filter(|image| !is_bare(image)) else { return Vec::new() };
    // On the image of the original, what the original calls is there.
    let is_same = base(change.before).as_ref() == Some(&image);
    let olds: BTreeSet<String> = if is_same {
        (0..change.before.file.instructions.len())
            .flat_map(|index| called_by(change.before, index))
            .chain(started(change.before))
            .collect()
    } else {
        BTreeSet::new()
    };
    let Some(root) = after.facts.final_stage().map(|stage| stage.root) else { return Vec::new() };
    let on_it: Vec<&Stage> =
        after.facts.stages().iter().filter(|stage| stage.root == root).collect();
    let indices = || on_it.iter().flat_map(|stage| stage.instructions.clone());
    let is_lost = |tool: &String, brought: &BTreeSet<String>| {
        !olds.contains(tool) && lacks(&image, tool) && !brought.contains(tool)
    };
    let mut missing = BTreeSet::new();
    let mut brought = BTreeSet::new();
    // A step has what was installed before it, the container all of it.
    for stage in &on_it {
        let mut late = Vec::new();
        for index in stage.instructions.clone() {
            let is_step = |instruction: &Instruction| instruction.keyword == Keyword::Run;
            // The step that installs a shell cannot run in it.
            let shell = shell_of(after, index).filter(|shell| is_lost(shell, &brought));
            missing.extend(shell);
            brought.extend(installed_by(after, index));
            let called = called_by(after, index);
            if after.file.instructions.get(index).is_some_and(is_step) {
                missing.extend(called.into_iter().filter(|name| is_lost(name, &brought)))
            } else {
                late.extend(called)
            }
        }
        missing.extend(late.into_iter().filter(|name| is_lost(name, &brought)));
    }
    missing.extend(started(after).into_iter().filter(|name| is_lost(name, &brought)));
    let known = |index: &usize| {
        let text = after.written().get(*index);
        is_same && text.is_some_and(|text| change.before.position(text).is_some())
    };
    for index in indices().filter(|index| !known(index)) {
        missing.extend(foreign::account(after, index, &image));
        missing.extend(foreign::package(after, index, &image));
        missing.extend(foreign::without_lists(after, index));
        missing.extend(foreign::taken_number(after, index, &image));
    }
    if missing.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = missing.into_iter().collect();
    let message = format!(
        "a command of the final stage asks for {}, which nothing shows to work in `{image}`",
        names.join(", ")
    );
    vec![change.issue(check, &message)]
}

/// The shell that SHELL sets for a RUN.
fn shell_of(view: &View<'_>, index: usize) -> Option<String> {
    let instruction = view
        .file
        .instructions
        .get(index)
        .filter(|instruction| instruction.keyword == Keyword::Run)?;
    let is_exec = instruction.body_text().trim_start().starts_with('[');
    let shell = &view.facts.state(index)?.shell;
    let is_set = matches!(shell.source, ShellSource::Instruction(_)) && !is_exec;
    let name = shell.argv.first().and_then(|word| word.rsplit('/').next())?;
    is_set.then(|| name.to_owned())
}

/// Whether an image is known not to have a tool that Dockerfiles call.
pub(super) fn lacks(image: &str, tool: &str) -> bool {
    let Ok(image) = ImageRef::parse(image) else { return false };
    let name = image.path.rsplit('/').next().unwrap_or_default();
    let tag = image.tag.as_deref().unwrap_or_default();
    let is = |names: &[&str]| names.contains(&tool);
    let has_curl = matches!(name, "php" | "nginx" | "curl") && !tag.ends_with("alpine-slim");
    // Small images of Red Hat's family have `microdnf` alone.
    if name.ends_with("-minimal") || tag.contains("minimal") && !tag.contains("alpine") {
        return is(&["dnf", "yum"]) || is(DEBIAN) || is(OTHER_MANAGERS);
    }
    if name == "busybox" || name == "alpine" || tag.contains("alpine") {
        return is(DEBIAN)
            || is(RED_HAT)
            || is(BUILDERS)
            || is(&["zypper", "bash", "useradd", "groupadd", "usermod"])
            || (is(&["curl"]) && !has_curl)
            || (is(&["apk"]) && name == "busybox");
    }
    let is_slim = tag.contains("slim");
    let is_debian = is_slim
        || matches!(name, "debian" | "ubuntu")
        || RELEASES.iter().any(|release| tag.contains(release));
    // Microsoft's images for running are as small as Debian's, whatever their tag says.
    let is_microsoft = matches!(name, "aspnet" | "runtime" | "runtime-deps");
    if is_debian || is_microsoft {
        let is_small = is_slim || is_microsoft || matches!(name, "debian" | "ubuntu");
        let is_probe = is(&["curl", "wget"]) && !has_curl;
        return is(RED_HAT)
            || is(OTHER_MANAGERS)
            || (is_small && (is(BUILDERS) || is(PROCESSES) || is_probe));
    }
    let is_red_hat = matches!(
        name,
        "fedora" | "rockylinux" | "almalinux" | "centos" | "amazonlinux" | "oraclelinux"
    ) || name.starts_with("ubi");
    is_red_hat && (is(DEBIAN) || is(OTHER_MANAGERS))
}

/// The names of packages, and the tools that come with the usual sets of them.
fn installed_by(view: &View<'_>, index: usize) -> Vec<String> {
    let calls = view.facts.package_calls(&view.file, index).iter();
    let packages =
        calls.filter(|call| call.action == Action::Install).flat_map(|call| &call.packages);
    packages
        .flat_map(|package| match &package.kind {
            PackageKind::Named { name, .. } => match name.as_str() {
                "build-essential" | "build-base" => {
                    ["gcc", "g++", "cc", "c++", "make", "patch"].map(str::to_owned).to_vec()
                }
                "gcc" => vec!["gcc".to_owned(), "cc".to_owned()],
                "g++" => vec!["g++".to_owned(), "c++".to_owned()],
                "shadow" => ["useradd", "groupadd", "usermod"].map(str::to_owned).to_vec(),
                "mercurial" => vec!["hg".to_owned()],
                "subversion" => vec!["svn".to_owned()],
                "procps" => PROCESSES.iter().map(|program| (*program).to_owned()).collect(),
                name => vec![name.to_owned()],
            },
            _ => Vec::new(),
        })
        .collect()
}

fn called_by(view: &View<'_>, index: usize) -> Vec<String> {
    let Some(instruction) = view.file.instructions.get(index) else { return Vec::new() };
    if !matches!(instruction.keyword, Keyword::Run | Keyword::Healthcheck) {
        return Vec::new();
    }
    let scripts = view.facts.scripts(&view.file, index).iter();
    let commands = scripts.flat_map(|script| &script.commands);
    let names = commands.filter_map(|command| command.effective().name().as_deref().map(last_part));
    // Package managers fetch such addresses with a program that they do not bring.
    let fetches =
        view.facts.package_calls(&view.file, index).iter().flat_map(|call| &call.packages);
    let fetches = fetches.filter(|package| package.text.contains("git+")).map(|_| "git".to_owned());
    names.chain(fetches).collect()
}

/// The paths of what the container starts.
fn start_paths(view: &View<'_>) -> impl Iterator<Item = String> {
    let runtime = view.facts.final_runtime();
    let entries =
        [Setting::Entrypoint, Setting::Cmd].into_iter().flat_map(|setting| runtime.get(setting));
    let paths = entries.filter_map(|entry| match &entry.entry.value {
        Value::Command(CommandLine::Exec(words)) => words.first().cloned(),
        _ => None,
    });
    paths.collect::<Vec<_>>().into_iter()
}

/// What the container and its shell-form commands are started with.
fn started(view: &View<'_>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let commands = [Setting::Entrypoint, Setting::Cmd, Setting::Shell].into_iter();
    let entries = commands.flat_map(|setting| runtime.get(setting));
    entries
        .filter_map(|entry| match &entry.entry.value {
            Value::Command(CommandLine::Exec(words)) => words.first().map(|word| last_part(word)),
            _ => None,
        })
        .collect()
}

fn last_part(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}
