//! The report as one page of HTML that loads nothing: summary, scope, findings, and what they rest on.

use std::fmt::Write as _;

use probity_proof::ExploitLevel;
use probity_text::html::{escape, page};

use super::{Report, Reported, Status, summary};
use crate::{Exploitation, FileCoverage, Finding};

impl Report {
    #[must_use]
    pub fn html(&self) -> String {
        let mut body = format!(
            "<h1>{}</h1>\n<p class=\"note\">{}</p>\n",
            escape(&self.title),
            escape(&self.generated_at)
        );
        body += "<h2 id=\"summary\">Executive summary</h2>\n";
        summary::sentences(self).iter().for_each(|sentence| body += &paragraph(sentence));
        body += &self.counted();
        body += &self.findings_html("Findings", "findings", &self.findings);
        if !self.elsewhere.is_empty() {
            body += &self.findings_html(
                "Findings outside the changed files",
                "elsewhere",
                &self.elsewhere,
            );
        }
        if !self.previous.is_empty() {
            body +=
                &self.findings_html("Findings of the previous audit", "previous", &self.previous);
        }
        if !self.unverified.is_empty() {
            body += &self.findings_html("Unverified findings", "unverified", &self.unverified);
        }
        body += &self.accepted();
        body += &self.scope_html();
        body += &self.coverage_html();
        body += "<h2 id=\"limits\">Limits of the method</h2>\n<ul>\n";
        for limit in summary::LIMITS {
            // Writing to a string cannot fail.
            _ = writeln!(body, "<li>{}</li>", escape(limit));
        }
        body += "</ul>\n";
        page(&self.title, &body)
    }

    fn counted(&self) -> String {
        let mut text = "<table>\n<thead><tr><th>Severity</th>".to_owned();
        for level in ExploitLevel::ALL {
            _ = write!(text, "<th>{}</th>", summary::level_words(level));
        }
        text += "</tr></thead>\n<tbody>\n";
        for (risk, counts) in summary::counts(&self.findings) {
            let risk = risk.as_str();
            _ = write!(text, "<tr><td class=\"{risk}\">{risk}</td>");
            counts.iter().for_each(|count| _ = write!(text, "<td>{count}</td>"));
            text += "</tr>\n";
        }
        text + "</tbody>\n</table>\n"
    }

    fn findings_html(&self, title: &str, anchor: &str, findings: &[Reported]) -> String {
        let mut text = format!("<h2 id=\"{anchor}\">{title}</h2>\n");
        if findings.is_empty() {
            return text + &paragraph(if self.is_whole() { "None." } else { "None so far." });
        }
        let mut sorted: Vec<&Reported> = findings.iter().collect();
        sorted.sort_by_key(|reported| std::cmp::Reverse(reported.finding.severity));
        sorted.iter().for_each(|reported| text += &article(reported));
        text
    }

    fn accepted(&self) -> String {
        if self.ignored.is_empty() && self.known == 0 {
            return String::new();
        }
        let mut text = "<h2 id=\"accepted\">Accepted findings</h2>\n<ul>\n".to_owned();
        for ignored in &self.ignored {
            let finding = &ignored.reported.finding;
            _ = writeln!(
                text,
                "<li>{} <span class=\"note\">{}</span>, accepted on line {}: {}</li>",
                escape(&finding.title),
                escape(&place(finding)),
                ignored.excuse.line,
                escape(&ignored.excuse.reason)
            );
        }
        if self.known > 0 {
            _ = writeln!(text, "<li>{} known from the baseline</li>", self.known);
        }
        text + "</ul>\n"
    }

    fn scope_html(&self) -> String {
        let Some(scope) = &self.scope else { return String::new() };
        let mut text = "<h2 id=\"scope\">Scope</h2>\n<table>\n<tbody>\n".to_owned();
        for (name, value) in scope.rows() {
            _ = writeln!(text, "<tr><th>{name}</th><td>{}</td></tr>", escape(&value));
        }
        text += "</tbody>\n</table>\n<details><summary>Sources and skills</summary>\n<table>\n<tbody>\n";
        for digest in scope.files.iter().chain(&scope.skills) {
            let (name, digest) = (escape(&digest.name), escape(&digest.digest));
            _ = writeln!(text, "<tr><td>{name}</td><td><code>{digest}</code></td></tr>");
        }
        text + "</tbody>\n</table>\n</details>\n"
    }

    fn coverage_html(&self) -> String {
        if self.coverage.is_empty() && self.failed.is_empty() {
            return String::new();
        }
        let mut text = "<h2 id=\"coverage\">Coverage</h2>\n<table>\n<tbody>\n".to_owned();
        for skill in &self.coverage {
            let shown: u64 = skill.files.iter().map(FileCoverage::shown_lines).sum();
            let all: u64 = skill.files.iter().map(|file| file.lines).sum();
            let id = escape(&skill.skill_id);
            _ = writeln!(text, "<tr><td>{id}</td><td>{shown} of {all} lines</td></tr>");
        }
        for failed in &self.failed {
            let why = failed.error.as_deref().unwrap_or_default();
            let (id, why) = (escape(&failed.skill_id), escape(why));
            _ = writeln!(text, "<tr><td>{id}</td><td class=\"high\">not finished: {why}</td></tr>");
        }
        text + "</tbody>\n</table>\n"
    }
}

fn article(reported: &Reported) -> String {
    let finding = &reported.finding;
    let id = escape(&finding.id());
    let risk = finding.severity.as_str();
    let mut text = format!("<article id=\"{id}\">\n<h3>{}</h3>\n<p>", escape(&finding.title));
    _ = write!(text, "<span class=\"tag {risk}\">{risk}</span>");
    let tone = if finding.level() == ExploitLevel::Quoted { "note" } else { "critical" };
    let level = summary::level_words(finding.level());
    _ = write!(text, "<span class=\"tag {tone}\">{level}</span>");
    let tone = match reported.status {
        Status::Open => "note",
        Status::Fixed | Status::Accepted => "good",
        Status::Unclear => "medium",
    };
    _ = write!(text, "<span class=\"tag {tone}\">{}</span>", reported.status.as_str());
    _ = writeln!(text, "<code>{id}</code> {}</p>", escape(&place(finding)));
    for (name, value) in summary::paragraphs(reported) {
        _ = writeln!(text, "<p><strong>{name}.</strong> {}</p>", escape(&value));
    }
    finding.evidence.iter().for_each(|quote| text += &block(quote));
    if let Some(exploit) = &finding.exploit {
        text += &exploit_html(exploit);
    }
    let skills = std::iter::once(&reported.skill_id).chain(&reported.also_found_by);
    let skills: Vec<String> = skills.map(|skill| escape(skill)).collect();
    _ = writeln!(text, "<p class=\"note\">Found by {}</p>\n</article>", skills.join(", "));
    text
}

fn exploit_html(exploit: &Exploitation) -> String {
    let mut text = String::new();
    for tried in &exploit.tried {
        _ = writeln!(text, "<p class=\"note\">Tried before: {}</p>", escape(tried));
    }
    let mut part = |title: &str, code: String| {
        _ = writeln!(text, "<details>\n<summary>{title}</summary>\n{code}</details>");
    };
    if !exploit.test_code.is_empty() {
        let names = format!(
            "Exploit <code>{}</code> and control <code>{}</code>",
            escape(&exploit.test_name),
            escape(&exploit.control_name)
        );
        part(&names, block(&exploit.test_code));
    }
    if !exploit.output.trim().is_empty() {
        part("Output of the exploit", block(&exploit.output));
    }
    if let Some(patch) = &exploit.fix_patch {
        part("Fix", diff(patch));
    }
    text
}

fn block(code: &str) -> String {
    format!("<pre><code>{}</code></pre>\n", escape(code))
}

fn diff(patch: &str) -> String {
    let line = |line: &str| {
        let tone = match line.as_bytes().first() {
            Some(b'+') => "added",
            Some(b'-') => "removed",
            _ => return format!("{}\n", escape(line)),
        };
        format!("<span class=\"{tone}\">{}</span>\n", escape(line))
    };
    let lines: String = patch.lines().map(line).collect();
    format!("<pre><code>{lines}</code></pre>\n")
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

fn place(finding: &Finding) -> String {
    match (&finding.file, finding.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        _ => String::new(),
    }
}
