//! Ignoring hadolint in the file.

use probity_finding::{Finding, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `# hadolint ignore=…` comment.
    ///
    /// The rule also flags `# hadolint global ignore=…` and `# hadolint stage ignore=…`. It runs
    /// only if you enable it.
    ///
    /// # Why it is bad
    ///
    /// If someone other than the author decides on exceptions, a comment in the file must not
    /// override that decision.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// # hadolint ignore=DL3008
    /// RUN apt-get install -y curl
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get install -y curl=7.88.1
    /// ```
    Dl1001 {
        name: "hadolint/DL1001",
        severity: Off,
        category: BestPractice,
        url: "https://github.com/hadolint/hadolint/wiki/DL1001",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let instructions = context.file.instructions.iter();
    for comment in instructions
        .flat_map(|instruction| instruction.comments().iter().chain(instruction.inner_comments()))
    {
        let text = comment.text.slice(context.file.text).unwrap_or_default();
        if let Some(place) = pragma(text, comment.text) {
            let message = "do not ignore rules in the file";
            findings.push(context.finding(place, message));
        }
    }
}

/// `hadolint ignore=…`, also for the file and for a stage.
fn pragma(text: &str, at: Span) -> Option<Span> {
    let rest = text.strip_prefix("hadolint")?.trim_start();
    let rest =
        ["global", "stage"].iter().find_map(|scope| rest.strip_prefix(scope)).unwrap_or(rest);
    rest.trim_start().strip_prefix("ignore")?.trim_start().strip_prefix('=')?;
    Some(at)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL1001";

    #[test]
    fn the_pragma_is_underlined() {
        check(
            RULE,
            "\
FROM a
# hadolint ignore=DL3008
  ^^^^^^^^^^^^^^^^^^^^^^ do not ignore rules in the file
RUN b
# hadolint global ignore=DL3008,DL3009
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ do not ignore rules in the file
RUN c
",
        );
    }

    #[test]
    fn other_comments_are_silent() {
        check(RULE, "FROM a\n# hadolint shell=/bin/bash\n# do not hadolint ignore=x\nRUN b\n");
    }
}
