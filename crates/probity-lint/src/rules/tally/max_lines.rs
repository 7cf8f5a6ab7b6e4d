//! A limit on the length of a Dockerfile.

use std::collections::HashSet;

use probity_dockerfile::TokenKind;
use probity_finding::{Finding, LineIndex};

use crate::engine::{
    context::Context,
    rule::{OptionKind, OptionSpec},
};

rule! {
    /// # What it does
    ///
    /// Flags a Dockerfile that has more lines than the limit.
    ///
    /// The rule is off by default, because each project needs its own limit. The option `max` sets
    /// the limit.
    ///
    /// # Why it is bad
    ///
    /// In a long Dockerfile, readers overlook mistakes. Move parts of it into stages with their own
    /// files, or into scripts that you can test.
    ///
    /// # Examples
    ///
    /// With `max = 2`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// WORKDIR /srv
    /// USER nobody
    /// ```
    ///
    /// ```dockerfile,good
    /// # Comments and blank lines are not counted.
    ///
    /// FROM debian:12
    /// USER nobody
    /// ```
    MaxLines {
        name: "tally/max-lines",
        severity: Off,
        category: Maintainability,
        options: &[
            OptionSpec {
                name: "max",
                kind: OptionKind::Integer,
                default: "50",
                about: "Maximum number of lines.",
            },
            OptionSpec {
                name: "skip-blank-lines",
                kind: OptionKind::Boolean,
                default: "true",
                about: "Do not count blank lines.",
            },
            OptionSpec {
                name: "skip-comments",
                kind: OptionKind::Boolean,
                default: "true",
                about: "Do not count comment lines.",
            },
        ],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let max = usize::try_from(context.integer("max")).unwrap_or_default();
    let lines = LineIndex::new(context.file.text);
    let is_comment = |kind| matches!(kind, TokenKind::Comment | TokenKind::Directive);
    let comments: HashSet<usize> = if context.boolean("skip-comments") {
        let tokens = context.file.tokens.iter().filter(|token| is_comment(token.kind));
        tokens.map(|token| lines.position(token.span.start).line).collect()
    } else {
        HashSet::new()
    };
    let skip_blank = context.boolean("skip-blank-lines");
    // The empty line behind the last line end is none that anybody wrote.
    let written =
        if context.file.text.ends_with('\n') { lines.line_count() - 1 } else { lines.line_count() };
    let counts = |line: &usize| {
        let is_blank = lines.line_text(*line).trim().is_empty();
        !(comments.contains(line) || skip_blank && is_blank)
    };
    let counted: Vec<usize> = (0..written).filter(counts).collect();
    if let Some(&first_over) = counted.get(max) {
        let message = format!("the file has {} lines, and {max} are allowed", counted.len());
        findings.push(context.finding(lines.line_span(first_over), message));
    }
}

#[cfg(test)]
mod tests {
    use crate::{OptionValue, engine::harness::run_with};

    fn lines(text: &str, options: &[(&str, OptionValue)]) -> Vec<String> {
        let found = run_with("tally/max-lines", text, |rules| {
            for (name, value) in options {
                rules.set_option("tally/max-lines", name, value);
            }
        });
        found.into_iter().map(|f| format!("{}: {}", f.span.unwrap().start, f.message)).collect()
    }

    #[test]
    fn the_first_line_too_many_is_the_place() {
        let max = |n| ("max", OptionValue::Integer(n));
        let no = |name| (name, OptionValue::Boolean(false));
        let text = "FROM a\n\n# c\nRUN <<E\n# not a comment\nE\n";
        assert_eq!(lines(text, &[max(4)]), [""; 0]);
        assert_eq!(lines(text, &[max(3)]), ["36: the file has 4 lines, and 3 are allowed"]);
        assert_eq!(lines(text, &[max(4), no("skip-comments")]).len(), 1);
        assert_eq!(lines(text, &[max(5), no("skip-blank-lines")]), [""; 0]);
        assert_eq!(lines(text, &[max(6), no("skip-comments"), no("skip-blank-lines")]), [""; 0]);
        assert_eq!(lines(text, &[max(5), no("skip-comments"), no("skip-blank-lines")]).len(), 1);
        assert_eq!(lines("FROM a", &[max(0)]), ["0: the file has 1 lines, and 0 are allowed"]);
    }
}
