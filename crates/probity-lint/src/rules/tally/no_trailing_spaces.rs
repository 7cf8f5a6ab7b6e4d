//! No blanks at the end of a line.

use probity_dockerfile::TokenKind;
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    text::lines::lines,
};

rule! {
    /// # What it does
    ///
    /// Flags spaces and tabs at the end of a line.
    ///
    /// The rule ignores heredocs, because spaces are content there.
    ///
    /// # Why it is bad
    ///
    /// Nobody sees trailing spaces. Some editors remove them, and the diff then shows lines without
    /// a visible change. After a continuation character, they hide a mistake that other parsers
    /// reject.
    ///
    /// # Examples
    ///
    /// Each `·` represents a space:
    ///
    /// ```dockerfile,bad,dots
    /// FROM alpine:3.20··
    /// RUN apk add \·
    ///     curl·
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// RUN apk add \
    ///     curl
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN apk add curl
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix removes the spaces. BuildKit drops spaces at the end of an instruction and
    /// after a continuation character. Spaces before a continuation character separate words, so
    /// the fix keeps them.
    NoTrailingSpaces {
        name: "tally/no-trailing-spaces",
        severity: Style,
        category: Style,
        fixes: Safe,
        options: &[
            OptionSpec {
                name: "ignore-comments",
                kind: OptionKind::Boolean,
                default: "false",
                about: "Ignore spaces at the end of comment lines.",
            },
            OptionSpec {
                name: "skip-blank-lines",
                kind: OptionKind::Boolean,
                default: "false",
                about: "Ignore lines that contain only spaces.",
            },
        ],
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let skip_blank = context.boolean("skip-blank-lines");
    let ignore_comments = context.boolean("ignore-comments");
    let is_comment = |kind| matches!(kind, TokenKind::Comment | TokenKind::Directive);
    let comments: Vec<Span> = if ignore_comments {
        let tokens = context.file.tokens.iter().filter(|token| is_comment(token.kind));
        tokens.map(|token| token.span).collect()
    } else {
        Vec::new()
    };
    for line in lines(context.file).into_iter().filter(|line| !line.in_heredoc) {
        let content = line.text.trim_end_matches([' ', '\t']);
        let extra = Span::new(line.start + content.len(), line.start + line.text.len());
        let next = comments.partition_point(|comment| comment.end < extra.end);
        let in_comment = comments.get(next).is_some_and(|comment| comment.start <= extra.start);
        if extra.is_empty() || in_comment || (skip_blank && content.is_empty()) {
            continue;
        }
        let fix = Fix::safe("Remove the spaces", vec![Edit::delete(extra)]);
        findings.push(context.finding(extra, "trailing whitespace").with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use probity_finding::Applicability;

    use crate::{OptionValue, engine::harness::fix_with};

    fn fixed(text: &str, options: &[&str]) -> String {
        fix_with("tally/no-trailing-spaces", text, Applicability::Safe, |rules| {
            for option in options {
                rules.set_option("tally/no-trailing-spaces", option, &OptionValue::Boolean(true));
            }
        })
    }

    const FILE: &str = "# syntax=a:1 \r\nFROM a \t\r\n  \r\n# b  \r\nRUN c \\ \t\r\n \r\n  # d \r\n  \"e \\\r\n f\" \r\nCOPY <<E /g \r\nh  \r\n \r\nE \r\nE\r\nENV I j  k ";

    #[test]
    fn blanks_go_where_they_mean_nothing() {
        assert_eq!(
            fixed(FILE, &[]),
            "# syntax=a:1\r\nFROM a\r\n\r\n# b\r\nRUN c \\\r\n\r\n  # d\r\n  \"e \\\r\n f\"\r\nCOPY <<E /g\r\nh  \r\n \r\nE \r\nE\r\nENV I j  k"
        );
        let odd = "\u{feff} \nFROM a \nRUN b \\\\ \n";
        assert_eq!(fixed(odd, &[]), "\u{feff}\nFROM a\nRUN b \\\\\n");
        let escaped = "# escape=`\nFROM a\nRUN b ` \n c\\ \n";
        assert_eq!(fixed(escaped, &[]), "# escape=`\nFROM a\nRUN b `\n c\\\n");
    }

    #[test]
    fn comments_and_blank_lines_can_be_left_alone() {
        assert_eq!(
            fixed(FILE, &["ignore-comments"]),
            "# syntax=a:1 \r\nFROM a\r\n\r\n# b  \r\nRUN c \\\r\n\r\n  # d \r\n  \"e \\\r\n f\"\r\nCOPY <<E /g\r\nh  \r\n \r\nE \r\nE\r\nENV I j  k"
        );
        assert_eq!(
            fixed(FILE, &["skip-blank-lines"]),
            "# syntax=a:1\r\nFROM a\r\n  \r\n# b\r\nRUN c \\\r\n \r\n  # d\r\n  \"e \\\r\n f\"\r\nCOPY <<E /g\r\nh  \r\n \r\nE \r\nE\r\nENV I j  k"
        );
    }
}
