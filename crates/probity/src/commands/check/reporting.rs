//! What is shown of each file that was checked, and what the run comes to.

use std::io::Write as _;

use probity_check::{Checked, FixHandling, Hider, Job, Target, masked};
use probity_finding::Finding;
use probity_lint::{Rejection, is_syntax_rule};
use probity_report::FileReport;

use super::{Options, output::Output, summary::Summary};
use crate::{
    config::Settings,
    exit::Exit,
    manual::Manual,
    screen::{self, count},
    streams,
};

/// The report of a run, as far as it is written.
pub(super) struct Reporting<'r> {
    manual: &'r Manual,
    output: Output,
    fixes: FixHandling,
    show_secrets: bool,
    summary: Summary,
    counted: Counted,
    /// A filter whose input could not be read has written nothing, which must not pass for an empty file.
    is_input_unread: bool,
}

/// How a run ends.
pub(super) enum Reported {
    /// By what its findings come to.
    Counted(Exit),
    /// By something else, whatever was found.
    Decided(Exit),
}

impl<'r> Reporting<'r> {
    pub(super) fn open(
        options: &Options,
        first: &Settings,
        fixes: FixHandling,
        manual: &'r Manual,
        jobs: &[Job],
    ) -> anyhow::Result<Self> {
        let output = Output::open(first, options, manual, takes_stdout(fixes, jobs), jobs)?;
        Ok(Self {
            manual,
            output,
            fixes,
            show_secrets: options.show_secrets,
            summary: Summary::default(),
            counted: Counted::default(),
            is_input_unread: false,
        })
    }

    pub(super) fn file(&mut self, job: &Job, mut checked: Checked) -> anyhow::Result<()> {
        checked.findings.iter_mut().for_each(|finding| self.manual.link(finding));
        self.counted.add(job, &checked.findings);
        let hider = Hider::new(&job.rules.secrets, &checked.text, &checked.secrets);
        self.fixes_of(job, &checked, &hider)?;
        let masked = if self.show_secrets {
            None
        } else {
            masked(&hider, &checked.text, &checked.secrets, &checked.findings)
        };
        let (text, findings) = match &masked {
            Some((text, findings)) => (text.as_str(), findings),
            None => (checked.text.as_str(), &checked.findings),
        };
        let fixing = checked.fixing.as_ref();
        let rejection = fixing.and_then(|fixing| fixing.rejection.as_ref()).map(|rejection| {
            Rejection { line: rejection.line, reason: self.shown(&rejection.reason, &hider) }
        });
        let report = FileReport {
            path: &checked.shown,
            text,
            findings,
            ai_fixes: fixing.map(|fixing| fixing.ai_fixes.as_slice()).unwrap_or_default(),
            ai_detections: &checked.ai_detections,
            invocations: &job.invocations(),
            rejection: rejection.as_ref(),
        };
        count::beside(|| self.output.file(&report))
    }

    /// Takes in what fixing a file came to, and writes the diff or the fixed text of standard input.
    fn fixes_of(&mut self, job: &Job, checked: &Checked, hider: &Hider<'_>) -> anyhow::Result<()> {
        let is_filter = self.fixes != FixHandling::Offer && matches!(job.target, Target::Stdin(_));
        let Some(fixing) = &checked.fixing else {
            self.is_input_unread |= is_filter;
            return Ok(());
        };
        let show_secrets = self.show_secrets;
        self.summary.add(&checked.shown, fixing, |message| {
            if show_secrets { message.to_owned() } else { hider.message(message) }
        });
        let text = fixing.output.as_deref().unwrap_or_default();
        let text = match self.fixes {
            FixHandling::Diff => screen::stdout().painted_diff(text),
            FixHandling::Offer | FixHandling::Write => text.to_owned(),
        };
        count::beside(|| streams::stdout().for_programs().write_all(text.as_bytes()))?;
        Ok(())
    }

    fn shown(&self, message: &str, hider: &Hider<'_>) -> String {
        if self.show_secrets { message.to_owned() } else { hider.message(message) }
    }

    pub(super) fn finish(self, jobs: &[Job]) -> anyhow::Result<Reported> {
        let rules_enabled = jobs.first().map_or(0, |job| job.rules.set.len());
        self.output.finish(jobs.len(), rules_enabled)?;
        streams::stdout().lock().flush()?;
        self.summary.say(self.fixes)?;
        let is_changing = self.fixes == FixHandling::Diff && self.summary.changed_files > 0;
        Ok(if self.summary.failed_files > 0 || self.is_input_unread {
            Reported::Decided(Exit::Failure)
        } else if is_changing {
            Reported::Decided(Exit::Findings)
        } else {
            Reported::Counted(self.counted.exit())
        })
    }
}

/// Whether standard output is taken by the fixed text or the diff.
fn takes_stdout(fixes: FixHandling, jobs: &[Job]) -> bool {
    let has_stdin = jobs.iter().any(|job| matches!(job.target, Target::Stdin(_)));
    fixes == FixHandling::Diff || (fixes == FixHandling::Write && has_stdin)
}

/// The findings that decide the exit code.
#[derive(Default)]
struct Counted {
    syntax: usize,
    other: usize,
}

impl Counted {
    fn add(&mut self, job: &Job, findings: &[Finding]) {
        let Some(least) = job.options.fail_from else { return };
        for finding in findings.iter().filter(|finding| finding.severity >= least) {
            if is_syntax_rule(&finding.rule) {
                self.syntax += 1;
            } else {
                self.other += 1;
            }
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self { syntax: 0, other: 0 } => Exit::Clean,
            Self { other: 0, .. } => Exit::SyntaxOnly,
            Self { .. } => Exit::Findings,
        }
    }
}
