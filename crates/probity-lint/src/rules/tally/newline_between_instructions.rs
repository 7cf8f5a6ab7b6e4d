//! Blank lines between instructions.

use probity_dockerfile::{Dockerfile, Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    text::lines::{Line, is_multi_line, line_end, lines, whole_lines},
};

rule! {
    /// # What it does
    ///
    /// Flags missing and extra blank lines between instructions.
    ///
    /// The option `mode` selects the style:
    ///
    /// - `grouped`: One blank line separates instructions of different kinds, and instructions of
    ///   the same kind are together. A blank line between two of the same kind is allowed if one of
    ///   them spans several lines or begins a stage. If a comment is between them, blank lines
    ///   around it are allowed.
    /// - `always`: A blank line follows every instruction.
    /// - `never`: There are no blank lines.
    ///
    /// # Why it is bad
    ///
    /// If blank lines follow one style, a reader recognizes the parts of the file by their shape.
    /// Each of the three modes achieves this.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// # what the tests need
    /// RUN apk add curl
    ///
    /// RUN apk add git
    /// USER nobody
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    ///
    /// # what the tests need
    /// RUN apk add curl
    /// RUN apk add git
    ///
    /// USER nobody
    /// ```
    ///
    /// ```dockerfile,good
    /// ARG VERSION=3.20
    ///
    /// FROM alpine:${VERSION}
    ///
    /// RUN apk add curl
    /// RUN apk add git
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix adds or removes blank lines, which have no meaning between instructions. It
    /// puts a blank line above the comments of an instruction and never between them.
    NewlineBetweenInstructions {
        name: "tally/newline-between-instructions",
        severity: Style,
        category: Style,
        fixes: Safe,
        options: &[OptionSpec {
            name: "mode",
            kind: OptionKind::OneOf(&["grouped", "always", "never"]),
            default: "grouped",
            about: "Where blank lines belong; see above.",
        }],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mode = context.word("mode");
    let file = context.file;
    let lines = lines(file);
    for pair in file.instructions.windows(2) {
        let [before, after] = pair else { continue };
        if [before, after].iter().any(|instruction| instruction.keyword == Keyword::Unknown) {
            continue;
        }
        let gap = Gap::between(file, &lines, before, after);
        let count = gap.blanks.len();
        let same_kind = before.keyword == after.keyword;
        // How many blank lines there may be, at least and at most.
        let (least, most) = match mode {
            "never" => (0, 0),
            "always" => (1, usize::MAX),
            _ if gap.has_comment => (usize::from(!same_kind), usize::MAX),
            _ if same_kind => (0, usize::from(is_large(file, before) || is_large(file, after))),
            _ => (1, 1),
        };
        let names = format!("between {} and {}", before.keyword, after.keyword);
        let (message, fix) = if count < least {
            let edit = Edit::insert(gap.start, line_end(file.text));
            (format!("expected blank line {names}"), Fix::safe("Add a blank line", vec![edit]))
        } else if count > most {
            let message = match most {
                0 => format!("unexpected blank line {names}"),
                _ => format!("expected 1 blank line {names}, found {count}"),
            };
            (message, Fix::safe("Remove blank lines", gap.surplus(most)))
        } else {
            continue;
        };
        findings.push(context.finding(after.keyword_span(), message).with_fix(fix));
    }
}

/// Whether a blank line beside an instruction helps the reader: it goes over several lines, or it
/// begins a stage.
fn is_large(file: &Dockerfile<'_>, instruction: &Instruction) -> bool {
    instruction.keyword == Keyword::From || is_multi_line(file, instruction)
}

/// What stands between two instructions.
struct Gap {
    start: usize,
    blanks: Vec<Span>,
    has_comment: bool,
}

impl Gap {
    fn between(
        file: &Dockerfile<'_>,
        lines: &[Line<'_>],
        before: &Instruction,
        after: &Instruction,
    ) -> Self {
        let start = whole_lines(file.text, before.span).end;
        let end = whole_lines(file.text, Span::at(after.span.start)).start.max(start);
        let from = lines.partition_point(|line| line.start < start);
        let to = lines.partition_point(|line| line.start < end).max(from);
        let inside = lines.get(from..to).unwrap_or_default();
        let blanks: Vec<Span> = inside
            .iter()
            .filter(|line| line.is_blank())
            .map(|line| Span::new(line.start, line.end))
            .collect();
        Self { start, has_comment: blanks.len() < inside.len(), blanks }
    }

    /// Deletes all blank lines but the first `kept`, each run of them at once.
    fn surplus(&self, kept: usize) -> Vec<Edit> {
        let mut runs: Vec<Span> = Vec::new();
        for &blank in self.blanks.iter().skip(kept) {
            match runs.last_mut() {
                Some(run) if run.end == blank.start => run.end = blank.end,
                _ => runs.push(blank),
            }
        }
        runs.into_iter().map(Edit::delete).collect()
    }
}

#[cfg(test)]
mod tests {
    use probity_finding::Applicability;

    use crate::{
        OptionValue,
        engine::harness::{check, fix_with},
    };

    const RULE: &str = "tally/newline-between-instructions";

    fn fixed(mode: &str, before: &str, after: &str) {
        let actual = fix_with(RULE, before, Applicability::Safe, |rules| {
            rules.set_option(RULE, "mode", &OptionValue::Text(mode.to_owned()));
        });
        assert_eq!(actual, after, "{mode}: {before:?}");
    }

    #[test]
    fn the_keyword_behind_the_gap_is_underlined() {
        check(
            RULE,
            "FROM a\nRUN b\n^^^ expected blank line between FROM and RUN\n\nRUN c\n^^^ unexpected blank line between RUN and RUN\n\n\nUSER d\n^^^^ expected 1 blank line between RUN and USER, found 2\nFORM e\n",
        );
    }

    #[test]
    fn kinds_are_grouped() {
        fixed("grouped", "FROM a\nRUN b\n", "FROM a\n\nRUN b\n");
        fixed("grouped", "FROM a\r\n# c\r\nRUN b\r\n", "FROM a\r\n\r\n# c\r\nRUN b\r\n");
        fixed("grouped", "FROM a\n\n\n\nRUN b\n\n \nrun c\n", "FROM a\n\nRUN b\nrun c\n");
        for kept in ["RUN a\n\n# c\nRUN b\n", "RUN a\n# c\n\nRUN b\n", "RUN a\n# c\nRUN b\n"] {
            fixed("grouped", &format!("FROM a\n\n{kept}"), &format!("FROM a\n\n{kept}"));
        }
        fixed("grouped", "FROM a\n# c\n\nRUN b\n", "FROM a\n# c\n\nRUN b\n");
        // What goes over several lines, and what begins a stage, may stand apart.
        for kept in
            ["RUN a \\\n  b\n\nRUN c\n", "RUN a\n\nRUN b \\\n  c\n", "RUN <<E\nE\n\nRUN <<E\nE\n"]
        {
            fixed("grouped", &format!("FROM a\n\n{kept}"), &format!("FROM a\n\n{kept}"));
        }
        fixed("grouped", "FROM a\n\nFROM b\nFROM c\n", "FROM a\n\nFROM b\nFROM c\n");
        fixed(
            "grouped",
            "FROM a\n\nRUN b \\\n c\n\n\nRUN d\n",
            "FROM a\n\nRUN b \\\n c\n\nRUN d\n",
        );
        fixed(
            "grouped",
            "FROM a\nCOPY <<E /b\n\nE\nRUN c \\\n\n  d\n  USER e",
            "FROM a\n\nCOPY <<E /b\n\nE\n\nRUN c \\\n\n  d\n\n  USER e",
        );
    }

    #[test]
    fn the_other_modes() {
        fixed(
            "always",
            "FROM a\nRUN b\nRUN c\n\n\nRUN d\n",
            "FROM a\n\nRUN b\n\nRUN c\n\n\nRUN d\n",
        );
        fixed("never", "FROM a\n\n# c\n\n\nRUN b\n\nRUN d\n\n", "FROM a\n# c\nRUN b\nRUN d\n\n");
    }
}
