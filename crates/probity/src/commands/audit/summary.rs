//! What an audit says at its end.

use std::{
    io::{self, Write as _},
    path::Path,
};

use probity_audit::{ExploitLevel, Report, State, TokenUsage};
use probity_report::Screen;
use probity_text::visible;

use crate::{name::Name, screen, streams};

/// Four lines that the specification has; under our own name, what each skill came to as well.
pub(super) fn print(
    name: Name,
    state: &State,
    report: &Report,
    state_out: &Path,
    report_out: &Path,
    quiet: bool,
) -> io::Result<()> {
    for iteration in &report.failed {
        let why = iteration.error.as_deref().unwrap_or_default();
        let (id, status) = (visible::line(&iteration.skill_id), &iteration.status);
        tracing::error!("skill '{id}' {status}: {}", visible::line(why));
    }
    for warning in &report.warnings {
        tracing::warn!("{}", visible::line(warning));
    }
    if quiet {
        return Ok(());
    }
    let mut out = Vec::new();
    let printed = |out: &[u8]| {
        let text = String::from_utf8_lossy(out);
        // The specification of trix has these lines.
        let screen = if name == Name::Trix { Screen::PLAIN } else { screen::stdout() };
        streams::stdout().lock().write_all(screen.folded(&text).as_bytes())
    };
    if name != Name::Trix && !report.is_whole() {
        writeln!(out, "{}", incomplete(report))?;
    }
    writeln!(
        out,
        "⚠️  EXPERIMENTAL: Audit complete. Iterations processed: {}",
        state.iterations.len()
    )?;
    writeln!(out, "Source files analyzed: {}", state.source_files.len())?;
    writeln!(out, "State written to: {}", state_out.display())?;
    writeln!(out, "Report written to: {}", report_out.display())?;
    if name == Name::Trix || report.is_scaffold {
        return printed(&out);
    }
    writeln!(
        out,
        "Findings: {} verified, {} unverified, {} ignored, {} known",
        report.findings.len(),
        report.unverified.len(),
        report.ignored.len(),
        report.known
    )?;
    if !report.elsewhere.is_empty() {
        writeln!(out, "Findings outside the changed files: {}", report.elsewhere.len())?;
    }
    if !report.previous.is_empty() {
        let counts = report.previous_counts();
        let counts = counts.map(|(status, count)| format!("{count} {}", status.as_str()));
        writeln!(out, "Previous findings, not reported again: {}", counts.join(", "))?;
    }
    if report.findings.iter().any(|reported| reported.finding.exploit.is_some()) {
        let count = |level: ExploitLevel| {
            report.findings.iter().filter(|reported| reported.finding.level() == level).count()
        };
        writeln!(
            out,
            "Exploits: {} exploited and fixed, {} exploited, {} quoted",
            count(ExploitLevel::ExploitedAndFixed),
            count(ExploitLevel::Exploited),
            count(ExploitLevel::Quoted)
        )?;
    }
    let verdicts = report.verdicts();
    if !verdicts.is_empty() {
        let counts: Vec<String> =
            verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        writeln!(out, "Refutations: {}", counts.join(", "))?;
    }
    for iteration in &state.iterations {
        let (id, status) = (visible::line(&iteration.skill_id), visible::line(&iteration.status));
        let cached = if iteration.cached { " (cached)" } else { "" };
        let usage = iteration.usage.map_or_else(String::new, |usage| tokens(&usage));
        writeln!(out, "  {id}: {status}{cached}, findings: {}{usage}", iteration.findings.len())?;
    }
    if let Some(usage) = &state.usage {
        writeln!(out, "Total{}", tokens(usage))?;
    }
    printed(&out)
}

/// The first line of an audit that says less than it seems to.
fn incomplete(report: &Report) -> String {
    if report.is_scaffold {
        return "Incomplete audit: no model was asked; name one with --provider".to_owned();
    }
    let (missing, all) = (report.failed.len(), report.skills);
    format!("Incomplete audit: {missing} of {all} skills have no result; see below for the reasons")
}

fn tokens(usage: &TokenUsage) -> String {
    let cost = usage.cost_usd.map_or_else(String::new, |cost| format!(", {cost:.4} USD"));
    format!(
        ", requests: {}, tokens: {} in, {} out{cost}",
        usage.requests, usage.input_tokens, usage.output_tokens
    )
}
