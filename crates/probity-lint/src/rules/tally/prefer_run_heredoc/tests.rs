//! What becomes a heredoc, and what would mean something else as one.

use crate::{
    OptionValue,
    engine::harness::{check, fixed, fixes, run_with},
};

const RULE: &str = "tally/prefer-run-heredoc";

#[test]
fn the_keyword_is_underlined() {
    check(
        RULE,
        "\
FROM a
RUN a && b \\
^^^ 3 commands make a script; write it as a heredoc
  && (c; d)
RUN a && b
RUN a; b; c
RUN echo 'a && b && c && d'
RUN <<EOF
a && b && c
EOF
",
    );
    let said = |text: &str, option: &str, value: bool| -> Vec<String> {
        let value = OptionValue::Boolean(value);
        let found = run_with(RULE, text, |rules| rules.set_option(RULE, option, &value));
        found.into_iter().map(|finding| finding.message).collect()
    };
    let several = "FROM a\nRUN a\nRUN b && c\nUSER d\nRUN e\nRUN f\n";
    assert_eq!(
        said(several, "check-consecutive-runs", true),
        ["3 commands in 2 RUNs make a script"]
    );
    assert_eq!(said(several, "check-consecutive-runs", false), [""; 0]);
    assert_eq!(said("FROM a\nRUN a && b && c\n", "check-chained-commands", false), [""; 0]);
    let two = OptionValue::Integer(2);
    let text = "FROM a\nRUN a && b\n";
    assert_eq!(run_with(RULE, text, |rules| rules.set_option(RULE, "min-commands", &two)).len(), 1);
}

#[test]
fn a_command_is_a_line_and_comments_stay_between() {
    fixes(
        RULE,
        &[
            (
                "RUN --network=none a 'x && y' \\\n    # why\n    && b $C \\\n    && d | e",
                "\nRUN --network=none <<EOF\nset -e\na 'x && y'\n# why\nb $C\nd | e\nEOF",
            ),
            (
                "RUN a \\\n      --b \\\n    && (c && d) \\\n    && if e; then f; fi",
                "\nRUN <<EOF\nset -e\na \\\n    --b\n(c && d)\nif e; then f; fi\nEOF",
            ),
            (
                "RUN a && b || c && d && e > \"$F\"",
                "\nRUN <<EOF\nset -e\na && b || c\nd\ne > \"$F\"\nEOF",
            ),
            ("RUN a && b && c\nUSER d", "\nRUN <<EOF\nset -e\na\nb\nc\nEOF\n\nUSER d"),
            // One `set -e` is enough, whoever gives it.
            ("RUN set -eux && b && c", "\nRUN <<EOF\nset -eux\nb\nc\nEOF"),
            (
                "SHELL [\"/bin/bash\", \"-ec\"]\nRUN a && b && c",
                "SHELL [\"/bin/bash\", \"-ec\"]\n\nRUN <<EOF\na\nb\nc\nEOF",
            ),
            // The comments above belong to it, and flags keep no backslash before the script.
            (
                "USER a\n# why\nRUN --network=none \\\n\ta \\\n\t\tb \\\n\t&& c && d\nRUN e",
                "USER a\n\n# why\nRUN --network=none <<EOF\nset -e\na \\\n\tb\nc\nd\nEOF\n\nRUN e",
            ),
        ],
    );
}

#[test]
fn what_errexit_would_change_stays() {
    for text in [
        "RUN a && b && (c; d)",
        "RUN a && b && for c in d; do e; done",
        "RUN a && b && x=$(c; d)",
        "RUN a && b && ! c",
        "RUN a && b && c &",
        "RUN a && b && c; d",
        "RUN a && b && c # d",
        "RUN a \\\n  # why\n  b && c && d",
        "RUN a && b && c \\ \n  d",
        "RUN a && b && c \\\n\n  d",
        "RUN a && b && echo EOF\\\nEOF",
    ] {
        fixes(RULE, &[(text, text)]);
    }
    for head in ["# syntax=docker/dockerfile:1.3\nFROM a", "# escape=`\nFROM a", "FROM a\r"] {
        let text = format!("{head}\nRUN a && b && c\n");
        fixed(RULE, &text, &text);
    }
}
