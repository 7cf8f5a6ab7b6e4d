//! Instructions of which only the last one counts.

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, text::lines::whole_lines};

rule! {
    /// # What it does
    ///
    /// Flags a `CMD`, `ENTRYPOINT` or `HEALTHCHECK` that a later one in the same stage replaces.
    ///
    /// The rule checks each stage separately, so a stage may replace an instruction of the stage it
    /// is built from. The rule ignores instructions after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// An image has only one of each. The earlier instruction has no effect, but a reader cannot
    /// see that.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// CMD ["first"]
    /// CMD ["second"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// CMD ["second"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// ENTRYPOINT ["tool"]
    /// CMD ["--help"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix removes the instruction, which has no effect, and keeps the comments above it.
    /// probity offers no fix if:
    ///
    /// - a comment is inside the instruction;
    /// - a directive is above it, because the directive would then apply to the next instruction.
    MultipleInstructionsDisallowed {
        name: "buildkit/MultipleInstructionsDisallowed",
        severity: Warning,
        category: BestPractice,
        fixes: Safe,
        equals: &["hadolint/DL4003", "hadolint/DL4004", "hadolint/DL3012"],
        url: "https://docs.docker.com/go/dockerfile/rule/multiple-instructions-disallowed/",
    }
}

/// With what hadolint calls them.
const ONCE: [(Keyword, &str); 3] = [
    (Keyword::Cmd, "hadolint/DL4003"),
    (Keyword::Entrypoint, "hadolint/DL4004"),
    (Keyword::Healthcheck, "hadolint/DL3012"),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let stages = context.file.instructions.split(|found| found.keyword == Keyword::From);
    for stage in stages {
        for (keyword, alias) in ONCE {
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
                let finding = context
                    .finding(replaced.keyword_span(), message)
                    .with_alias(alias)
                    .with_related(last.keyword_span(), "this one will be used");
                let fix = fix(context, replaced);
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

fn fix(context: &Context<'_>, replaced: &Instruction) -> Option<Fix> {
    let text = context.file.text;
    let is_directive = |comment: &str| {
        ["ignore=", "skip=", "shell="].iter().any(|word| comment.to_lowercase().contains(word))
    };
    let mut comments = replaced.comments().iter().filter_map(|comment| comment.span.slice(text));
    if !replaced.inner_comments().is_empty() || comments.any(is_directive) {
        return None;
    }
    let edit = Edit::delete(whole_lines(text, replaced.span));
    Some(Fix::safe("Remove the instruction that has no effect", vec![edit]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

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

    #[test]
    fn what_has_no_effect_goes_and_its_comments_stay() {
        fixed(
            RULE,
            "FROM a\r\n# first\r\n  CMD [\"b\", \\\r\n    \"c\"]\r\nCMD d\r\n\r\ncmd e",
            "FROM a\r\n# first\r\n\r\ncmd e",
        );
        fixed(RULE, "FROM a\nCMD b\nENTRYPOINT c\nCMD d\n", "FROM a\nENTRYPOINT c\nCMD d\n");
        for kept in
            ["FROM a\nCMD b \\\n # c\n d\nCMD e\n", "FROM a\n# tally ignore=DL3025\nCMD b\nCMD e\n"]
        {
            fixed(RULE, kept, kept);
        }
    }
}
