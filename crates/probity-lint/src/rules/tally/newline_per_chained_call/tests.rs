//! Chains in every place where one can stand, and how they are broken.

use probity_finding::Applicability;

use crate::{
    OptionValue,
    engine::harness::{check, fix_with, fixed, fixes, run_with},
};

const RULE: &str = "tally/newline-per-chained-call";

#[test]
fn the_first_link_that_does_not_begin_a_line_is_underlined() {
    check(
        RULE,
        r#"
FROM a
LABEL a=1 \
  b=2 c="3 4" d=5
      ^^^^^^^ each label goes on its own line
RUN x \
  && (a && b) || y && z
                   ^^ each command of a chain goes on its own line
RUN --mount=type=tmpfs,target=/a --mount=type=tmpfs,target=/b x "a && b" && $X
                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ each mount goes on its own line
                                                                         ^^ each command of a chain goes on its own line
RUN if a && b; then c; fi && \
    # the && of a comment
    d && e
      ^^ each command of a chain goes on its own line
HEALTHCHECK --interval=1s \
  --retries=2 CMD a || exit 1
              ^^^ each flag of a health check goes on its own line
"#,
    );
}

#[test]
fn what_is_no_chain_or_laid_out_well_is_silent() {
    for text in [
        "RUN a; b | c",
        "RUN a & b",
        "RUN set -e; a && b; c",
        "RUN a || b",
        "RUN (a && b)",
        "RUN { a && b; }",
        "RUN for i in 1; do a && b; done",
        "RUN f() { a && b; }; f",
        "RUN echo $(a && b)",
        "RUN bash -c 'a && b'",
        "RUN echo 'a && b' \"&& c\"",
        "RUN echo a '&&' b",
        "RUN [\"sh\", \"-c\", \"a && b\"]",
        "RUN <<EOF\na && b\nEOF",
        "RUN cat <<EOF >/x && b\nhi\nEOF",
        "RUN a \\\n  && b \\\n\n  # why\n  || c",
        "RUN a &&\\\n  b",
        "RUN a # && b",
        "RUN a && (",
        "RUN --mount=type=tmpfs,target=/a --network=none a",
        "RUN --mount=type=tmpfs,target=/a \\\n  --mount=type=tmpfs,target=/b a",
        "LABEL a=1",
        "LABEL a b=1 c=2",
        "ENV a=1 b=2",
        "CMD a && b",
        "ONBUILD RUN a && b",
        "ONBUILD LABEL a=1 b=2",
        "HEALTHCHECK CMD a",
        "HEALTHCHECK NONE",
        "HEALTHCHECK --interval=1s NONE",
        "SHELL [\"powershell\"]\nRUN a && b",
    ] {
        check(RULE, &format!("FROM a\n{text}\n"));
    }
    check(RULE, "FROM mcr.microsoft.com/windows/servercore:ltsc2022\nRUN a && b\n");
}

#[test]
fn a_chain_is_as_long_as_the_option_says() {
    let found = |run: &str| {
        let change = |rules: &mut crate::RuleSet| {
            rules.set_option(RULE, "min-commands", &OptionValue::Integer(3));
        };
        run_with(RULE, &format!("FROM a\nRUN {run}\n"), change).len()
    };
    assert_eq!((found("a && b"), found("a && b || c")), (0, 1));
}

#[test]
fn a_chain_goes_on_as_it_is_laid_out() {
    fixes(
        RULE,
        &[
            ("RUN a && b && c || d", "RUN a \\\n    && b \\\n    && c || d"),
            ("RUN a  &&b&&c", "RUN a \\\n    &&b \\\n    &&c"),
            ("RUN a && b \\\n    && c", "RUN a \\\n    && b \\\n    && c"),
            ("RUN a && \\\n  b&& c || d", "RUN a && \\\n  b&& \\\n  c || d"),
            ("COPY a \\\n  b\nRUN c && d", "COPY a \\\n  b\nRUN c \\\n  && d"),
            ("RUN a \\\n  # why\n  && b && c # d", "RUN a \\\n  # why\n  && b \\\n  && c # d"),
            ("RUN a 'b \\\n && c' && d", "RUN a 'b \\\n && c' \\\n    && d"),
            (
                "RUN (a && b) && $C \"$D\" && e\\ ",
                "RUN (a && b) \\\n    && $C \"$D\" \\\n    && e\\ ",
            ),
            (
                "RUN --mount=type=tmpfs,target=/a --mount=type=tmpfs,target=/b <<EOF\na && b\nEOF",
                "RUN --mount=type=tmpfs,target=/a \\\n    --mount=type=tmpfs,target=/b <<EOF\na && b\nEOF",
            ),
            (
                "RUN --mount=type=tmpfs,target=/a --mount=type=tmpfs,target=/b [\"a\"]",
                "RUN --mount=type=tmpfs,target=/a \\\n    --mount=type=tmpfs,target=/b \\\n    [\"a\"]",
            ),
            (
                "HEALTHCHECK --retries=1   CMD a && b",
                "HEALTHCHECK --retries=1 \\\n    CMD a \\\n    && b",
            ),
            ("LABEL a=\"x \\\n y\" b=c", "LABEL a=\"x \\\n y\" \\\n    b=c"),
            ("LABEL a=1 \\\n  # why\n  b=2 c=3", "LABEL a=1 \\\n  # why\n  b=2 \\\n  c=3"),
        ],
    );
    fixed(RULE, "# escape=`\nFROM a\nRUN a && b\n", "# escape=`\nFROM a\nRUN a `\n    && b\n");
    fixed(RULE, "FROM a\r\nRUN a && b\r\n", "FROM a\r\nRUN a \\\r\n    && b\r\n");
}

#[test]
fn only_what_the_shell_never_sees_is_safe() {
    let safe = |text: &str| fix_with(RULE, text, Applicability::Safe, |_| {});
    assert_eq!(safe("FROM a\nRUN a && b\n"), "FROM a\nRUN a && b\n");
    assert_eq!(
        safe("FROM a\nHEALTHCHECK --retries=1 CMD a && b\n"),
        "FROM a\nHEALTHCHECK --retries=1 \\\n    CMD a && b\n"
    );
}
