//! What the rules about package managers ask alike: which calls there are, which packages have no
//! version, which calls would wait for an answer, and what they leave behind.

use std::collections::{BTreeMap, HashSet};

use probity_dockerfile::{
    Action, Base, Facts, Instruction, Manager, Package, PackageCall, PackageKind, Version,
};
use probity_finding::{Finding, Fix, Span};
use probity_shell::{Call, Script};

use crate::{engine::context::Context, facts::base_image, text::shell_edits};

/// Packages that a message names before it counts the others.
const NAMED_PACKAGES: usize = 3;

/// The calls of these managers that do this, each with the index of its `RUN`.
pub(crate) fn calls<'a>(
    context: &Context<'a>,
    managers: &'static [Manager],
    actions: &'static [Action],
) -> impl Iterator<Item = (usize, &'a PackageCall)> + use<'a> {
    let (file, facts) = (context.file, context.facts);
    context
        .runs()
        .flat_map(move |(index, _)| {
            facts.package_calls(file, index).iter().map(move |call| (index, call))
        })
        .filter(|(_, call)| managers.contains(&call.manager) && actions.contains(&call.action))
}

/// The words of a call, for flags that are given as letters.
pub(crate) fn words<'a>(
    context: &Context<'a>,
    index: usize,
    call: &PackageCall,
) -> Option<Call<'a>> {
    let script: &'a Script = context.scripts(index).get(call.script)?;
    Some(script.all_commands().get(call.command)?.effective())
}

/// The packages of a call that name no version, with their names.
pub(crate) fn unpinned(call: &PackageCall) -> impl Iterator<Item = (&Package, &str)> {
    call.packages.iter().filter_map(|package| match &package.kind {
        PackageKind::Named { name, version: Version::None } => Some((package, name.as_str())),
        _ => None,
    })
}

/// Packages of one instruction that a rule wants pinned.
#[derive(Default)]
pub(crate) struct Unpinned {
    names: Vec<String>,
    places: Vec<Span>,
    /// How the first of them would be written with a version.
    written: Option<String>,
}

impl Unpinned {
    /// `shape` is how a version is written, with `NAME` for the package.
    pub(crate) fn add(&mut self, package: &Package, name: &str, shape: &str) {
        self.written.get_or_insert_with(|| shape.replace("NAME", name));
        self.names.push(name.to_owned());
        self.places.push(package.span);
    }

    /// One finding with a place for each package.
    pub(crate) fn report(self, context: &Context<'_>, findings: &mut Vec<Finding>) {
        let Self { names, places, written } = self;
        let (Some((&first, rest)), Some(written)) = (places.split_first(), written) else { return };
        let who = match names.as_slice() {
            [one] => format!("package {one} has"),
            [start @ .., last] if names.len() <= NAMED_PACKAGES => {
                format!("packages {} and {last} have", start.join(", "))
            }
            many => {
                let (start, rest) = many.split_at(NAMED_PACKAGES - 1);
                format!("packages {} and {} more have", start.join(", "), rest.len())
            }
        };
        let message = format!("{who} no version; write {written}");
        let finding = context.finding(first, message).with_more_places(rest.iter().copied());
        findings.push(finding);
    }
}

/// Adds a finding for every instruction with packages without a version; `shape` is how one is
/// written.
pub(crate) fn flag_unpinned(
    context: &Context<'_>,
    managers: &'static [Manager],
    shape: &str,
    findings: &mut Vec<Finding>,
) {
    let mut open: BTreeMap<usize, Unpinned> = BTreeMap::new();
    for (index, call) in calls(context, managers, &[Action::Install]) {
        let verb = words(context, index, call).and_then(|words| words.subcommand(&[]));
        let is_module = verb.as_deref() == Some("module");
        if has_no_versions(call, verb.as_deref()) {
            continue;
        }
        if is_module {
            // A module has streams, which are written as `NAME:STREAM`.
            for package in call.packages.iter().filter(|package| is_bare_module(package)) {
                let name = package.text.trim_matches(['"', '\'']);
                open.entry(index).or_default().add(package, name, "NAME:<stream>");
            }
            continue;
        }
        for (package, name) in unpinned(call) {
            open.entry(index).or_default().add(package, name, shape);
        }
    }
    for packages in open.into_values() {
        packages.report(context, findings);
    }
}

/// Whether a package of `module install` names no stream. What looks like a version is part of the name.
fn is_bare_module(package: &Package) -> bool {
    matches!(package.kind, PackageKind::Named { .. }) && !package.text.contains([':', '$'])
}

/// A group is a list that has no version, and a file of constraints is where versions are.
fn has_no_versions(call: &PackageCall, verb: Option<&str>) -> bool {
    matches!(verb, Some("groupinstall" | "group"))
        || call.manager == Manager::Pip && call.has_flag(&["-c", "--constraint"])
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
        let message = "without `-y` this fails in a non-interactive build";
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

/// The last stage and those it is based on: what their layers hold is in the image. What another
/// stage leaves behind is gone once something was copied from it.
pub(crate) fn stages_of_the_image(facts: &Facts) -> HashSet<usize> {
    let mut kept = HashSet::new();
    let mut next = facts.final_stage();
    while let Some(stage) = next.filter(|stage| kept.insert(stage.index)) {
        next = match stage.base {
            Base::Stage(base) => facts.stages().get(base),
            _ => None,
        };
    }
    kept
}

/// Whether the layers of an instruction are part of the image.
pub(crate) fn is_kept(context: &Context<'_>, kept: &HashSet<usize>, index: usize) -> bool {
    context.facts.stage_of(index).is_some_and(|stage| kept.contains(&stage.index))
}

/// Adds a finding, with a fix, for every `RUN` that installs and leaves the manager's downloads in the image: it
/// neither cleans up behind the last install, nor removes one of the directories there, nor mounts
/// something over one of them.
pub(crate) fn flag_left_behind(
    context: &Context<'_>,
    cleaning: &Cleaning<'_>,
    message: &str,
    findings: &mut Vec<Finding>,
) {
    let Cleaning { managers, directories, subcommand } = *cleaning;
    let kept = stages_of_the_image(context.facts);
    for (index, run) in context.runs().filter(|(index, _)| is_kept(context, &kept, *index)) {
        let calls = context.package_calls(index);
        if mounts(run, directories) {
            continue;
        }
        // Each manager has a cache of its own.
        let left = managers.iter().filter_map(|manager| {
            let own = || calls.iter().filter(|call| call.manager == *manager);
            let fetches =
                |call: &&PackageCall| matches!(call.action, Action::Install | Action::Upgrade);
            let last = own().filter(fetches).max_by_key(|call| call.span)?;
            let is_clean = own().any(|call| call.action == Action::Clean && call.span > last.span)
                || last_removal(context.scripts(index), directories)
                    .is_some_and(|removal| removal > last.span);
            (!is_clean).then_some(last)
        });
        let Some(last) = left.max_by_key(|call| call.span) else { continue };
        let finding = context.finding(last.span, message);
        let name = words(context, index, last).and_then(|call| call.name());
        let command = name.map(|name| format!("{name} {subcommand}"));
        let edit = command
            .filter(|_| is_run_by_root(context, index))
            .and_then(|command| shell_edits::append_command(context, index, &command));
        let fix = edit.map(|edit| Fix::suggestion("clean up after installing", vec![edit]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// Whether a command that is added to a `RUN` may do what only root may: no other user is asked for,
/// and nothing in it is run by `sudo` or the like.
pub(crate) fn is_run_by_root(context: &Context<'_>, index: usize) -> bool {
    const BY_ANOTHER: &[&str] = &["sudo", "doas", "su", "gosu", "su-exec", "runuser", "setpriv"];
    let user = context.facts.state(index).and_then(|state| state.user.as_deref());
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let calls = commands.map(|command| command.effective());
    let mut names = calls.flat_map(|call| call.wrappers.iter().chain(call.name_word()));
    (user.is_none() || base_image::is_root(context, index))
        && !names.any(|word| BY_ANOTHER.iter().any(|name| word.is(name)))
}

/// Whether a mount that leaves nothing in the image lies over one of the directories.
pub(crate) fn mounts(run: &Instruction, directories: &[&str]) -> bool {
    run.passing_mounts().any(|target| directories.iter().any(|directory| covers(target, directory)))
}

/// Whether any command removes one of these places.
pub(crate) fn removes(scripts: &[Script], places: &[&str]) -> bool {
    last_removal(scripts, places).is_some()
}

/// The last command that removes one of the directories or what is in it. It reads all commands, so a
/// rule asks once for an instruction.
pub(crate) fn last_removal(scripts: &[Script], directories: &[&str]) -> Option<Span> {
    let commands = scripts.iter().flat_map(|script| &script.commands);
    let removing = commands.filter(|command| {
        let call = command.effective();
        call.is_any(&["rm"])
            && call.positional(&[]).iter().filter_map(|word| word.pattern()).any(|path| {
                directories
                    .iter()
                    .any(|directory| covers(path.trim_end_matches(['*', '/']), directory))
            })
    });
    removing.map(|command| command.span).max()
}

/// Whether a directory is another one or lies above it. What is above nearly everything was hardly
/// meant.
fn covers(directory: &str, below: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    let rest = below.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) && directory.len() > 4
}

/// Cases that rules of several managers share.
#[cfg(test)]
pub(crate) mod cases {
    use crate::engine::harness::{check, fixes};

    /// What the rules about downloads of rpm packages flag, leave alone and append.
    pub(crate) fn rpm_downloads(rule: &str, program: &str) {
        // The carets stand under a program of three letters.
        assert_eq!(program.len(), 3);
        let named = |text: &str| text.replace("PRG", program);
        let flagged = r#"
FROM a
RUN PRG install -y x && (PRG -y "install" y) \
                         ^^^^^^^^^^^^^^^^^^ run `PRG clean all` after installing, in the same `RUN`
    && b
RUN <<EOF
PRG module install -y z:1
^^^^^^^^^^^^^^^^^^^^^^^^^ run `PRG clean all` after installing, in the same `RUN`
EOF
"#;
        check(rule, &named(flagged));
        for run in [
            "PRG install -y x && PRG clean all",
            "PRG group install -y x && rm -rf /var/cache/PRG/*",
            "--mount=type=cache,target=/var/cache/PRG PRG install -y x",
            "PRG makecache",
            "echo PRG install x",
        ] {
            check(rule, &format!("FROM a\nRUN {}\n", named(run)));
        }
        let before = r#"
FROM a
RUN PRG clean all && PRG install -y x
                     ^^^^^^^^^^^^^^^^ run `PRG clean all` after installing, in the same `RUN`
RUN rm -rf /var/cache/PRG && PRG up -y
                             ^^^^^^^^^ run `PRG clean all` after installing, in the same `RUN`
"#;
        check(rule, &named(before));
        check(rule, &named("FROM a\nRUN PRG clean all && PRG rei -y x && PRG clean all\n"));
        let elsewhere = "FROM a AS b\nRUN PRG install -y x\nFROM c\nCOPY --from=b /x /x\n";
        check(rule, &named(elsewhere));
        for (before, after) in [
            ("RUN PRG install -y x && a", "RUN PRG install -y x && a && PRG clean all"),
            (
                "RUN (PRG install -y x) > '&' # a",
                "RUN (PRG install -y x) > '&' && PRG clean all # a",
            ),
            (
                "RUN a \\\n  # why\n  && PRG install -y x \\\n  && b $X",
                "RUN a \\\n  # why\n  && PRG install -y x \\\n  && b $X \\\n  && PRG clean all",
            ),
            (
                "RUN <<EOF\nPRG install -y x\na\nEOF",
                "RUN <<EOF\nPRG install -y x\na && PRG clean all\nEOF",
            ),
            (
                r#"RUN ["sh", "-c", "PRG install -y x"]"#,
                r#"RUN ["sh", "-c", "PRG install -y x && PRG clean all"]"#,
            ),
            ("RUN PRG install -y x && exec a", "RUN PRG install -y x && exec a"),
            ("RUN PRG install -y x && a &", "RUN PRG install -y x && a &"),
            (
                "RUN PRG install -y x && cat <<EOF\na\nEOF",
                "RUN PRG install -y x && cat <<EOF\na\nEOF",
            ),
        ] {
            fixes(rule, &[(named(before).as_str(), named(after).as_str())]);
        }
    }

    /// What the rules about versions of rpm packages flag and leave alone.
    pub(crate) fn rpm_versions(rule: &str, program: &str) {
        // The carets stand under a program of three letters.
        assert_eq!(program.len(), 3);
        let flagged = r#"
FROM a
RUN a && PRG install -y "x" y-1.2
                        ^^^ package x has no version; write x-<version>
RUN (PRG -y install z)
                    ^ package z has no version; write z-<version>
RUN <<EOF
PRG install -y w
               ^ package w has no version; write w-<version>
EOF
ONBUILD RUN PRG install -y v
                           ^ package v has no version; write v-<version>
RUN PRG -y module install "u" t:1
                          ^^^ package u has no version; write u:<stream>
RUN PRG -y install s r-1 q && PRG install \
                   ^ packages s, q and p have no version; write s-<version>
                         ^ likewise
    p
    ^ likewise
RUN PRG install o n m l k
                ^ packages o, n and 3 more have no version; write o-<version>
                  ^ likewise
                    ^ likewise
                      ^ likewise
                        ^ likewise
"#;
        check(rule, &flagged.replace("PRG", program));
        for run in [
            "PRG install -y x-1.2",
            "PRG install -y ./x.rpm",
            "PRG install -y $X",
            "PRG install -y \"x-$V\"",
            "PRG groupinstall -y \"x y\"",
            "PRG group install -y \"x y\"",
            "PRG module install -y x:1/common",
            "PRG module enable x",
            "PRG remove x",
            "echo PRG install x",
        ] {
            check(rule, &format!("FROM a\nRUN {}\n", run.replace("PRG", program)));
        }
    }
}
