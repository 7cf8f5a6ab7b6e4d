//! The report as JSON, with everything that is known.

use probity_proof::ExploitLevel;
use serde_json::{Value, json};

use super::{Report, Reported, Status, summary};

impl Report {
    /// Pretty, with a newline at the end.
    #[must_use]
    pub fn json(&self) -> String {
        let failed: Vec<Value> = self
            .failed
            .iter()
            .map(|iteration| json!({"skill_id": iteration.skill_id, "status": iteration.status, "error": iteration.error}))
            .collect();
        let note = self.is_scaffold.then_some(super::NOBODY_ASKED);
        let ignored: Vec<Value> = self
            .ignored
            .iter()
            .map(|ignored| {
                json!({
                    "skill_id": ignored.reported.skill_id,
                    "title": ignored.reported.finding.title,
                    "file": ignored.reported.finding.file,
                    "line": ignored.reported.finding.line,
                    "comment_line": ignored.excuse.line,
                    "reason": ignored.excuse.reason,
                    "fingerprint": ignored.reported.finding.fingerprint,
                    "id": ignored.reported.finding.id(),
                    "status": Status::Accepted,
                })
            })
            .collect();
        let coverage: Vec<Value> = self
            .coverage
            .iter()
            .map(|skill| json!({"skill_id": skill.skill_id, "files": skill.files}))
            .collect();
        let page = json!({
            "note": note,
            "complete": self.is_whole(),
            "title": self.title,
            "generated_at": self.generated_at,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "unverified": self.unverified.iter().map(finding).collect::<Vec<_>>(),
            "elsewhere": self.elsewhere.iter().map(finding).collect::<Vec<_>>(),
            "previous": self.previous.iter().map(finding).collect::<Vec<_>>(),
            "failed": failed,
            "cached": self.cached,
            "changed_files": self.changed,
            "ignored": ignored,
            "coverage": coverage,
            "summary": {
                "skills": self.skills,
                "failed": self.failed.len(),
                "findings": self.findings.len(),
                "unverified": self.unverified.len(),
                "ignored": self.ignored.len(),
                "known": self.known,
                "elsewhere": self.elsewhere.len(),
                "previous": self
                    .previous_counts()
                    .map(|(status, count)| (status.as_str().to_owned(), json!(count)))
                    .into_iter()
                    .collect::<Value>(),
                "refutations": self.verdicts(),
                "levels": levels(&self.findings),
                "sentences": summary::sentences(self),
            },
            "scope": self.scope,
            "limits": summary::LIMITS,
            "warnings": self.warnings,
            "usage": self.usage,
        });
        format!("{page:#}\n")
    }
}

fn finding(reported: &Reported) -> Value {
    let finding = &reported.finding;
    json!({
        "skill_id": reported.skill_id,
        "also_found_by": reported.also_found_by,
        "title": finding.title,
        "severity": finding.severity,
        "summary": finding.summary,
        "evidence": finding.evidence,
        "recommendation": finding.recommendation,
        "file": finding.file,
        "line": finding.line,
        "verified": finding.verified.unwrap_or(false),
        "fingerprint": finding.fingerprint,
        "refutation": finding.refutation,
        "id": finding.id(),
        "status": reported.status,
        "status_reason": reported.status_reason,
        "impact": finding.impact,
        "likelihood": finding.likelihood,
        "level": finding.level(),
        "exploit": finding.exploit,
    })
}

/// How many findings have each level.
fn levels(findings: &[Reported]) -> Value {
    let count = |level: ExploitLevel| {
        findings.iter().filter(|reported| reported.finding.level() == level).count()
    };
    ExploitLevel::ALL
        .into_iter()
        .map(|level| (level.name().to_owned(), json!(count(level))))
        .collect()
}
