//! `audit verify`: the exploits of a report, run again on the code of today.

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_audit::{Report, Reported, Status};
use probity_scope::{MOST_BYTES, Missing, read_text};
use probity_text::visible;

use super::{output, prove};
use crate::{
    commands::stop::Stop,
    config::{self, Layer, words::AuditFormat},
    exit::Exit,
    failure::Failure,
    name::Name,
    output::OutputFile,
    streams,
};

/// What is verified, and where the new report goes.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) report: PathBuf,
    pub(crate) report_out: Option<PathBuf>,
    pub(crate) quiet: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let root = env::current_dir().context("cannot find the working directory")?;
    let mut report = read(&options.report)?;
    let format = options.report_out.as_deref().map(format).transpose()?;
    let settings = config::in_force(Name::Probity, &["audit"], &root, Layer::default())?;
    // Before anything of the repository runs.
    let way_out = "name another file with --report-out";
    let open = |path: &Path| OutputFile::open(path, &root, Missing::Make, way_out);
    let report_out = options.report_out.as_deref().map(open).transpose()?;
    let stop = Stop::listen();
    let workshop = prove::prepared(prove::options(&root, &settings, &stop)?)?;
    let mut counts = Counts::default();
    let mut written = Ok(());
    probity_audit::verify(&mut report, &root, &workshop, &mut |reported| {
        counts.add(reported.status);
        if !options.quiet && written.is_ok() {
            written = writeln!(streams::stdout().lock(), "{}", line(reported));
        }
    });
    written.context("cannot write the result")?;
    if let Some(exit) = stop.called_off() {
        tracing::error!("the verification was cancelled");
        return Ok(exit);
    }
    if let (Some(file), Some(format)) = (&report_out, format) {
        report.generated_at = output::now();
        output::write_report(file, &report, format, &root, &[])?;
    }
    if !options.quiet {
        let Counts { open, fixed, accepted, unclear } = counts;
        let summary =
            format!("Exploits: {open} open, {fixed} fixed, {accepted} accepted, {unclear} unclear");
        writeln!(streams::stdout().lock(), "{summary}").context("cannot write the result")?;
    }
    Ok(counts.exit())
}

fn read(path: &Path) -> anyhow::Result<Report> {
    let shown = path.display();
    let way_out = "name a report that `probity audit --prove --format json` wrote";
    let text = read_text(path, MOST_BYTES)
        .with_context(|| Failure::new(format!("cannot read {shown}"), way_out))?;
    let report = Report::parse(&text)
        .with_context(|| Failure::new(format!("{shown} cannot be verified"), way_out))?;
    let mut findings = report.findings.iter().chain(&report.elsewhere).chain(&report.previous);
    let has_exploit = |reported: &Reported| {
        reported.finding.exploit.as_ref().is_some_and(probity_audit::Exploitation::is_kept)
    };
    if !findings.any(has_exploit) {
        let what = format!("{shown} has no exploit that could be run again");
        return Err(Failure::new(what, way_out).into());
    }
    Ok(report)
}

fn format(path: &Path) -> Result<AuditFormat, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("md") => Ok(AuditFormat::Markdown),
        Some("json") => Ok(AuditFormat::Json),
        Some("sarif") => Ok(AuditFormat::Sarif),
        Some("html") => Ok(AuditFormat::Html),
        _ => Err(Failure::new(
            format!("the format of {} is unknown", path.display()),
            "use a name that ends in .md, .json, .sarif or .html",
        )),
    }
}

fn line(reported: &Reported) -> String {
    let finding = &reported.finding;
    let reason = reported.status_reason.as_deref().unwrap_or_default();
    let text = format!(
        "{} {} ({}) {}: {reason}",
        reported.status.as_str(),
        finding.id(),
        finding.severity,
        finding.title
    );
    visible::line(&text).to_string()
}

#[derive(Clone, Copy, Default)]
struct Counts {
    open: usize,
    fixed: usize,
    accepted: usize,
    unclear: usize,
}

impl Counts {
    fn add(&mut self, status: Status) {
        let count = match status {
            Status::Open => &mut self.open,
            Status::Fixed => &mut self.fixed,
            Status::Accepted => &mut self.accepted,
            Status::Unclear => &mut self.unclear,
        };
        *count += 1;
    }

    fn exit(self) -> Exit {
        if self.open > 0 {
            Exit::Findings
        } else if self.unclear > 0 {
            Exit::SkillFailed
        } else {
            Exit::Clean
        }
    }
}
