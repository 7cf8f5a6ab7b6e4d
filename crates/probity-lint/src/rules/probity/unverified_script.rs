//! Scripts that run straight from the network.

use probity_finding::{Finding, Span};
use probity_shell::{Command, PartKind, Script};

use crate::{engine::context::Context, facts::downloads};

rule! {
    /// # What it does
    ///
    /// Flags a `curl` or `wget` whose output a shell or another interpreter runs.
    ///
    /// Examples are `curl … | sh`, `sh -c "$(curl …)"`, `bash <(curl …)` and `eval "$(curl …)"`.
    ///
    /// # Why it is bad
    ///
    /// In every build, the server decides which commands run as root in the image. If an attacker
    /// takes over the server or its domain, the build runs the attacker's script. Download the
    /// script to a file, compare its checksum with a known one, and then run the file.
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
    /// RUN curl -fsSLo install.sh https://example.com/install.sh \
    ///     && echo "<sha256>  install.sh" | sha256sum -c - \
    ///     && sh install.sh
    /// ```
    UnverifiedScript {
        name: "probity/unverified-script",
        severity: Warning,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        for script in context.scripts(index) {
            let spans = script.commands.iter().filter_map(|command| run_download(script, command));
            findings.extend(spans.map(|span| {
                let message = "nothing verifies this script before it runs; download it to a file, \
                               compare its checksum, then run the file";
                context.finding(span, message)
            }));
        }
    }
}

/// Where a download is written that this command passes on to an interpreter or runs itself.
fn run_download(script: &Script, command: &Command) -> Option<Span> {
    if downloads::is_download(command) {
        let is_run = downloads::readers(script, command).any(downloads::interprets);
        return is_run.then_some(command.span);
    }
    let runs =
        downloads::interprets(command) || command.effective().is_any(&[".", "eval", "source"]);
    let mut parts = command.words.iter().flat_map(|word| word.parts());
    let download = parts.find_map(|part| match part.kind {
        PartKind::Substitution { block, .. } | PartKind::ProcessSubstitution { block } => {
            script.commands_in(block).iter().find(|inner| downloads::is_download(inner))
        }
        _ => None,
    })?;
    runs.then_some(download.span)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unverified-script";
    const SAYS: &str = "nothing verifies this script before it runs; download it to a file, compare \
                        its checksum, then run the file";

    #[test]
    fn the_download_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN b && curl -fsSL https://c | sudo -E bash -
         ^^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN wget -qO- https://c | tee log | sh -s -- -y
    ^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN sh -c \"$(curl -fsSL https://c)\"
             ^^^^^^^^^^^^^^^^^^^^ {SAYS}
SHELL [\"/bin/bash\", \"-c\"]
RUN bash <(curl https://c) -y
           ^^^^^^^^^^^^^^ {SAYS}
RUN curl https://c | python3 -
    ^^^^^^^^^^^^^^ {SAYS}
ONBUILD RUN curl https://c | sh
            ^^^^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn other_downloads_are_silent() {
        for run in [
            "curl https://a | tar xz",
            "curl https://a | gpg --dearmor -o b",
            "curl -o a https://b && sh a",
            "version=\"$(curl https://a)\" && make",
            "echo b | sh",
            "echo \"$(curl https://a)\"",
            "sh -c 'curl -o a https://b'",
            "curl https://a | grep b",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
