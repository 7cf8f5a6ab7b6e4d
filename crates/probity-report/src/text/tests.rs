//! The text report, as it looks.

use probity_finding::{Finding, Severity, Span};

use crate::{Detail, Format, Options, Screen, samples};

const FULL: Options = Options { detail: Detail::Full, ..samples::OPTIONS };

#[test]
fn findings_are_shown_with_their_source() {
    insta::assert_snapshot!(samples::report(Format::Text), @r#"
app/Dockerfile: info: no stage sets a user [tally/no-user]

app/Dockerfile:1:6: warning: the image is not tagged; pin a version [hadolint/DL3006]
1 | FROM debian as build
  |      ^^^^^^ Pin the version (--fix --fix-unsafe)

app/Dockerfile:1:13: style: `as` and `FROM` differ in case [buildkit/FromAsCasing]
1 | FROM debian as build
  |             ^^ Write `AS` (--fix)

app/Dockerfile:2:15: error: sudo does not work as it seems to [hadolint/DL3004]
2 | RUN echo 😀 && sudo make
  |                ^^^^

a b/ü%20&,:.Dockerfile:1:1: warning: a | b ` * _x_ <b>&amp; [l](u)\ [x/from]
1 | FROM a:1
  | ^^^^

a b/ü%20&,:.Dockerfile:2:1: warning: <>&"' 100% ␛[31mred␀␊second, line: <U+009B><U+202E> [x/run]
2 | RUN echo '␛[31m<&>"%␀' �
  | ^^^^^^^^^^^^^^^^^^^^^^^^ Add a line␇ (--fix)

empty.Dockerfile: error: the file is empty [buildkit/empty]

7 findings in 3 of 4 files: 2 errors, 3 warnings, 1 info, 1 style.
By rule: 1 buildkit/FromAsCasing, 1 buildkit/empty, 1 hadolint/DL3004, 1 hadolint/DL3006, 1 tally/no-user, 1 x/from, 1 x/run.
Fixable: 2 with `--fix`, 1 with `--fix --fix-unsafe`, 1 with `--fix --fix-ai` and `--acp-command` or `--ai --ai-provider`.
Explain: `probity explain buildkit/FromAsCasing`.
"#);
}

#[test]
fn the_full_form_shows_all_that_is_known() {
    let report = samples::render(Format::Text, &FULL, &samples::files());
    insta::assert_snapshot!(report, @r#"
info[tally/no-user]: no stage sets a user
--> app/Dockerfile
 = docs: probity explain tally/no-user
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
  = docs: probity explain buildkit/FromAsCasing
  = help: Write `AS` (safe fix, --fix)
  = help: Drop the name (unsafe fix, --fix --fix-unsafe)

error[hadolint/DL3004]: sudo does not work as it seems to
 --> app/Dockerfile:2:15
  |
2 | RUN echo 😀 && sudo make
  |                ^^^^
  |
  = docs: probity explain hadolint/DL3004

warning[x/from]: a | b ` * _x_ <b>&amp; [l](u)\
 --> a b/ü%20&,:.Dockerfile:1:1
  |
1 | FROM a:1
  | ^^^^
  |
  = docs: probity explain x/from

warning[x/run]: <>&"' 100% ␛[31mred␀␊second, line: <U+009B><U+202E>
 --> a b/ü%20&,:.Dockerfile:2:1
  |
2 | RUN echo '␛[31m<&>"%␀' �
  | ^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = docs: probity explain x/run
  = help: Add a line␇ (safe fix, --fix)

error[buildkit/empty]: the file is empty
--> empty.Dockerfile
 = docs: probity explain buildkit/empty

7 findings in 3 of 4 files: 2 errors, 3 warnings, 1 info, 1 style.
By rule: 1 buildkit/FromAsCasing, 1 buildkit/empty, 1 hadolint/DL3004, 1 hadolint/DL3006, 1 tally/no-user, 1 x/from, 1 x/run.
Fixable: 2 with `--fix`, 1 with `--fix --fix-unsafe`, 1 with `--fix --fix-ai` and `--acp-command` or `--ai --ai-provider`.
Explain: `probity explain buildkit/FromAsCasing`.
"#);
}

#[test]
fn the_fourth_finding_of_a_rule_in_a_file_folds() {
    let text = "FROM a\nRUN b\nRUN c\nRUN d\nRUN e\n";
    let at = |rule: &'static str, line: usize| {
        let start = text.lines().take(line - 1).map(|line| line.len() + 1).sum();
        Finding::new(rule, Severity::Warning, Span::new(start, start + 3), "a blank is missing")
    };
    let mut findings: Vec<Finding> = (1..=5).map(|line| at("x/often", line)).collect();
    findings.insert(2, at("x/twice", 2));
    findings.push(at("x/twice", 5));
    let files = [("Dockerfile", text, findings.clone()), ("other", text, vec![at("x/often", 1)])];
    insta::assert_snapshot!(samples::render(Format::Text, &samples::OPTIONS, &files), @"
Dockerfile:1:1: warning: a blank is missing [x/often]
1 | FROM a
  | ^^^

Dockerfile:2:1: warning: a blank is missing [x/often]
2 | RUN b
  | ^^^

Dockerfile:2:1: warning: a blank is missing [x/twice]
2 | RUN b
  | ^^^

Dockerfile:3:1: warning: a blank is missing [x/often]
3 | RUN c
  | ^^^
Dockerfile: and 2 more of x/often, lines 4, 5 (-v shows all)

Dockerfile:5:1: warning: a blank is missing [x/twice]
5 | RUN e
  | ^^^

other:1:1: warning: a blank is missing [x/often]
1 | FROM a
  | ^^^

8 findings in 2 of 2 files: 8 warnings.
By rule: 6 x/often, 2 x/twice.
Explain: `probity explain x/often`.
");
    let short = Options { show_source: false, ..samples::OPTIONS };
    insta::assert_snapshot!(samples::render(Format::Text, &short, &files), @"
Dockerfile:1:1: warning: a blank is missing [x/often]
Dockerfile:2:1: warning: a blank is missing [x/often]
Dockerfile:2:1: warning: a blank is missing [x/twice]
Dockerfile:3:1: warning: a blank is missing [x/often]
Dockerfile: and 2 more of x/often, lines 4, 5 (-v shows all)
Dockerfile:5:1: warning: a blank is missing [x/twice]
other:1:1: warning: a blank is missing [x/often]
8 findings in 2 of 2 files: 8 warnings.
By rule: 6 x/often, 2 x/twice.
Explain: `probity explain x/often`.
");
    for (options, format) in
        [(FULL, Format::Text), (samples::OPTIONS, Format::Json), (samples::OPTIONS, Format::Sarif)]
    {
        let report = samples::render(format, &options, &files);
        let told = report.matches("a blank is missing").count();
        assert_eq!(told, findings.len() + 1, "nothing folds in {format:?}");
    }
}

#[test]
fn one_finding_marks_all_of_its_places() {
    let text = "RUN apt-get install curl git \\\n  wget \\\n  a=1 \\\n  tar\n";
    let span = |word: &str| {
        let start = text.find(word).unwrap();
        Span::new(start, start + word.len())
    };
    let finding = Finding::new("x/pin", Severity::Warning, span("curl"), "4 have no version")
        .with_more_places([span("git"), span("wget"), span("tar")]);
    let files = [("f", text, vec![finding])];
    insta::assert_snapshot!(samples::render(Format::Text, &samples::OPTIONS, &files), @r"
f:1:21: warning: 4 have no version [x/pin]
1 | RUN apt-get install curl git \
  |                     ^^^^ ^^^ and in lines 2, 4

1 finding in 1 of 1 file: 1 warning.
Explain: `probity explain x/pin`.
");
    insta::assert_snapshot!(samples::render(Format::Text, &FULL, &files), @r"
warning[x/pin]: 4 have no version
 --> f:1:21
  |
1 | RUN apt-get install curl git \
  |                     ^^^^ ^^^
2 |   wget \
  |   ^^^^
3 |   a=1 \
4 |   tar
  |   ^^^
  |
  = docs: probity explain x/pin

1 finding in 1 of 1 file: 1 warning.
Explain: `probity explain x/pin`.
");
    insta::assert_snapshot!(samples::render(Format::Json, &FULL, &files), @r#"
{"files":[
{"file":"f","violations":[{"location":{"file":"f","start":{"line":1,"column":20},"end":{"line":1,"column":24}},"spans":[{"file":"f","start":{"line":1,"column":20},"end":{"line":1,"column":24}},{"file":"f","start":{"line":1,"column":25},"end":{"line":1,"column":28}},{"file":"f","start":{"line":2,"column":2},"end":{"line":2,"column":6}},{"file":"f","start":{"line":4,"column":2},"end":{"line":4,"column":5}}],"rule":"x/pin","message":"4 have no version","severity":"warning","sourceCode":"RUN apt-get install curl git \\","fingerprint":"a121f18c777e7e7441973b8091728824"}]}
],
"summary":{"total":1,"errors":0,"warnings":1,"info":0,"style":0,"files":1},
"files_scanned":1,"rules_enabled":7}
"#);
    insta::assert_snapshot!(samples::render(Format::Markdown, &FULL, &files), @"
### `f`: 1 warning

| Severity | Line | Rule | Message |
| --- | ---: | --- | --- |
| warning | 1, 2, 4 | x/pin | 4 have no version |

**1 finding** in 1 of 1 file: 1 warning.
");
    insta::assert_snapshot!(samples::render(Format::Sonarqube, &FULL, &files), @r#"
{"issues":[
{"ruleId":"x/pin","primaryLocation":{"message":"4 have no version","filePath":"f","textRange":{"startLine":1,"endLine":1,"startColumn":20,"endColumn":24}},"secondaryLocations":[{"message":"4 have no version","filePath":"f","textRange":{"startLine":1,"endLine":1,"startColumn":25,"endColumn":28}},{"message":"4 have no version","filePath":"f","textRange":{"startLine":2,"endLine":2,"startColumn":2,"endColumn":6}},{"message":"4 have no version","filePath":"f","textRange":{"startLine":4,"endLine":4,"startColumn":2,"endColumn":5}}]}
],
"rules":[{"id":"x/pin","name":"x/pin","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"CODE_SMELL","severity":"MAJOR","impacts":[{"softwareQuality":"MAINTAINABILITY","severity":"MEDIUM"}]}]}
"#);
    insta::assert_snapshot!(samples::render(Format::Gitlab, &FULL, &files), @r#"
[
{"type":"issue","check_name":"x/pin","description":"4 have no version","categories":["Bug Risk"],"location":{"path":"f","lines":{"begin":1,"end":1}},"other_locations":[{"path":"f","lines":{"begin":1,"end":1}},{"path":"f","lines":{"begin":2,"end":2}},{"path":"f","lines":{"begin":4,"end":4}}],"severity":"major","fingerprint":"a121f18c777e7e7441973b8091728824"}
]
"#);
    let sarif: serde_json::Value =
        serde_json::from_str(&samples::render(Format::Sarif, &FULL, &files)).unwrap();
    let columns: Vec<i64> = sarif["runs"][0]["results"][0]["locations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| place["physicalLocation"]["region"]["startColumn"].as_i64().unwrap())
        .collect();
    assert_eq!(columns, [21, 26, 3, 3]);
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
By rule: 1 buildkit/FromAsCasing, 1 buildkit/empty, 1 hadolint/DL3004, 1 hadolint/DL3006, 1 tally/no-user, 1 x/from, 1 x/run.
Fixable: 2 with `--fix`, 1 with `--fix --fix-unsafe`, 1 with `--fix --fix-ai` and `--acp-command` or `--ai --ai-provider`.
Explain: `probity explain buildkit/FromAsCasing`.
"#);
}

#[test]
fn nothing_to_report_is_one_line() {
    let files = [("a", "FROM scratch\n", Vec::new())];
    let report = samples::render(Format::Text, &samples::OPTIONS, &files);
    insta::assert_snapshot!(report, @r#"No findings in 1 file."#);
}

#[test]
fn color_adds_escape_sequences_and_nothing_else() {
    for options in [samples::OPTIONS, FULL] {
        let screen = Screen { is_colored: true, ..Screen::PLAIN };
        let colored = Options { screen, ..options };
        let colored = samples::render(Format::Text, &colored, &samples::files());
        assert!(colored.contains('\x1b'));
        let stripped = anstream::adapter::strip_str(&colored).to_string();
        assert_eq!(stripped, samples::render(Format::Text, &options, &samples::files()));
    }
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
    let report = samples::render(Format::Text, &FULL, &[("f", &text, findings)]);
    insta::assert_snapshot!(report, @"
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
   = docs: probity explain a/heredoc
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
   |
   = docs: probity explain a/wide

style[a/hopeless]: a line that is too long
--> f:37:1
 = docs: probity explain a/hopeless

style[a/tab]: behind a tab
  --> f:38:2
   |
38 |     TAB
   |     ^^^
   |
   = docs: probity explain a/tab

style[a/end]: at the end
  --> f:39:1
   |
39 |
   | ^
   |
   = docs: probity explain a/end

5 findings in 1 of 1 file: 1 warning, 4 style.
By rule: 1 a/end, 1 a/heredoc, 1 a/hopeless, 1 a/tab, 1 a/wide.
Explain: `probity explain a/end`.
");
}

#[test]
fn a_narrow_screen_has_its_words_below_the_marks_and_fewer_marks() {
    let text =
        "RUN apt-get install a-package-with-a-long-name another-long-package and-a-third-one\n";
    let span =
        |part: &str| Span::new(text.find(part).unwrap(), text.find(part).unwrap() + part.len());
    let mut finding = Finding::new(
        "x/pin",
        Severity::Warning,
        span("a-package-with-a-long-name"),
        "a message that is longer than this narrow screen",
    )
    .with_detail("a detail that is longer than this narrow screen");
    finding.also_at = vec![span("another-long-package"), span("and-a-third-one")];
    let screen = Screen { width: Some(60), ..Screen::PLAIN };
    let options = Options { screen, ..samples::OPTIONS };
    let report = samples::render(Format::Text, &options, &[("f", text, vec![finding])]);
    let wide: Vec<&str> = report.lines().filter(|line| line.chars().count() > 60).collect();
    assert_eq!(wide, [""; 0], "{report}");
    insta::assert_snapshot!(report, @"
    f:1:21: warning: a message that is longer than this narrow
      screen [x/pin]
    1 | ...install a-package-with-a-long-name another-...
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^
      = a detail that is longer than this narrow screen

    1 finding in 1 of 1 file: 1 warning.
    Explain: `probity explain x/pin`.
    ");
    assert_eq!(report.lines().filter(|line| line.contains("^^^")).count(), 1, "{report}");
}
