//! No more blank lines in a row than are needed.

use probity_dockerfile::{Dockerfile, TokenKind};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    text::lines::{Line, lines},
};

rule! {
    /// # What it does
    ///
    /// Flags more blank lines in a row than the options allow.
    ///
    /// There are options for the start of the file, its end, and all other places. The rule ignores
    /// blank lines in a heredoc, because they are content. `buildkit/NoEmptyContinuation` reports
    /// blank lines inside an instruction.
    ///
    /// # Why it is bad
    ///
    /// One blank line is enough to separate two parts. More blank lines push related lines off the
    /// screen.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    ///
    ///
    /// USER nobody
    ///
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    ///
    /// USER nobody
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    ///
    /// USER nobody
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix removes the extra blank lines, which have no meaning between instructions.
    ///
    /// A blank line can keep a comment such as `# escape=x` from becoming a parser directive. The
    /// rule does not report or remove such a line.
    NoMultipleEmptyLines {
        name: "tally/no-multiple-empty-lines",
        severity: Style,
        category: Style,
        fixes: Safe,
        options: &[
            OptionSpec {
                name: "max",
                kind: OptionKind::Integer,
                default: "1",
                about: "Maximum number of blank lines in a row.",
            },
            OptionSpec {
                name: "max-bof",
                kind: OptionKind::Integer,
                default: "0",
                about: "Maximum number of blank lines at the beginning of the file.",
            },
            OptionSpec {
                name: "max-eof",
                kind: OptionKind::Integer,
                default: "0",
                about: "Maximum number of blank lines at the end of the file.",
            },
        ],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let lines = lines(context.file);
    let inside: Vec<usize> = context
        .file
        .instructions
        .iter()
        .flat_map(|instruction| instruction.empty_continuations())
        .map(|blank| blank.start)
        .collect();
    let counts = |line: &Line<'_>| line.is_blank() && inside.binary_search(&line.start).is_err();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let run = lines.iter().skip(at).take_while(|line| counts(line)).count();
        let (first, end) = (at, at + run);
        at += run.max(1);
        let (at_begin, at_end) = (first == 0, end == lines.len());
        // A file of blank lines alone has other problems.
        if run == 0 || (at_begin && at_end) {
            continue;
        }
        let (option, place) = match (at_begin, at_end) {
            (true, _) => ("max-bof", " at beginning of file"),
            (_, true) => ("max-eof", " at end of file"),
            _ => ("max", ""),
        };
        let max = usize::try_from(context.integer(option)).unwrap_or_default();
        let guard = usize::from(hides_a_directive(context.file, line.start, lines.get(end)));
        let kept = max.max(guard).min(run);
        let (Some(surplus), Some(last)) = (lines.get(first + kept), lines.get(end - 1)) else {
            continue;
        };
        if run > kept {
            let message = format!("too many blank lines{place} ({run}), maximum allowed is {max}");
            let extra = Span::new(surplus.start, last.end);
            let fix = Fix::safe("Remove blank lines", vec![Edit::delete(extra)]);
            findings.push(context.finding(extra, message).with_fix(fix));
        }
    }
}

/// Whether the line behind a run of blank lines would become a parser directive without them.
fn hides_a_directive(file: &Dockerfile<'_>, start: usize, next: Option<&Line<'_>>) -> bool {
    let is_header = |kind| {
        use TokenKind::{Bom, Directive, LineEnd, Whitespace};
        matches!(kind, Bom | Directive | LineEnd | Whitespace)
    };
    let mut before = file.tokens.iter().take_while(|token| token.span.start < start);
    let may_be =
        |line: &&Line<'_>| line.text.trim_start().starts_with('#') && line.text.contains('=');
    before.all(|token| is_header(token.kind)) && next.filter(may_be).is_some()
}

#[cfg(test)]
mod tests {
    use probity_finding::Applicability;

    use crate::{OptionValue, engine::harness::fix_with};

    fn fixed(text: &str, options: &[(&str, i64)]) -> String {
        let rule = "tally/no-multiple-empty-lines";
        fix_with(rule, text, Applicability::Safe, |rules| {
            for (name, value) in options {
                rules.set_option(rule, name, &OptionValue::Integer(*value));
            }
        })
    }

    #[test]
    fn the_surplus_goes() {
        for (before, after) in [
            ("\n \nFROM a\n", "FROM a\n"),
            ("\u{feff}\nFROM a\n", "\u{feff}FROM a\n"),
            ("FROM a\r\n\r\n\r\nUSER b\r\n\r\n", "FROM a\r\n\r\nUSER b\r\n"),
            ("FROM a\n\n  ", "FROM a\n"),
            ("FROM a\n\n\n\n# b\n\n\n\nUSER c\n", "FROM a\n\n# b\n\nUSER c\n"),
            ("FROM a\nRUN <<E\n\n\n\nE\n", "FROM a\nRUN <<E\n\n\n\nE\n"),
            ("FROM a\nRUN b \\\n\n\n\n c\n", "FROM a\nRUN b \\\n\n\n\n c\n"),
            ("\n\n", "\n\n"),
        ] {
            assert_eq!(fixed(before, &[]), after, "{before:?}");
        }
    }

    #[test]
    fn a_comment_does_not_become_a_directive() {
        for text in
            ["\n# syntax=a\nFROM b\n", "\n# escape=`\nFROM b\n", "\n#check=skip=all\nFROM b\n"]
        {
            assert_eq!(fixed(text, &[]), text, "{text:?}");
            assert_eq!(fixed(&format!("\n{text}"), &[]), text, "{text:?}");
        }
        let later = "# syntax=a\n\n# escape=`\nFROM b\n";
        assert_eq!(fixed(later, &[("max", 0)]), later);
        assert_eq!(fixed("# a\n\n# b=c\nFROM b\n", &[("max", 0)]), "# a\n# b=c\nFROM b\n");
    }

    #[test]
    fn the_options_decide() {
        let text = "\n\n\nFROM a\n\n\n\nUSER b\n\n\n\n";
        assert_eq!(
            fixed(text, &[("max", 2), ("max-bof", 1), ("max-eof", 3)]),
            "\nFROM a\n\n\nUSER b\n\n\n\n"
        );
        assert_eq!(fixed(text, &[("max", 0)]), "FROM a\nUSER b\n");
    }
}
