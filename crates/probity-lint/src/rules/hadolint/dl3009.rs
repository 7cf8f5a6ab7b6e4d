//! Package lists that stay in the image.

use probity_dockerfile::{Action, Base, Manager, PackageCall};
use probity_finding::{Finding, Fix};
use probity_shell::Script;

use crate::{engine::context::Context, facts::packages, text::shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags an `apt-get update` if the same `RUN` does not remove the package lists.
    ///
    /// The rule also checks `apt update` and `aptitude update`. `apt-get dist-clean` removes the
    /// lists too. The rule checks only the last stage and the stages that it is built on.
    ///
    /// The rule ignores the following, which hadolint flags:
    ///
    /// - stages that only serve `COPY --from`;
    /// - a `RUN` with a cache or tmpfs mount over the lists.
    ///
    /// # Why it is bad
    ///
    /// The lists take about 20 MB in an image layer. Removing them in a later `RUN` does not make
    /// the image smaller.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y curl=7.88.1
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y curl=7.88.1 && rm -rf /var/lib/apt/lists/*
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y curl=7.88.1 && rm -rf /var/lib/apt/lists/*
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix appends `&& rm -rf /var/lib/apt/lists/*` to the `RUN`. The removal runs
    /// only if the command before it succeeds, so it does not hide or cause a failure. If a later
    /// `RUN` starts a program that installs packages itself, that program no longer finds the
    /// lists.
    ///
    /// probity offers no fix if:
    ///
    /// - a later `RUN` uses the lists without its own `update`;
    /// - the user is not root, or the `RUN` uses `sudo` or a similar program;
    /// - the script ends with `exec`, `exit`, `return` or a background command (`&`);
    /// - a command in the script reads a here-document;
    /// - the script has a syntax error;
    /// - the `RUN` is in exec form and does not start a shell.
    Dl3009 {
        name: "hadolint/DL3009",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3009",
    }
}

const LISTS: &str = "/var/lib/apt/lists";
const VALUED: &[&str] = &["-o", "--option", "-c", "--config-file", "-t", "--target-release"];
const REMOVAL: &str = "rm -rf /var/lib/apt/lists/*";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let kept = packages::stages_of_the_image(context.facts);
    let uses = ListUses::of(context);
    for (index, run) in context.runs() {
        if !packages::is_kept(context, &kept, index)
            || run.passing_mounts().any(|target| covers(target, LISTS))
        {
            continue;
        }
        let mut updates =
            context.package_calls(index).iter().filter(|call| is_update(call)).peekable();
        if updates.peek().is_none() {
            continue;
        }
        let scripts = context.scripts(index);
        let removals: Vec<Option<usize>> = scripts.iter().map(last_removal).collect();
        let is_needed = uses.are_behind(context, index);
        let may_remove = !is_needed && packages::is_run_by_root(context, index);
        let edit =
            may_remove.then(|| shell_edits::append_command(context, index, REMOVAL)).flatten();
        for update in updates {
            // Which of several texts runs first is not known: `bash -c '…' && rm -rf …`.
            let is_clean = removals.iter().enumerate().any(|(index, last)| {
                let first = if index == update.script { update.command } else { 0 };
                last.is_some_and(|last| last >= first)
            });
            if !is_clean {
                let place = if is_needed {
                    "in the RUN that installs, with the update in it too"
                } else {
                    "at the end of this RUN"
                };
                let message = format!(
                    "delete the apt-get lists after installing something: \
                     rm -rf /var/lib/apt/lists/* {place}"
                );
                let finding = context.finding(update.span, message);
                let fix = edit.clone().map(|edit| Fix::suggestion("remove the lists", vec![edit]));
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

fn is_update(call: &PackageCall) -> bool {
    matches!(call.manager, Manager::AptGet | Manager::Apt | Manager::Aptitude)
        && call.action == Action::Update
}

/// Which stages use lists that they have not fetched, found in one pass over the file.
struct ListUses {
    /// For each stage, the last `RUN` that uses them.
    last: Vec<Option<usize>>,
    /// For each stage, whether one that is made from it does.
    above: Vec<bool>,
}

impl ListUses {
    fn of(context: &Context<'_>) -> Self {
        let stages = context.facts.stages();
        let mut last: Vec<Option<usize>> = vec![None; stages.len()];
        for (at, _) in context.runs().filter(|&(at, _)| uses_lists(context.scripts(at))) {
            let stage = context.facts.stage_of(at).and_then(|stage| last.get_mut(stage.index));
            if let Some(last) = stage {
                *last = Some(at);
            }
        }
        let mut above = vec![false; stages.len()];
        // A stage comes behind the one that it is made from.
        for stage in stages.iter().rev() {
            let Base::Stage(base) = stage.base else { continue };
            let uses = last.get(stage.index).copied().flatten().is_some()
                || above.get(stage.index).copied().unwrap_or_default();
            if let Some(above) = above.get_mut(base) {
                *above |= uses;
            }
        }
        Self { last, above }
    }

    /// Whether a later `RUN` of the stage, or of one made from it, uses the lists that this one
    /// leaves.
    fn are_behind(&self, context: &Context<'_>, index: usize) -> bool {
        let Some(stage) = context.facts.stage_of(index) else { return true };
        let last = self.last.get(stage.index).copied().flatten();
        last.is_some_and(|last| last > index)
            || self.above.get(stage.index).copied().unwrap_or_default()
    }
}

/// Whether something is asked of apt before the lists are fetched anew.
fn uses_lists(scripts: &[Script]) -> bool {
    const WITHOUT: &[&str] =
        &["autoclean", "autoremove", "clean", "dist-clean", "distclean", "purge", "remove"];
    let commands = scripts.iter().flat_map(|script| &script.commands);
    let calls = commands.map(|command| command.effective());
    let verbs = calls
        .filter(|call| call.is_any(&["apt", "apt-get", "apt-cache", "aptitude", "gdebi"]))
        .map(|call| call.subcommand(VALUED).unwrap_or_default());
    let mut verbs = verbs.filter(|verb| !WITHOUT.contains(&verb.as_ref()));
    verbs.next().is_some_and(|verb| verb != "update")
}

/// The index of the last command that removes the lists.
fn last_removal(script: &Script) -> Option<usize> {
    script.commands.iter().rposition(|command| {
        let call = command.effective();
        let by_apt = call.is_any(&["apt", "apt-get"])
            && matches!(call.subcommand(VALUED).as_deref(), Some("dist-clean" | "distclean"));
        let removes = call.is_any(&["rm"])
            && call.positional(&[]).iter().any(|word| {
                word.pattern().is_some_and(|path| covers(path.trim_end_matches(['*', '/']), LISTS))
            });
        // `find /var/lib/apt/lists -delete` and the like.
        let finds = command.words.iter().any(|word| word.is("find"))
            && command.words.iter().any(|word| word.prefix().starts_with(LISTS))
            && command.words.iter().any(|word| word.is("-delete") || word.is("rm"));
        by_apt || removes || finds
    })
}

/// Whether a directory is another one or lies above it.
fn covers(directory: &str, below: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    below.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && directory.len() > "/var".len()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, fixes};

    const RULE: &str = "hadolint/DL3009";
    const SAYS: &str = "delete the apt-get lists after installing something: \
                        rm -rf /var/lib/apt/lists/* at the end of this RUN";

    #[test]
    fn the_update_is_underlined_wherever_it_stands() {
        check(
            RULE,
            &format!(
                r#"
FROM a AS base
RUN (apt-get -qq update; true) && \
     ^^^^^^^^^^^^^^^^^^ {SAYS}
    apt-get install x
FROM base
RUN <<EOF
apt-get "update"
^^^^^^^^^^^^^^^^ {SAYS}
EOF
RUN rm -rf /var/lib/apt/lists/* && apt-get update
                                   ^^^^^^^^^^^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn cleaned_mounted_and_unused_stages_are_silent() {
        for run in [
            "apt-get update && x && rm -rf /var/lib/apt/lists/*",
            "apt-get update && rm -rf /var/lib/apt/lists",
            "apt-get update; apt-get install -y x; apt-get dist-clean",
            "apt-get update && apt-get -o A=b distclean",
            "apt-get update && rm -fr /tmp/x /var/lib/apt/lists/* /var/cache/*",
            "apt-get update && rm -rf /var/lib/apt",
            "apt-get update && find /var/lib/apt/lists -type f -delete",
            "apt-get update && find /var/lib/apt/lists -type f -exec rm {} +",
            "bash -c 'apt-get update && x' && rm -rf /var/lib/apt/lists/*",
            "--mount=type=cache,target=/var/lib/apt apt-get update",
            "--mount=type=tmpfs,target=/var/lib/apt/lists apt-get update",
            "echo apt-get update",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
        check(RULE, "FROM a AS b\nRUN apt-get update\nFROM c\nCOPY --from=b /x /x\n");
    }

    #[test]
    fn a_mention_of_the_lists_is_no_removal() {
        for behind in ["echo 'rm -rf /var/lib/apt/lists/*'", "rm -rf /var/lib/dpkg", "rm -rf $X"] {
            let run = format!("FROM a\nRUN apt-get update && {behind}\n");
            check(RULE, &format!("{run}    ^^^^^^^^^^^^^^ {SAYS}\n"));
        }
    }

    #[test]
    fn the_removal_comes_last() {
        let rm = super::REMOVAL;
        let cases = [
            ("RUN apt-get update", format!("RUN apt-get update && {rm}")),
            ("RUN \"apt-get\" update; a || b", format!("RUN \"apt-get\" update; a || b && {rm}")),
            ("RUN (apt-get update; a $X) # b", format!("RUN (apt-get update; a $X) && {rm} # b")),
            (
                "RUN apt-get update && \\\n    # why\n    a && \\\n    b",
                format!("RUN apt-get update && \\\n    # why\n    a && \\\n    b && \\\n    {rm}"),
            ),
            (
                "RUN set -e; apt-get update \\\n  # why\n  && b",
                format!("RUN set -e; apt-get update \\\n  # why\n  && b && {rm}"),
            ),
            (
                "RUN <<EOF\napt-get update\na\nEOF",
                format!("RUN <<EOF\napt-get update\na && {rm}\nEOF"),
            ),
            ("RUN bash -c 'apt-get update'", format!("RUN bash -c 'apt-get update' && {rm}")),
        ];
        for (before, after) in &cases {
            fixes(RULE, &[(before, after)]);
        }
        for text in [
            "RUN apt-get update && exec a",
            "RUN apt-get update &",
            "RUN apt-get update; cat <<EOF\na\nEOF",
            r#"RUN ["apt-get", "update"]"#,
        ] {
            fixes(RULE, &[(text, text)]);
        }
    }

    #[test]
    fn lists_that_are_used_later_and_those_of_others_stay() {
        for text in [
            "RUN apt-get update\nRUN apt-get install curl",
            "RUN apt-get update\nENV A=b\nRUN a && apt-get -y install curl",
            "RUN apt-get update\nRUN apt-get install a && apt-get update && rm -rf /var/lib/apt/lists/*",
            "RUN apt-get update\nRUN bash -c 'apt-get build-dep a'",
            "RUN apt-get update\nONBUILD RUN apt-get install a",
            "USER app\nRUN sudo apt-get update && sudo apt-get install a",
            "RUN sudo apt-get update",
        ] {
            fixes(RULE, &[(text, text)]);
        }
        let stages = |end: &str| {
            format!(
                "FROM debian:12 AS a\nRUN apt-get update{end}\nFROM debian:12\n\
                 RUN apt-get install b\nFROM a\nRUN apt-get remove c\n"
            )
        };
        fixed(RULE, &stages(""), &stages(" && rm -rf /var/lib/apt/lists/*"));
        let on_top = "FROM debian:12 AS a\nRUN apt-get update\nFROM a\nRUN apt-get install b\n";
        fixed(RULE, on_top, on_top);
    }
}
