//! MAINTAINER, which LABEL has replaced.

use probity_dockerfile::Keyword;
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags the instruction `MAINTAINER`.
    ///
    /// # Why it is bad
    ///
    /// It sets a field that few tools read, and only one of it. It has been deprecated for years; a
    /// label is found by `docker inspect` and by registries, together with all the others.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// MAINTAINER team@example.com
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// LABEL org.opencontainers.image.authors="team@example.com"
    /// ```
    MaintainerDeprecated {
        name: "buildkit/MaintainerDeprecated",
        severity: Warning,
        category: BestPractice,
        equals: &["hadolint/DL4000"],
        url: "https://docs.docker.com/go/dockerfile/rule/maintainer-deprecated/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, maintainer) in context.each(Keyword::Maintainer) {
        let message = "Maintainer instruction is deprecated in favor of using label";
        findings.push(
            context
                .finding(maintainer.keyword_span, message)
                .with_detail("The usual label is org.opencontainers.image.authors."),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "buildkit/MaintainerDeprecated";

    #[test]
    fn the_keyword_is_underlined() {
        check(
            RULE,
            r"
FROM a
MAINTAINER b
^^^^^^^^^^ Maintainer instruction is deprecated in favor of using label
  maintainer \
  ^^^^^^^^^^ Maintainer instruction is deprecated in favor of using label
    b
",
        );
    }

    #[test]
    fn labels_triggers_and_text_are_silent() {
        // Behind ONBUILD it is a syntax error, which says enough.
        check(
            RULE,
            "FROM a\nLABEL maintainer=b\nRUN MAINTAINER b\nONBUILD MAINTAINER b\n# MAINTAINER\n",
        );
    }
}
