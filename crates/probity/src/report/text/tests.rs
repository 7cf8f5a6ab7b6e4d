//! The text report, as it looks.

use probity_finding::{Finding, Severity, Span};

use crate::report::{Format, Options, samples};

#[test]
fn findings_are_shown_with_their_source() {
    insta::assert_snapshot!(samples::report(Format::Text), @r#"
info[tally/no-user]: no stage sets a user
--> app/Dockerfile
 = help: Rework the file (an agent's fix, --fix --fix-ai)

warning[hadolint/DL3006]: the image is not tagged; pin a version
 --> app/Dockerfile:1:6
  |
1 | FROM debian as build
  |      ^^^^^^
  |
  = note: An untagged image is `latest`,
          which changes without notice.
  = docs: https://example.org/rules/DL3006
  = help: Pin the version (suggested fix, --fix --fix-unsafe)

style[buildkit/FromAsCasing]: `as` and `FROM` differ in case
 --> app/Dockerfile:1:13
  |
1 | FROM debian as build
  |             ^^
...
4 | COPY --from=build /a /a
  | ----------------- the stage is used here
  |
  = help: Write `AS` (safe fix, --fix)
  = help: Drop the name (unsafe fix, --fix --fix-unsafe)

error[hadolint/DL3004]: sudo does not work as it seems to
 --> app/Dockerfile:2:15
  |
2 | RUN echo 😀 && sudo make
  |                ^^^^

warning[x/from]: a | b ` * _x_ <b>&amp; [l](u)\
 --> a b/ü%20&,:.Dockerfile:1:1
  |
1 | FROM a:1
  | ^^^^

warning[x/run]: <>&"' 100% ␛[31mred␀␊second, line: <U+009B><U+202E>
 --> a b/ü%20&,:.Dockerfile:2:1
  |
2 | RUN echo '␛[31m<&>"%␀' �
  | ^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: Add a line␇ (safe fix, --fix)

error[buildkit/empty]: the file is empty
--> empty.Dockerfile

7 findings in 3 of 4 files: 2 errors, 3 warnings, 1 info, 1 style.
Fixable: 2 with `--fix`, 1 with `--fix --fix-unsafe`, 1 with `--fix --fix-ai` and an agent, `--acp-command`.
"#);
}

#[test]
fn what_is_a_matter_of_taste_is_shown_once_in_a_file() {
    let text = "FROM a\nRUN b\nRUN c\n";
    let at = |rule: &'static str, severity, line: usize| {
        let start = text.lines().take(line - 1).map(|it| it.len() + 1).sum();
        Finding::new(rule, severity, Span::new(start, start + 3), "a blank line is missing")
    };
    let findings = vec![
        at("x/taste", Severity::Style, 1),
        at("x/taste", Severity::Style, 2),
        at("x/wrong", Severity::Warning, 2),
        at("x/taste", Severity::Style, 3),
        at("x/wrong", Severity::Warning, 3),
    ];
    let files = vec![("Dockerfile", text, findings)];
    insta::assert_snapshot!(samples::render(Format::Text, &samples::OPTIONS, &files), @"
style[x/taste]: a blank line is missing
 --> Dockerfile:1:1
  |
1 | FROM a
  | ^^^
  |
note: the same rule in lines 2, 3

warning[x/wrong]: a blank line is missing
 --> Dockerfile:2:1
  |
2 | RUN b
  | ^^^

warning[x/wrong]: a blank line is missing
 --> Dockerfile:3:1
  |
3 | RUN c
  | ^^^

5 findings in 1 of 1 file: 2 warnings, 3 style.
");
}

#[test]
fn without_source_a_finding_is_a_line() {
    let options = Options { show_source: false, ..samples::OPTIONS };
    let report = samples::render(Format::Text, &options, &samples::files());
    insta::assert_snapshot!(report, @r#"
app/Dockerfile: info: no stage sets a user [tally/no-user]
app/Dockerfile:1:6: warning: the image is not tagged; pin a version [hadolint/DL3006]
app/Dockerfile:1:13: style: `as` and `FROM` differ in case [buildkit/FromAsCasing]
app/Dockerfile:2:15: error: sudo does not work as it seems to [hadolint/DL3004]
a b/ü%20&,:.Dockerfile:1:1: warning: a | b ` * _x_ <b>&amp; [l](u)\ [x/from]
a b/ü%20&,:.Dockerfile:2:1: warning: <>&"' 100% ␛[31mred␀␊second, line: <U+009B><U+202E> [x/run]
empty.Dockerfile: error: the file is empty [buildkit/empty]
7 findings in 3 of 4 files: 2 errors, 3 warnings, 1 info, 1 style.
Fixable: 2 with `--fix`, 1 with `--fix --fix-unsafe`, 1 with `--fix --fix-ai` and an agent, `--acp-command`.
"#);
}

#[test]
fn nothing_to_report_is_one_line() {
    let files = [("a", "FROM scratch\n", Vec::new())];
    let report = samples::render(Format::Text, &samples::OPTIONS, &files);
    insta::assert_snapshot!(report, @r#"No findings in 1 file."#);
}

#[test]
fn colour_adds_escape_sequences_and_nothing_else() {
    let options = Options { color: true, ..samples::OPTIONS };
    let colored = samples::render(Format::Text, &options, &samples::files());
    assert!(colored.contains('\x1b'));
    let plain = anstream::adapter::strip_str(&colored).to_string();
    assert_eq!(plain, samples::report(Format::Text));
}

#[test]
fn far_places_many_lines_and_wide_lines_stay_readable() {
    let text = format!(
        "FROM a AS b\n{}RUN <<EOF\n{}EOF\nRUN {} $wide {}\n{}\n\tTAB\n",
        "# filler\n".repeat(20),
        "echo\n".repeat(12),
        "x".repeat(300),
        "y".repeat(300),
        "z".repeat(5000)
    );
    let span = |from: &str, len: usize| {
        let start = text.find(from).unwrap();
        Span::new(start, start + len)
    };
    let heredoc = text.find("EOF\nRUN").unwrap() + 3 - text.find("RUN <<").unwrap();
    let findings = vec![
        Finding::new("a/heredoc", Severity::Warning, span("RUN <<", heredoc), "many lines")
            .with_related(span("b\n", 1), "the stage begins here"),
        Finding::new("a/wide", Severity::Style, span("$wide", 5), "a wide line"),
        Finding::new("a/hopeless", Severity::Style, span("zz", 2), "a line that is too long"),
        Finding::new("a/tab", Severity::Style, span("TAB", 3), "behind a tab"),
        Finding::new("a/end", Severity::Style, Span::at(text.len()), "at the end"),
    ];
    let report = samples::render(Format::Text, &samples::OPTIONS, &[("f", &text, findings)]);
    insta::assert_snapshot!(report, @r#"
warning[a/heredoc]: many lines
  --> f:22:1
   |
22 | / RUN <<EOF
23 | | echo
24 | | echo
25 | | echo
...  |
34 | | echo
35 | | EOF
   | |___^
   |
note: the stage begins here
  --> f:1:11
   |
 1 | FROM a AS b
   |           ^

style[a/wide]: a wide line
  --> f:36:306
   |
36 | ...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx $wide yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...
   |                                                                  ^^^^^

style[a/hopeless]: a line that is too long
--> f:37:1

style[a/tab]: behind a tab
  --> f:38:2
   |
38 |     TAB
   |     ^^^

style[a/end]: at the end
  --> f:39:1
   |
39 |
   | ^

5 findings in 1 of 1 file: 1 warning, 4 style.
"#);
}
