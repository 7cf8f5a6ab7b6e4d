//! Downloads that fail within a pipe.

use probity_dockerfile::Keyword;
use probity_finding::Finding;
use probity_shell::{Command, Script};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `curl` or `wget` in a `RUN` that writes into a pipe without `pipefail`.
    ///
    /// The rule ignores downloads inside substitutions, loops and other blocks. `hadolint/DL4006`
    /// reports every pipe without `pipefail`. This rule reports only downloads, because their
    /// failure matters most.
    ///
    /// # Why it is bad
    ///
    /// A pipe returns the exit status of its last command. If the download stops early, `sh` runs
    /// part of a script. If the download fails at once, `tar` or `bash` reads nothing and may
    /// succeed. The build then continues.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSL https://example.com/install.sh | sh
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// SHELL ["/bin/bash", "-o", "pipefail", "-c"]
    /// RUN curl -fsSL https://example.com/install.sh | sh
    /// ```
    UnnoticedDownloadFailure {
        name: "probity/unnoticed-download-failure",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            let downloads = script.commands.iter().filter(|command| is_unnoticed(script, command));
            findings.extend(downloads.map(|command| {
                let message =
                    "if this download fails, the build continues; set `pipefail` or download to a file";
                context.finding(command.span, message)
            }));
        }
    }
}

fn is_unnoticed(script: &Script, command: &Command) -> bool {
    let Some(pipeline) = script.pipeline(command.place) else { return false };
    let feeds_another = command.place.stage() + 1 < pipeline.stages.len();
    let has_option = script.options_at(command).pipefail;
    // In `x="$(curl … | grep …)"` what is missing shows in the text.
    let is_inner = command.place.block() != 0;
    let is_download = command.effective().is_any(&["curl", "wget"]);
    is_download && feeds_another && !has_option && !is_inner && script.invocation.dialect.is_posix()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unnoticed-download-failure";
    const SAYS: &str =
        "if this download fails, the build continues; set `pipefail` or download to a file";

    #[test]
    fn the_download_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN b && curl -fsSL https://c | tar xz
         ^^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN set -eux; wget -qO- https://c | gpg --dearmor > d
              ^^^^^^^^^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn other_pipes_and_those_with_the_option_are_silent() {
        for run in [
            "echo a | curl -d @- https://b",
            "echo \"$x *a\" | sha256sum -c -",
            "set -eo pipefail; curl https://a | sh",
            "curl -o a https://b && tar xf a",
            "v=\"$(curl https://a | grep b)\" && test -n \"$v\"",
            "curl https://a || echo b",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
        check(RULE, "FROM a\nSHELL [\"bash\", \"-o\", \"pipefail\", \"-c\"]\nRUN curl a | sh\n");
    }
}
