//! Package lists that stay in the image.

use std::collections::HashSet;

use probity_dockerfile::{Action, Base, Facts, Keyword, Manager, PackageCall};
use probity_finding::Finding;
use probity_shell::Script;

use crate::context::Context;

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
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y curl=7.88.1 && rm -rf /var/lib/apt/lists/*
    /// ```
    Dl3009 {
        name: "hadolint/DL3009",
        severity: Info,
        category: Performance,
        url: "https://github.com/hadolint/hadolint/wiki/DL3009",
    }
}

const LISTS: &str = "/var/lib/apt/lists";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let kept = stages_of_the_image(context.facts);
    for (index, run) in context.each(Keyword::Run) {
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
                findings.push(context.finding(update.span, message));
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
    use crate::harness::check;

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
}
