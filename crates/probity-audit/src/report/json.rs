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
            .map(|it| {
                json!({
                    "skill_id": it.reported.skill_id,
                    "title": it.reported.finding.title,
                    "file": it.reported.finding.file,
                    "line": it.reported.finding.line,
                    "comment_line": it.excuse.line,
                    "reason": it.excuse.reason,
                    "fingerprint": it.reported.finding.fingerprint,
                    "id": it.reported.finding.id(),
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
    let it = &reported.finding;
    json!({
        "skill_id": reported.skill_id,
        "also_found_by": reported.also_found_by,
        "title": it.title,
        "severity": it.severity,
        "summary": it.summary,
        "evidence": it.evidence,
        "recommendation": it.recommendation,
        "file": it.file,
        "line": it.line,
        "verified": it.verified.unwrap_or(false),
        "fingerprint": it.fingerprint,
        "refutation": it.refutation,
        "id": it.id(),
        "status": reported.status,
        "status_reason": reported.status_reason,
        "impact": it.impact,
        "likelihood": it.likelihood,
        "level": it.level(),
        "exploit": it.exploit,
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
