//! Triggers that fail in the images that are built on this one.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ONBUILD` whose instruction does not exist or cannot be parsed.
    ///
    /// BuildKit rejects `ONBUILD ONBUILD`, `ONBUILD FROM` and `ONBUILD MAINTAINER` immediately.
    /// `hadolint/DL3043` reports those.
    ///
    /// # Why it is bad
    ///
    /// BuildKit does not parse the instruction when it builds this image. You can build and publish
    /// this image, but every build that starts `FROM` it fails.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM node:22
    /// ONBUILD COPPY package.json ./
    /// ONBUILD COPY package.json
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM node:22
    /// ONBUILD COPY package.json ./
    /// ```
    InvalidOnbuildTrigger {
        name: "probity/invalid-onbuild-trigger",
        severity: Error,
        category: Correctness,
        equals: &["tally/invalid-onbuild-trigger"],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in context.each(Keyword::Onbuild) {
        let Arguments::Onbuild(Some(trigger)) = &instruction.arguments else { continue };
        for error in trigger.trigger_errors() {
            let message =
                format!("images that are built on this one cannot be built: {}", error.message);
            let finding = context.finding(error.span, message);
            findings.push(match &error.help {
                Some(help) => finding.with_detail(help.clone()),
                None => finding,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "probity/invalid-onbuild-trigger";
    const SAYS: &str = "images that are built on this one cannot be built:";

    #[test]
    fn what_is_wrong_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
ONBUILD RNU make
        ^^^ {SAYS} unknown instruction: RNU
ONBUILD copy package.json
             ^^^^^^^^^^^^ {SAYS} COPY requires at least two arguments: sources and a destination
ONBUILD \\
  # why
  COPY --form=x a b
       ^^^^^^^^ {SAYS} unknown flag: --form
"
            ),
        );
        let found = run(RULE, "FROM a\nONBUILD COPPY a b\n");
        assert_eq!(found[0].detail.as_deref(), Some("did you mean COPY?"));
    }

    #[test]
    fn triggers_that_work_and_those_that_buildkit_rejects_are_silent() {
        check(RULE, "FROM a\nONBUILD RUN make\nONBUILD COPY --from=b . /x\nONBUILD ARG A\n");
        check(RULE, "FROM a\nONBUILD ONBUILD RUN x\nONBUILD FROM b\nONBUILD MAINTAINER c\n");
        check(RULE, "FROM a\nONBUILD\nONBUILD RUN <<EOF\nx\nEOF\n");
    }
}
