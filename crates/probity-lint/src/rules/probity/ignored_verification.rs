//! Verifications whose failure nobody notices.

use probity_dockerfile::Keyword;
use probity_finding::{Finding, Span};
use probity_shell::{Command, Joiner, Script, StageKind};

use crate::{engine::context::Context, facts::downloads::verifies};

rule! {
    /// # What it does
    ///
    /// Flags a signature or checksum check whose failure the script ignores.
    ///
    /// Examples are `gpg --verify`, `sha256sum -c`, `cosign verify` and `minisign -V` before
    /// `|| true`, `|| :`, `|| echo …` or `|| printf …`.
    ///
    /// # Why it is bad
    ///
    /// The check has no effect. If an attacker replaces the file, the build installs it anyway.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSLO https://example.com/tool && (sha256sum -c tool.sha256 || true)
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN curl -fsSLO https://example.com/tool && sha256sum -c tool.sha256
    /// ```
    IgnoredVerification {
        name: "probity/ignored-verification",
        severity: Warning,
        category: Security,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for script in context.scripts(index) {
            let ignored = script.commands.iter().filter_map(|command| ignored(script, command));
            findings.extend(ignored.map(|span| {
                context.finding(span, "the failure of this check is ignored; let it end the build")
            }));
        }
    }
}

fn ignored(script: &Script, command: &Command) -> Option<Span> {
    let next = script.next_pipeline(command.place).filter(|next| next.joiner == Joiner::Or)?;
    let StageKind::Command(answer) = next.stages.first()?.kind else { return None };
    let answer = script.commands.get(answer)?;
    let goes_on = answer.call().is_any(&["true", ":", "echo", "printf"]);
    // `|| echo … && exit 1` ends the build after all.
    let ends = script.next_pipeline(answer.place).is_some_and(|next| next.joiner == Joiner::And);
    (verifies(command) && goes_on && !ends).then(|| command.effective().span()).flatten()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/ignored-verification";
    const SAYS: &str = "the failure of this check is ignored; let it end the build";

    #[test]
    fn the_check_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN b; gpg --batch --verify c.asc c || true; d
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
RUN echo \"$x  c\" | sha256sum -c - || echo bad
                   ^^^^^^^^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn checks_that_count_are_silent() {
        for run in [
            "gpg --verify a b",
            "sha256sum -c a || exit 1",
            "sha256sum -c a || { echo bad; exit 1; }",
            "sha256sum -c a || echo bad && exit 1",
            "sha256sum a || true",
            "gpg --recv-keys a || true",
            "rm a || true",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
