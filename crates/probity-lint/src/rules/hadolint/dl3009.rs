//! Package lists that stay in the image.

use std::collections::HashSet;

use probity_dockerfile::{Action, Base, Facts, Manager, PackageCall};
use probity_finding::{Finding, Fix};
use probity_shell::Script;

use crate::{context::Context, shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags an `apt-get update` whose lists are not removed in the same `RUN`, in a stage that the
    /// image is built on.
    ///
    /// Stages that only serve `COPY --from` are left alone, and so is a `RUN` with a cache or memory
    /// mount over the lists, which hadolint flags.
    ///
    /// # Why it is bad
    ///
    /// The lists take some twenty megabytes in a layer of the image, and removing them in a later
    /// `RUN` gives nothing back.
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
    /// A suggestion: a later `RUN` that installs without an `update` of its own finds no lists any
    /// more, and fails. The removal comes last in the `RUN`, joined by `&&`, so that it neither hides a
    /// failure nor makes one. There is no fix where the end of the text is not the end of what runs:
    /// behind `exec` and `&`, with a here-document within the text, and in exec form.
    Dl3009 {
        name: "hadolint/DL3009",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3009",
    }
}

const LISTS: &str = "/var/lib/apt/lists";
const REMOVAL: &str = "rm -rf /var/lib/apt/lists/*";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let kept = stages_of_the_image(context.facts);
    for (index, run) in context.runs() {
        let is_kept = context.facts.stage_of(index).is_some_and(|it| kept.contains(&it.index));
        if !is_kept || run.passing_mounts().any(|target| covers(target, LISTS)) {
            continue;
        }
        let scripts = context.scripts(index);
        for update in context.package_calls(index).iter().filter(|call| is_update(call)) {
            // Which of several texts runs first is not known: `bash -c '…' && rm -rf …`.
            let is_clean = scripts.iter().enumerate().any(|(index, script)| {
                let first = if index == update.script { update.command } else { 0 };
                cleans_from(script, first)
            });
            if !is_clean {
                let message = "delete the apt-get lists after installing something: \
                               rm -rf /var/lib/apt/lists/* at the end of this RUN";
                let finding = context.finding(update.span, message);
                let edit = shell_edits::append_command(context, index, REMOVAL);
                let fix = edit.map(|it| Fix::suggestion("remove the lists", vec![it]));
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

/// The last stage and those it is based on.
fn stages_of_the_image(facts: &Facts) -> HashSet<usize> {
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

fn is_update(call: &PackageCall) -> bool {
    matches!(call.manager, Manager::AptGet | Manager::Apt) && call.action == Action::Update
}

/// Whether a command from this one on removes the lists.
fn cleans_from(script: &Script, first: usize) -> bool {
    script.commands.iter().skip(first).any(|command| {
        let call = command.effective();
        let removes = call.is_any(&["rm"])
            && call.positional(&[]).iter().any(|word| {
                word.pattern().is_some_and(|path| covers(path.trim_end_matches(['*', '/']), LISTS))
            });
        // `find /var/lib/apt/lists -delete` and the like.
        let finds = command.words.iter().any(|word| word.is("find"))
            && command.words.iter().any(|word| word.prefix().starts_with(LISTS))
            && command.words.iter().any(|word| word.is("-delete") || word.is("rm"));
        removes || finds
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
    use crate::harness::{check, fixes};

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
            ("RUN <<EOF\napt-get update\na\nEOF", format!("RUN <<EOF\napt-get update\na && {rm}\nEOF")),
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
}
