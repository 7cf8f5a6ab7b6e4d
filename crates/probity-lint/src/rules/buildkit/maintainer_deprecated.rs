//! MAINTAINER, which LABEL has replaced.

use probity_dockerfile::{Arguments, Instruction, Keyword, Setting};
use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, text::quoting::quoted};

rule! {
    /// # What it does
    ///
    /// Flags the `MAINTAINER` instruction.
    ///
    /// # Why it is bad
    ///
    /// `MAINTAINER` sets a single field that few tools read. It has been deprecated for years.
    /// `docker inspect` and registries show a label together with all other labels.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// MAINTAINER team@example.com
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// LABEL org.opencontainers.image.authors="team@example.com"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// LABEL org.opencontainers.image.authors="team@example.com"
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix replaces the instruction with the label
    /// `org.opencontainers.image.authors`. The image loses its author field and gets a label. This
    /// changes the output of `docker inspect` and what images built on this one inherit.
    ///
    /// probity offers no fix if:
    ///
    /// - the stage already sets that label;
    /// - a comment is inside the instruction.
    MaintainerDeprecated {
        name: "buildkit/MaintainerDeprecated",
        severity: Warning,
        category: BestPractice,
        fixes: Suggestion,
        equals: &["hadolint/DL4000"],
        url: "https://docs.docker.com/go/dockerfile/rule/maintainer-deprecated/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, maintainer) in context.each(Keyword::Maintainer) {
        let message = "Maintainer instruction is deprecated in favor of using label";
        let finding = context
            .finding(maintainer.keyword_span(), message)
            .with_detail(format!("The usual label is {LABEL}."));
        let fix = fix(context, index, maintainer);
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

const LABEL: &str = "org.opencontainers.image.authors";

fn fix(context: &Context<'_>, index: usize, maintainer: &Instruction) -> Option<Fix> {
    let Arguments::Text(Some(author)) = &maintainer.arguments else { return None };
    let runtime = context.facts.config(context.facts.stage_of(index)?.index)?;
    let taken = runtime.get(Setting::Label).iter().any(|label| label.entry.key == LABEL);
    if taken || !maintainer.inner_comments().is_empty() {
        return None;
    }
    let keyword = if maintainer.keyword_text() == "maintainer" { "label" } else { "LABEL" };
    let text = format!("{keyword} {LABEL}={}", quoted(&author.text, context.file.escape)?);
    let edit = Edit::replace(maintainer.keyword_span().to(author.span), text);
    Some(Fix::suggestion("Use a label", vec![edit]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

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

    #[test]
    fn the_name_is_written_as_it_was() {
        let label = "LABEL org.opencontainers.image.authors";
        let cases = [
            ("MAINTAINER A <a@b.c>", format!("{label}=\"A <a@b.c>\"")),
            (
                "maintainer \\\n  A \\\n  B",
                format!("{}=\"A   B\"", label.replace("LABEL", "label")),
            ),
            ("MAINTAINER \"A\" $B", format!("{label}=\"\\\"A\\\" \\$B\"")),
            ("MAINTAINER A \\\n # c\n B", "MAINTAINER A \\\n # c\n B".to_owned()),
            ("MAINTAINER A\nMAINTAINER B", format!("{label}=\"A\"\n{label}=\"B\"")),
        ];
        for (before, after) in cases {
            fixed(RULE, &format!("FROM a\n{before}\n"), &format!("FROM a\n{after}\n"));
        }
        let taken = format!("FROM a\n{label}=x\nMAINTAINER b\n");
        fixed(RULE, &taken, &taken);
    }
}
