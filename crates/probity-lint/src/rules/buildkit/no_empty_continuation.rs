//! No blank lines inside an instruction.

use probity_finding::{Edit, Finding, Fix};

use crate::{engine::context::Context, text::lines::whole_lines};

rule! {
    /// # What it does
    ///
    /// Flags a blank line between the lines of one instruction.
    ///
    /// probity reports one finding per instruction, at its first blank line, and lists the other
    /// blank lines with it. BuildKit reports the last line of the instruction instead, which may be
    /// far away.
    ///
    /// # Why it is bad
    ///
    /// The previous line ends with the escape character, so the instruction continues. But the
    /// blank line looks like the end of the instruction. If the escape character is a leftover, the
    /// next instruction silently becomes an argument of this one. BuildKit has announced that it
    /// will reject such files.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// RUN apk add --no-cache \
    ///
    ///     curl
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// RUN apk add --no-cache \
    ///     curl
    /// ```
    ///
    /// A comment line is not part of the instruction, so it may separate the lines:
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN apk add --no-cache \
    ///     # used by the health check
    ///     curl
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix removes the blank lines, as BuildKit does. If the escape character is the
    /// mistake, the fix keeps the effect of that mistake. Review the finding before you apply the
    /// fix.
    NoEmptyContinuation {
        name: "buildkit/NoEmptyContinuation",
        severity: Error,
        category: Correctness,
        fixes: Safe,
        url: "https://docs.docker.com/go/dockerfile/rule/no-empty-continuation/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for instruction in &context.file.instructions {
        let Some((&first, others)) = instruction.empty_continuations().split_first() else {
            continue;
        };
        let finding = context.finding(first, "Empty continuation line").with_detail(format!(
            "{} goes on behind this line; remove the line, or the escape character before it.",
            instruction.keyword_text()
        ));
        let add = |finding: Finding, &line| finding.with_related(line, "another blank line");
        let delete = |&line| Edit::delete(whole_lines(context.file.text, line));
        let edits = instruction.empty_continuations().iter().map(delete).collect();
        let finding = others.iter().fold(finding, add);
        findings.push(finding.with_fix(Fix::safe("Remove the blank lines", edits)));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "buildkit/NoEmptyContinuation";

    #[test]
    fn the_blank_line_is_underlined() {
        let blank = "  ";
        check(
            RULE,
            &format!(
                "FROM a\nRUN b \\\n{blank}\n^^ Empty continuation line\n  c\nonbuild run b \\\n{blank}\n^^ Empty continuation line\n c\n"
            ),
        );
    }

    #[test]
    fn an_instruction_is_reported_once_with_all_its_blank_lines() {
        let text = "FROM a\nRUN b \\\n\n\n  c \\\n \n d\n";
        let findings = run(RULE, text);
        let places: Vec<_> = findings.iter().filter_map(|finding| finding.span).collect();
        assert_eq!(
            places.iter().map(|span| (span.start, span.end)).collect::<Vec<_>>(),
            [(15, 15)]
        );
        let related: Vec<_> =
            findings.iter().flat_map(|finding| &finding.related).map(|r| r.span.start).collect();
        assert_eq!(related, [16, 23]);
    }

    #[test]
    fn all_blank_lines_go_and_line_ends_stay() {
        fixed(
            RULE,
            "FROM a\r\nRUN b \\\r\n\r\n  \r\n # c\r\n\r\n d\r\n\r\nUSER e\r\n",
            "FROM a\r\nRUN b \\\r\n # c\r\n d\r\n\r\nUSER e\r\n",
        );
        fixed(RULE, "FROM a\nRUN b \\\n  ", "FROM a\nRUN b \\\n");
        fixed(RULE, "FROM a\nRUN b \\\n\nCMD [\"c\"]\n", "FROM a\nRUN b \\\nCMD [\"c\"]\n");
    }

    #[test]
    fn an_escape_character_before_the_next_instruction_swallows_it() {
        let findings = run(RULE, "FROM a\nRUN b \\\n\nCMD [\"c\"]\n");
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn blank_lines_elsewhere_are_silent() {
        check(RULE, "\n\nFROM a\n\n  \nRUN b \\\n# comment\n  c\n\nRUN <<E\n\nx \\\n\nE\n");
        check(RULE, "# escape=`\n\nFROM a\nRUN b \\\n\nCMD c\n");
    }
}
