//! Findings that an AI agent made, with the table of what it may report.
//!
//! Whoever asks the agent verifies its quotes first. Here a detection is a fact: each lint looks for
//! its quote anew, since fixes move text. A detection whose quote is gone is not reported any more.

use probity_dockerfile::Dockerfile;
use probity_finding::{Finding, Fix, LineIndex, Objective, Severity, Signal, Span};

use crate::engine::ruleset::RuleSet;

/// The namespace of the findings: `ai/broken-startup`.
pub(crate) const NAMESPACE: &str = "ai/";

/// What every message begins with, in every format.
const LABEL: &str = "AI detection";

/// After the objective of the rule about stages, before that of the rule about health checks.
const PRIORITY: i32 = 155;

/// One kind of problem that an agent may report.
#[derive(Debug, PartialEq, Eq)]
pub struct AiDetector {
    /// With its namespace.
    pub name: &'static str,
    /// What it is about, in one sentence, for people and for the agent.
    pub about: &'static str,
    /// What an agent can be asked to do about it.
    objective: Option<AiObjective>,
}

#[derive(Debug, PartialEq, Eq)]
struct AiObjective {
    kind: &'static str,
    title: &'static str,
    max_churn: Option<u32>,
}

impl AiDetector {
    const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, objective: None }
    }

    const fn with(
        mut self,
        kind: &'static str,
        title: &'static str,
        max_churn: Option<u32>,
    ) -> Self {
        self.objective = Some(AiObjective { kind, title, max_churn });
        self
    }

    /// The name without its namespace, as the agent writes it.
    #[must_use]
    pub fn bare_name(&self) -> &'static str {
        self.name.strip_prefix(NAMESPACE).unwrap_or(self.name)
    }

    /// The objective that fixes it, as probity-autofix knows it.
    #[must_use]
    pub fn objective_kind(&self) -> Option<&'static str> {
        self.objective.as_ref().map(|objective| objective.kind)
    }
}

/// How grave a detection is unless the configuration says otherwise: nothing has proven it.
pub const DETECTION_SEVERITY: Severity = Severity::Info;

/// Everything that an agent may report.
pub static AI_DETECTORS: &[AiDetector] = &[
    AiDetector::new(
        "ai/accelerator-mismatch",
        "Versions of CUDA, cuDNN, drivers and libraries such as TensorFlow or PyTorch do not fit \
         each other or the base image.",
    ),
    AiDetector::new(
        "ai/broken-bootstrap",
        "A step uses a tool, file or dependency that no earlier step provides, or installs \
         dependencies in an order that cannot work.",
    ),
    AiDetector::new(
        "ai/broken-startup",
        "The entrypoint, command or health check cannot work: it names a file that the image does \
         not have, or expects arguments, users or directories that differ.",
    ),
    AiDetector::new(
        "ai/build-tools-in-image",
        "Compilers, package caches or sources that only the build needs stay in the final image.",
    )
    .with("multi-stage", "AI AutoFix: convert to multi-stage build", None),
    AiDetector::new(
        "ai/insecure-default",
        "The image starts with a setting that exposes it: debug modes, default passwords, open \
         administration ports or disabled verification.",
    ),
    AiDetector::new(
        "ai/missing-runtime-dependency",
        "The final image lacks a library, interpreter, certificate or data file that the program \
         needs when it runs.",
    ),
    AiDetector::new(
        "ai/oversized-base-image",
        "The final stage is based on a far larger image than the program needs.",
    )
    .with("smaller-base-image", "AI AutoFix: use a smaller base image", Some(20)),
    AiDetector::new(
        "ai/permission-problem",
        "The user of the image cannot read, write or execute what the program needs, or listens on \
         a port that needs root.",
    ),
    AiDetector::new(
        "ai/unmonitored-service",
        "The image starts a service whose health can be checked with the tools it has, and does \
         not check it.",
    )
    .with("healthcheck", "AI AutoFix: add a HEALTHCHECK", Some(20)),
    AiDetector::new(
        "ai/wasted-cache",
        "The order of instructions makes every change of a source file repeat expensive steps.",
    ),
];

/// Something that an agent reported, and that is where it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    pub detector: &'static AiDetector,
    /// The text that it is about, with `\n` between lines.
    pub quote: String,
    /// Where the quote began when the agent saw it, from 1.
    pub line: usize,
    /// On one line, bounded.
    pub message: String,
}

impl Detection {
    /// Whether the quote begins on its line of a text.
    #[must_use]
    pub fn is_in_place(&self, text: &str) -> bool {
        let lines = LineIndex::new(text);
        let line = |span: Span| lines.position(span.start).line + 1;
        self.spans(text).any(|span| line(span) == self.line)
    }

    /// Every place of the quote.
    fn spans<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Span> + 't {
        let quote = if text.contains("\r\n") {
            self.quote.replace('\n', "\r\n")
        } else {
            self.quote.clone()
        };
        let places: Vec<Span> = if quote.is_empty() {
            Vec::new()
        } else {
            text.match_indices(&quote)
                .map(|(start, found)| Span::new(start, start + found.len()))
                .collect()
        };
        places.into_iter()
    }

    fn finding(&self, text: &str, lines: &LineIndex<'_>, severity: Severity) -> Option<Finding> {
        let distance = |span: &Span| (lines.position(span.start).line + 1).abs_diff(self.line);
        let span = self.spans(text).min_by_key(distance)?;
        let message = format!("{LABEL}: {}", self.message);
        let finding = Finding::new(self.detector.name, severity, span, message);
        let Some(AiObjective { kind, title, max_churn }) = self.detector.objective else {
            return Some(finding);
        };
        let signal = Signal {
            kind: "ai_detection",
            tool: None,
            packages: Vec::new(),
            evidence: format!("{}: {}", self.quote.replace('\n', " "), self.message),
            span,
        };
        let objective = Objective { kind, score: 1, signals: vec![signal], max_churn };
        Some(finding.with_fix(Fix::by_agent(title, PRIORITY, objective)))
    }
}

pub(crate) fn findings(
    file: &Dockerfile<'_>,
    detections: &[Detection],
    rules: &RuleSet,
) -> Vec<Finding> {
    if detections.is_empty() {
        return Vec::new();
    }
    let lines = LineIndex::new(file.text);
    detections
        .iter()
        .filter_map(|detection| {
            let severity = rules.detection_severity(detection.detector.name)?;
            detection.finding(file.text, &lines, severity)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DirectiveOptions, LintOptions, Pattern, Preset, RULES, engine::harness::lint_options,
    };

    const TEXT: &str = "FROM a:1\nRUN make\nCOPY . .\nRUN make\nCMD [\"x\"]\n";

    fn detection(name: &str, quote: &str, line: usize) -> Detection {
        let detector = AI_DETECTORS.iter().find(|detector| detector.bare_name() == name).unwrap();
        Detection { detector, quote: quote.to_owned(), line, message: "why".to_owned() }
    }

    /// `rule:line` for each finding of an agent.
    fn found(text: &str, detections: &[Detection], choose: impl Fn(&mut RuleSet)) -> Vec<String> {
        let mut rules = RuleSet::of(Preset::Recommended);
        choose(&mut rules);
        let directives = DirectiveOptions { warn_unused: true, ..DirectiveOptions::default() };
        let options = LintOptions { detections, directives, ..lint_options(&rules) };
        let lines = LineIndex::new(text);
        let findings = crate::lint(text, &options).into_iter();
        findings
            .filter(|finding| {
                finding.rule.starts_with(NAMESPACE) || finding.rule.contains("unused")
            })
            .map(|finding| {
                let line = lines.position(finding.span.unwrap().start).line + 1;
                format!("{}:{line}", finding.rule)
            })
            .collect()
    }

    #[test]
    fn names_are_no_other_rules() {
        for (index, detector) in AI_DETECTORS.iter().enumerate() {
            let bare = detector.bare_name();
            assert!(RULES.iter().all(|rule| !rule.metadata().is_called(bare)), "{bare}");
            assert!(AI_DETECTORS[..index].iter().all(|other| other.name < detector.name), "{bare}");
        }
    }

    #[test]
    fn the_nearest_place_counts_and_a_quote_that_is_gone_is_not_reported() {
        let near = |line| found(TEXT, &[detection("wasted-cache", "RUN make", line)], |_| {});
        assert_eq!(near(1), ["ai/wasted-cache:2"]);
        assert_eq!(near(4), ["ai/wasted-cache:4"]);
        assert_eq!(found(TEXT, &[detection("wasted-cache", "RUN ninja", 2)], |_| {}), [""; 0]);
        let several = detection("wasted-cache", "RUN make\nCOPY", 2);
        assert_eq!(found(TEXT, std::slice::from_ref(&several), |_| {}), ["ai/wasted-cache:2"]);
        let windows = TEXT.replace('\n', "\r\n");
        assert_eq!(found(&windows, std::slice::from_ref(&several), |_| {}), ["ai/wasted-cache:2"]);
        assert!(several.is_in_place(&windows) && several.is_in_place(TEXT));
        assert!(!detection("wasted-cache", "RUN make", 3).is_in_place(TEXT));
    }

    #[test]
    fn detections_are_chosen_and_suppressed_like_rules() {
        let all = [detection("wasted-cache", "COPY", 3), detection("broken-startup", "CMD", 5)];
        let patterns = |names: &[&str]| names.iter().copied().map(Pattern::new).collect::<Vec<_>>();
        let (cache, startup) = ("ai/wasted-cache:3", "ai/broken-startup:5");
        assert_eq!(found(TEXT, &all, |_| {}), [cache, startup]);
        assert_eq!(found(TEXT, &all, |rules| rules.ignore(&patterns(&["ai/*"]))), [""; 0]);
        assert_eq!(
            found(TEXT, &all, |rules| rules.ignore(&patterns(&["wasted-cache"]))),
            [startup]
        );
        assert_eq!(
            found(TEXT, &all, |rules| rules.select(&patterns(&["ai/broken-startup"]))),
            [startup]
        );
        assert_eq!(found(TEXT, &all, |rules| rules.select(&patterns(&["DL3006"]))), [""; 0]);
        assert_eq!(
            found(TEXT, &all, |rules| rules.set_severity("ai/wasted-cache", None)),
            [startup]
        );
        let directive = "# tally ignore=ai/wasted-cache;reason=small\nCOPY";
        let quiet = TEXT.replace("COPY", directive);
        assert_eq!(found(&quiet, &all, |_| {}), ["ai/broken-startup:6"]);
        // Without the detection the directive has nothing to do.
        assert_eq!(found(&quiet, &all[1..], |_| {}).len(), 2);
    }
}
