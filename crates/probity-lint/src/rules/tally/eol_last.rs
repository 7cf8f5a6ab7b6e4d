//! A line end at the end of the file.

use probity_dockerfile::TokenKind;
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    text::lines::line_end,
};

rule! {
    /// # What it does
    ///
    /// Flags a file that does not end with a newline.
    ///
    /// In the mode `never`, the rule flags a file that ends with a newline.
    ///
    /// # Why it is bad
    ///
    /// If a tool appends text to a file without a final newline, it joins two lines. The same
    /// happens when a tool concatenates files. A diff at the end of the file also shows a line that
    /// nobody changed.
    ///
    /// # Examples
    ///
    /// There is no newline after the last line:
    ///
    /// ```dockerfile,bad,no-line-end
    /// FROM alpine:3.20
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix adds or removes the newline, which is not part of an instruction. It uses the
    /// line-ending style of the file.
    ///
    /// The rule ignores a file that ends inside a heredoc.
    EolLast {
        name: "tally/eol-last",
        severity: Style,
        category: Style,
        fixes: Safe,
        options: &[OptionSpec {
            name: "mode",
            kind: OptionKind::OneOf(&["always", "never"]),
            default: "always",
            about: "`always` requires a newline at the end of the file; `never` forbids it.",
        }],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let text = context.file.text;
    let last = context.file.tokens.last();
    if last.is_none_or(|token| matches!(token.kind, TokenKind::HeredocBody | TokenKind::Bom)) {
        return;
    }
    let content = text.trim_end_matches(['\r', '\n']);
    let has_line_end = text.ends_with('\n');
    let end = Span::at(text.len());
    if context.word("mode") == "never" {
        let extra = Span::new(content.len(), text.len());
        // A file of nothing but blank lines is none that could end otherwise.
        if has_line_end && !content.is_empty() {
            let fix = Fix::safe("Remove the newline", vec![Edit::delete(extra)]);
            findings.push(context.finding(end, "file must not end with a newline").with_fix(fix));
        }
    } else if !has_line_end {
        let fix = Fix::safe("Add a newline", vec![Edit::insert(text.len(), line_end(text))]);
        findings.push(context.finding(end, "file must end with a newline").with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use probity_finding::Applicability;

    use crate::{OptionValue, engine::harness::fix_with};

    fn fixed(text: &str, mode: &str) -> String {
        fix_with("tally/eol-last", text, Applicability::Safe, |rules| {
            rules.set_option("tally/eol-last", "mode", &OptionValue::Text(mode.to_owned()));
        })
    }

    #[test]
    fn a_line_end_is_added_as_the_others_are_written() {
        for (before, after) in [
            ("FROM a", "FROM a\n"),
            ("FROM a\r\nUSER b", "FROM a\r\nUSER b\r\n"),
            ("FROM a\n# end", "FROM a\n# end\n"),
            ("FROM a\nRUN <<E\nb\nE", "FROM a\nRUN <<E\nb\nE\n"),
            ("FROM a\nRUN b \\", "FROM a\nRUN b \\\n"),
            ("FROM a\n  ", "FROM a\n  \n"),
            ("FROM a\nRUN <<E\nb", "FROM a\nRUN <<E\nb"),
            ("FROM a\n", "FROM a\n"),
            ("", ""),
            ("\u{feff}", "\u{feff}"),
        ] {
            assert_eq!(fixed(before, "always"), after, "{before:?}");
        }
    }

    #[test]
    fn the_other_mode_wants_none() {
        for (before, after) in [
            ("FROM a\n", "FROM a"),
            ("FROM a\r\n\r\n", "FROM a"),
            ("FROM a", "FROM a"),
            ("FROM a\nRUN <<E\nb\nE\n", "FROM a\nRUN <<E\nb\nE"),
            ("\n\n", "\n\n"),
        ] {
            assert_eq!(fixed(before, "never"), after, "{before:?}");
        }
    }
}
