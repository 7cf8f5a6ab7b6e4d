//! Instructions of which only the last one counts.

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `CMD`, `ENTRYPOINT` or `HEALTHCHECK` that a later one of the same stage replaces.
    ///
    /// Each stage counts for itself: a stage may replace what the stage it is built from has set.
    /// What stands behind `ONBUILD` is not looked at.
    ///
    /// # Why it is bad
    ///
    /// An image has one of each. The earlier instruction has no effect at all, but whoever reads it
    /// has no reason to doubt it.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// CMD ["first"]
    /// CMD ["second"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// ENTRYPOINT ["tool"]
    /// CMD ["--help"]
    /// ```
    MultipleInstructionsDisallowed {
        name: "buildkit/MultipleInstructionsDisallowed",
        severity: Warning,
        category: BestPractice,
        equals: &["hadolint/DL4003", "hadolint/DL4004", "hadolint/DL3012"],
        url: "https://docs.docker.com/go/dockerfile/rule/multiple-instructions-disallowed/",
    }
}

const ONCE: [Keyword; 3] = [Keyword::Cmd, Keyword::Entrypoint, Keyword::Healthcheck];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let stages = context.file.instructions.split(|found| found.keyword == Keyword::From);
    for stage in stages {
        for keyword in ONCE {
            let same: Vec<&Instruction> =
                stage.iter().filter(|found| found.keyword == keyword).collect();
            let Some((last, _)) = same.split_last() else { continue };
            for pair in same.windows(2) {
                let [replaced, by] = pair else { continue };
                // The message names the instruction that replaces, as that one is written.
                let message = format!(
                    "Multiple {} instructions should not be used in the same stage because only the \
                     last one will be used",
                    by.keyword_text()
                );
                findings.push(
                    context
                        .finding(replaced.keyword_span, message)
                        .with_related(last.keyword_span, "this one will be used"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{check, run};

    const RULE: &str = "buildkit/MultipleInstructionsDisallowed";

    #[test]
    fn the_keyword_of_what_is_replaced_is_underlined() {
        check(
            RULE,
            r#"
FROM a
CMD ["one"]
^^^ Multiple cmd instructions should not be used in the same stage because only the last one will be used
ENTRYPOINT \
^^^^^^^^^^ Multiple ENTRYPOINT instructions should not be used in the same stage because only the last one will be used
  ["two"]
HEALTHCHECK NONE
^^^^^^^^^^^ Multiple HEALTHCHECK instructions should not be used in the same stage because only the last one will be used
cmd ["three"]
ENTRYPOINT ["four"]
HEALTHCHECK CMD five
"#,
        );
    }

    #[test]
    fn the_one_that_wins_is_related() {
        let findings = run(RULE, "FROM a\nCMD 1\nCMD 2\nCMD 3\n");
        let places: Vec<_> = findings
            .iter()
            .map(|f| {
                (f.span.map(|span| span.start), f.related.iter().map(|r| r.span.start).collect())
            })
            .collect();
        assert_eq!(places, [(Some(7), vec![19]), (Some(13), vec![19])]);
    }

    #[test]
    fn stages_triggers_and_checks_do_not_mix() {
        check(RULE, "FROM a AS b\nCMD 1\nFROM b\nCMD 2\nONBUILD CMD 3\nHEALTHCHECK CMD 4\n");
        check(RULE, "FROM a\nRUN 1\nRUN 2\nENV A=1\nENV A=2\nENTRYPOINT 5\nCMD 6\n");
    }
}
