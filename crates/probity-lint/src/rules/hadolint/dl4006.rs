//! Pipes whose failures go unnoticed.

mod fix;

use probity_dockerfile::{Arguments, Command, Keyword};
use probity_finding::{Finding, Span};
use probity_shell::{Pipeline, Script, Stage, StageKind};

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags a pipe in a `RUN` whose shell does not have `pipefail` set.
    ///
    /// `SHELL` can set the option, and so can `set -o pipefail` earlier in the same script.
    ///
    /// The shell in effect decides. It comes from `SHELL`, from the shebang of a heredoc, or from
    /// the program that receives the heredoc. PowerShell and the Windows command interpreter do not
    /// have such an option, so the rule ignores them.
    ///
    /// # Why it is bad
    ///
    /// The exit status of a pipe is the status of its last command. If `wget` fails in
    /// `wget -O - URL | tar xz`, the build continues without the download.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN wget -O - https://example.com/a.tgz | tar xz
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// SHELL ["/bin/bash", "-o", "pipefail", "-c"]
    /// RUN wget -O - https://example.com/a.tgz | tar xz
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// SHELL ["/bin/bash", "-o", "pipefail", "-c"]
    /// RUN wget -O - https://example.com/a.tgz | tar xz
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: if a `SHELL` is in effect, the fix adds the option to it. Otherwise the fix
    /// inserts a `SHELL` before the first pipe of the stage, if the image is an official one whose
    /// shell is known.
    ///
    /// A build that ignored the failure now fails. Every later shell-form command of the stage,
    /// including `CMD`, runs in that shell.
    ///
    /// probity offers no fix if:
    ///
    /// - another shell runs the script: `sh -c '…'` or a heredoc with a shebang;
    /// - a `shell` directive in a comment sets the shell;
    /// - the shell also runs a pipe whose reader ends first, because the writer then fails:
    ///   `yes | …`, `… | head`, `… | grep -q x`.
    Dl4006 {
        name: "hadolint/DL4006",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL4006",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let fixes = fix::Fixes::default();
    for (index, run) in context.each(Keyword::Run) {
        let is_shell_form = matches!(run.arguments, Arguments::Command(Command::Shell(_)));
        if is_shell_form && base_image::shell_sets_pipefail(context, index) {
            continue;
        }
        for script in context.scripts(index) {
            for pipe in pipes(script) {
                let message = "set the SHELL option -o pipefail before RUN with a pipe in it";
                let finding = context.finding(pipe, message);
                let fix = fixes.of(context, index, script);
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

/// The first pipe of every pipeline whose failures go unnoticed.
fn pipes(script: &Script) -> Vec<Span> {
    let pipelines = script.blocks.iter().flat_map(|block| &block.pipelines);
    let unnoticed = pipelines.filter_map(|pipeline| {
        let pipe = pipeline.stages.iter().find_map(Stage::pipe)?;
        let first = first_command(script, pipeline).and_then(|index| script.commands.get(index));
        (!first.is_some_and(|command| script.options_at(command).pipefail)).then_some(pipe)
    });
    unnoticed.collect()
}

/// The index of the first command in a pipeline, at any depth.
fn first_command(script: &Script, pipeline: &Pipeline) -> Option<usize> {
    pipeline.stages.iter().find_map(|stage| match &stage.kind {
        StageKind::Command(index) => Some(*index),
        StageKind::Compound(compound) => {
            let mut blocks = compound.blocks.iter().filter_map(|&index| script.block(index));
            blocks.find_map(|block| block.commands().clone().next())
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, fixes};

    const RULE: &str = "hadolint/DL4006";
    const SAYS: &str = "set the SHELL option -o pipefail before RUN with a pipe in it";

    #[test]
    fn the_pipe_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN echo "a | b" && wget x \
      | tar xz | cat
      ^ {SAYS}
RUN (a; b |& c)
          ^^ {SAYS}
RUN <<EOF
x=$(a | b)
      ^ {SAYS}
EOF
SHELL ["/bin/bash", "-c"]
RUN a | b
      ^ {SAYS}
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN a | b; sh -c 'c | d'
                    ^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn the_option_counts_wherever_it_is_set() {
        check(RULE, "FROM a\nSHELL [\"/bin/ash\", \"-eo\", \"pipefail\", \"-c\"]\nRUN a | b\n");
        check(RULE, "FROM a\nRUN set -euo pipefail; a | b\n");
        check(RULE, "FROM a\nRUN bash -eo pipefail -c 'a | b'\n");
        check(RULE, "FROM a\nRUN <<EOF\n#!/bin/bash\nset -o pipefail\na | b\nEOF\n");
        check(
            RULE,
            "FROM a AS x\nSHELL [\"bash\", \"-o\", \"pipefail\", \"-c\"]\nFROM x\nRUN a | b\n",
        );
    }

    #[test]
    fn no_pipe_is_no_pipe() {
        check(RULE, "FROM a\nRUN a || b && echo 'a | b' \"c|d\"\nCMD a | b\n");
        check(RULE, "# escape=`\nFROM a\nSHELL [\"powershell\", \"-Command\"]\nRUN a | b\n");
    }

    #[test]
    fn one_shell_serves_the_stages() {
        let bash = "SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]";
        let cases = [
            (
                "RUN x\n# why\nRUN (a | b)\nRUN c | 'd' $E",
                format!("RUN x\n{bash}\n# why\nRUN (a | b)\nRUN c | 'd' $E"),
            ),
            (
                "RUN x\n\n# about the stage\n\n# hadolint ignore=DL3059\n\n# why\nRUN a | b",
                format!(
                    "RUN x\n\n# about the stage\n\n{bash}\n# hadolint ignore=DL3059\n\n# why\nRUN a | b"
                ),
            ),
            ("RUN a | grep b | sed 's/c/d/'", format!("{bash}\nRUN a | grep b | sed 's/c/d/'")),
            ("RUN a \\\n  # why\n  | b", format!("{bash}\nRUN a \\\n  # why\n  | b")),
            ("RUN <<EOF\na | b\nEOF", format!("{bash}\nRUN <<EOF\na | b\nEOF")),
            ("SHELL [\"/bin/bash\", \"-c\"]\nRUN a | b", format!("{bash}\nRUN a | b")),
        ];
        for (before, after) in &cases {
            fixes(RULE, &[(before, after)]);
        }
        let stages = |shell: &str| {
            format!("FROM node:20-alpine AS a\n{shell}RUN b | c\nFROM a\nRUN d | e\n")
        };
        let ash = "SHELL [\"/bin/ash\", \"-o\", \"pipefail\", \"-c\"]\n";
        fixed(RULE, &stages(""), &stages(ash));
    }

    #[test]
    fn other_shells_are_not_reached_by_it() {
        for text in [
            "RUN sh -c 'a | b'",
            "RUN <<EOF\n#!/bin/sh\na | b\nEOF",
            "RUN bash <<EOF\na | b\nEOF",
            "RUN yes | a",
            "RUN a | head -1",
            "RUN a | grep -q b",
            "RUN if a | grep -Fq b; then c; fi",
            "RUN a | sed 1q",
            "RUN a | b\nRUN c | head",
            "RUN a | b\nCMD c | head",
            "SHELL [\"/bin/bash\", \"-c\"]\nRUN a | b\nRUN c | head",
            "SHELL [\"/bin/sh\", \"-c\"]\nRUN a | b",
        ] {
            fixes(RULE, &[(text, text)]);
        }
        fixed(RULE, "FROM mine/tool:1\nRUN a | b\n", "FROM mine/tool:1\nRUN a | b\n");
    }
}
