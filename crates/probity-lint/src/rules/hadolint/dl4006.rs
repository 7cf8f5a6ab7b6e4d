//! Pipes whose failures go unnoticed.

use probity_dockerfile::Keyword;
use probity_finding::Finding;
use probity_shell::Command;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a pipe in a `RUN` whose shell does not have `pipefail` set, by `SHELL` or by `set -o
    /// pipefail` before it in the same text.
    ///
    /// The shell in force decides: that of `SHELL`, of a heredoc's shebang, or of the program that the
    /// heredoc is given to. PowerShell and the Windows command interpreter have no such option and are
    /// left alone.
    ///
    /// # Why it is bad
    ///
    /// The status of a pipe is that of its last command. When `wget` fails in `wget -O - URL | tar xz`,
    /// the build goes on with nothing.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN wget -O - https://example.com/a.tgz | tar xz
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// SHELL ["/bin/bash", "-o", "pipefail", "-c"]
    /// RUN wget -O - https://example.com/a.tgz | tar xz
    /// ```
    Dl4006 {
        name: "hadolint/DL4006",
        severity: Warning,
        category: Correctness,
        url: "https://github.com/hadolint/hadolint/wiki/DL4006",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            for pipeline in script.blocks.iter().flat_map(|block| &block.pipelines) {
                let Some(pipe) = pipeline.stages.iter().find_map(|stage| stage.pipe) else {
                    continue;
                };
                let is_inside = |it: &&Command| it.span.start >= pipeline.span.start;
                let first = script.commands.iter().find(is_inside);
                if !first.is_some_and(|command| script.options_at(command).pipefail) {
                    let message = "set the SHELL option -o pipefail before RUN with a pipe in it";
                    findings.push(context.finding(pipe, message));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

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
}
