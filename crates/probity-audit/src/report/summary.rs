//! The sentences that every format of a report has: the executive summary, levels in words, and the
//! limits of the method.

use probity_proof::ExploitLevel;

use super::{NOBODY_ASKED, Report, Reported, Status};
use crate::Risk;

/// What an audit does not say.
pub(super) const LIMITS: [&str; 5] = [
    "Quoted: the quoted code exists. Nothing shows that the code can be attacked.",
    "Exploited: a test attacks the code and succeeds in every run, and no longer succeeds once the \
     entry point rejects everything, which a control test of honest use confirms.",
    "Exploited and fixed: the attack succeeds, and a fix stops it without breaking the control or an \
     existing test. Only these two levels count as proven.",
    "An audit looks for the classes of its skills. A report without findings does not show that the \
     code is free of vulnerabilities.",
    "Exploits run on a copy of the project, sandboxed and offline. Deployment, configuration and \
     other services are not part of it.",
];

/// A level as people read it.
pub(super) const fn level_words(level: ExploitLevel) -> &'static str {
    match level {
        ExploitLevel::Quoted => "quoted",
        ExploitLevel::Exploited => "exploited",
        ExploitLevel::ExploitedAndFixed => "exploited and fixed",
    }
}

/// How many findings of each severity have each level, the worst first.
pub(super) fn counts(findings: &[Reported]) -> Vec<(Risk, [usize; 3])> {
    let count = |risk: Risk, level: ExploitLevel| {
        let is_counted = |reported: &&Reported| {
            reported.finding.severity == risk && reported.finding.level() == level
        };
        findings.iter().filter(is_counted).count()
    };
    let row = |risk: Risk| (risk, ExploitLevel::ALL.map(|level| count(risk, level)));
    Risk::ALL.into_iter().rev().map(row).collect()
}

/// What somebody reads who reads nothing else.
pub(super) fn sentences(report: &Report) -> Vec<String> {
    if report.is_scaffold {
        return vec![NOBODY_ASKED.to_owned()];
    }
    if report.skills == 0 && report.findings.is_empty() {
        let none = "No skill was run, so the audit says nothing about the sources.".to_owned();
        return std::iter::once(none).chain(previous(report)).collect();
    }
    let all = report.findings.len();
    let at = |level: ExploitLevel| {
        report.findings.iter().filter(|reported| reported.finding.level() == level).count()
    };
    let mut sentences = vec![match all {
        0 => "The audit found no vulnerability whose quotes exist in the sources.".to_owned(),
        _ => format!(
            "The audit found {}: {} exploited and fixed, {} exploited, {} quoted only.",
            counted(all, "vulnerability", "vulnerabilities"),
            at(ExploitLevel::ExploitedAndFixed),
            at(ExploitLevel::Exploited),
            at(ExploitLevel::Quoted)
        ),
    }];
    if let Some(worst) = report.findings.iter().map(|reported| reported.finding.severity).max() {
        sentences.push(format!("The highest severity is {worst}."));
    }
    let closed = report.findings.iter().filter(|reported| reported.status == Status::Fixed).count();
    if closed > 0 {
        let noun = counted(closed, "exploit no longer succeeds", "exploits no longer succeed");
        sentences.push(format!("On today's code {noun}."));
    }
    sentences.extend(previous(report));
    if !report.is_whole() {
        sentences.push(format!(
            "The audit is incomplete: {} of {} did not finish.",
            report.failed.len(),
            counted(report.skills, "skill", "skills")
        ));
    }
    sentences
}

/// What has become of the findings that no skill reports again.
fn previous(report: &Report) -> Option<String> {
    let noun = counted(report.previous.len(), "finding", "findings");
    let counts = report.previous_counts();
    let counts = counts.map(|(status, count)| format!("{count} {}", status.as_str())).join(", ");
    let sentence = format!("No skill reports {noun} of the previous audit again: {counts}.");
    if report.previous.is_empty() { None } else { Some(sentence) }
}

/// What a finding says about itself, in the order in which it is read.
pub(super) fn paragraphs(reported: &Reported) -> Vec<(&'static str, String)> {
    let finding = &reported.finding;
    let likelihood = match (finding.likelihood, finding.level()) {
        (Some(likelihood), _) => likelihood.to_string(),
        (None, ExploitLevel::Quoted) => String::new(),
        (None, _) => "shown by the exploit".to_owned(),
    };
    let exploit = finding.exploit.as_ref();
    let refutation = finding.refutation.as_ref();
    let all = [
        ("Summary", finding.summary.clone()),
        ("Impact", finding.impact.clone().unwrap_or_default()),
        ("Likelihood", likelihood),
        ("Recommendation", finding.recommendation.clone()),
        ("Status", reported.status_reason.clone().unwrap_or_default()),
        ("Proof", exploit.map(|exploit| exploit.reason.clone()).unwrap_or_default()),
        (
            "Refutation",
            refutation.map_or_else(String::new, |refutation| {
                format!("{}. {}", refutation.verdict.as_str(), refutation.reason)
            }),
        ),
    ];
    all.into_iter().filter(|(_, text)| !text.trim().is_empty()).collect()
}

fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
