//! The files that the formats' tests report: ordinary ones, odd ones and hostile ones.

use probity_finding::{Edit, Finding, Fix, Objective, Severity, Span};

use super::{Detail, FileReport, Format, Options, Totals};
use crate::Screen;

pub(crate) const OPTIONS: Options = Options {
    show_source: true,
    detail: Detail::Short,
    screen: Screen::PLAIN,
    explain: Some("probity explain"),
    tool_version: "1.2.3",
    describe: |_| None,
};

/// Windows line ends and an emoji.
pub(crate) const APP: &str = "FROM debian as build\r\nRUN echo 😀 && sudo make\r\nFROM scratch\r\nCOPY --from=build /a /a\r\n";
/// A byte order mark, an escape sequence, a NUL, a bidirectional override.
pub(crate) const ODD: &str = "\u{feff}FROM a:1\nRUN echo '\x1b[31m<&>\"%\0' \u{202e}\n";
pub(crate) const ODD_PATH: &str = "a b/ü%20&,:.Dockerfile";

/// The whole sample in one format.
pub(crate) fn report(format: Format) -> String {
    render(format, &OPTIONS, &files())
}

/// The files and their findings; the second file is clean, the last could not be read.
pub(crate) fn files() -> Vec<(&'static str, &'static str, Vec<Finding>)> {
    vec![
        ("app/Dockerfile", APP, app()),
        ("clean.Dockerfile", "FROM scratch\n", Vec::new()),
        (ODD_PATH, ODD, odd()),
        (
            "empty.Dockerfile",
            "",
            vec![Finding::of_file("buildkit/empty", Severity::Error, "the file is empty")],
        ),
    ]
}

pub(crate) fn render(
    format: Format,
    options: &Options,
    files: &[(&str, &str, Vec<Finding>)],
) -> String {
    let mut out = Vec::new();
    let mut reporter = format.reporter(options);
    for (path, text, findings) in files {
        let file = FileReport {
            path,
            text,
            findings,
            ai_fixes: &[],
            ai_detections: &[],
            invocations: &[],
            rejection: None,
        };
        reporter.file(&mut out, &file).unwrap();
    }
    let totals = Totals { files_scanned: files.len(), rules_enabled: 7 };
    reporter.finish(&mut out, &totals).unwrap();
    String::from_utf8(out).unwrap()
}

fn app() -> Vec<Finding> {
    let agent = Objective { kind: "multi-stage", score: 3, signals: Vec::new(), max_churn: None };
    vec![
        Finding::of_file("tally/no-user", Severity::Info, "no stage sets a user")
            .with_fix(Fix::by_agent("Rework the file", 5, agent)),
        Finding::new(
            "hadolint/DL3006",
            Severity::Warning,
            span(APP, "debian"),
            "the image is not tagged; pin a version",
        )
        .with_detail("An untagged image is `latest`,\nwhich changes without notice.")
        .with_docs("https://example.org/rules/DL3006")
        .with_fix(Fix::suggestion(
            "Pin the version",
            vec![Edit::replace(span(APP, "debian"), "debian:12")],
        )),
        Finding::new(
            "buildkit/FromAsCasing",
            Severity::Style,
            span(APP, "as"),
            "`as` and `FROM` differ in case",
        )
        .with_related(span(APP, "COPY --from=build"), "the stage is used here")
        .with_fix(Fix::safe("Write `AS`", vec![Edit::replace(span(APP, "as"), "AS")]))
        .with_fix(Fix::risky("Drop the name", vec![Edit::delete(span(APP, " as build"))])),
        Finding::new(
            "hadolint/DL3004",
            Severity::Error,
            span(APP, "sudo"),
            "sudo does not work as it seems to",
        ),
    ]
}

fn odd() -> Vec<Finding> {
    let run = ODD.find("RUN").unwrap();
    vec![
        Finding::new(
            "x/from",
            Severity::Warning,
            span(ODD, "FROM"),
            "a | b ` * _x_ <b>&amp; [l](u)\\",
        ),
        Finding::new(
            "x/run",
            Severity::Warning,
            Span::new(run, ODD.len()),
            "<>&\"' 100% \x1b[31mred\0\nsecond, line: \u{9b}\u{202e}",
        )
        .with_fix(Fix::safe("Add a line\x07", vec![Edit::insert(run, "# \"quoted\"\n")])),
    ]
}

fn span(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap();
    Span::new(start, start + part.len())
}
