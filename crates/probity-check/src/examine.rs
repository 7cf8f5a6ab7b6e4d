//! One file: read it, lint it, fix it if that is wanted.

use std::path::Path;

use probity_dockerfile::Dockerignore;
use probity_finding::{Finding, TextSlice};
use probity_lint::{ContextFiles, Detached, LintOptions, Parsed, RuleSet, WantedFiles};
use probity_secrets::{FindSecrets as _, Secret};

use crate::{
    AiDetection, FixHandling, Fixing, IgnoreFiles, RunOptions, Subject, ai,
    builds::FileUses,
    context_files,
    fix::fix,
    inline,
    job::{Job, Target},
    opened::Opened,
    searched::Searched,
    source::Source,
};

/// What checking one file gave.
#[derive(Debug)]
pub struct Checked {
    pub shown: String,
    /// After fixing, the fixed text.
    pub text: TextSlice,
    pub findings: Vec<Finding>,
    /// Those of the text.
    pub secrets: Vec<Secret>,
    pub fixing: Option<Fixing>,
    /// What an agent was asked to find.
    pub ai_detections: Vec<AiDetection>,
}

pub(crate) fn examine(
    job: &Job,
    options: RunOptions,
    directory: &Path,
    ignore_files: &IgnoreFiles,
) -> Checked {
    match job.take_opened(directory) {
        Opened::Text(source, parsed) => match &job.target {
            Target::Inline(_, inline) => {
                inline::examine(job, source, inline, ignore_files, options)
            }
            Target::File(_) | Target::Stdin(_) => {
                let uses = job.uses.as_ref();
                examine_source(job, uses, options, source, *parsed, ignore_files)
            }
        },
        Opened::Problem(unread) => Checked {
            shown: unread.shown,
            text: TextSlice::default(),
            findings: vec![unread.finding],
            secrets: Vec::new(),
            fixing: None,
            ai_detections: Vec::new(),
        },
    }
}

/// The same for a text that was read and parsed already.
pub(crate) fn examine_source(
    job: &Job,
    uses: Option<&FileUses>,
    run: RunOptions,
    source: Source,
    parsed: Detached,
    ignore_files: &IgnoreFiles,
) -> Checked {
    let own_context = uses.and_then(FileUses::context).map(|dir| ignore_files.for_context(dir));
    let ignore_files = own_context.as_ref().unwrap_or(ignore_files);
    let parsed = parsed.attached(&source.text);
    let context_root = if job.options.ai.sees_context {
        ignore_files.shown_context_of(&source.path)
    } else {
        ignore_files.context_of(&source.path)
    };
    let context = ContextOf::file(&source, &parsed, ignore_files);
    let rules = job.rules.for_path(&source.shown);
    let searched = Searched::new(&job.rules.secrets);
    let options = LintOptions {
        uses: uses.map(|uses| &uses.lint),
        base_images: job.base_images(),
        secrets: Some(&searched),
        ..context.options(job, &rules)
    };
    let subject =
        Subject { job, source: &source, root: context_root, ignore: context.dockerignore.as_ref() };
    let (detections, ai_detection) = ai::detected(run, subject, options);
    let options = LintOptions { detections: &detections, ..options };
    let (text, found, fixing) = match run.fixes {
        _ if !source.is_exact => (None, without_fixes(parsed, &options), None),
        FixHandling::Offer => (None, findings_of(parsed, &options), None),
        FixHandling::Write | FixHandling::Diff => {
            let (text, found, fixing) = fix(run, job, &source, parsed, options, context_root);
            (Some(text), found, Some(fixing))
        }
    };
    let mut findings = source.findings;
    findings.extend(context.complaint);
    findings.extend(found);
    job.rules.keep_wanted(&source.shown, &mut findings);
    let text = text.map_or(source.text, TextSlice::from);
    let secrets = searched.find(&text);
    let ai_detections = ai_detection.into_iter().collect();
    Checked { shown: source.shown, text, findings, secrets, fixing, ai_detections }
}

/// The findings of a file without anything that has to be looked up. Secrets are not among them.
pub(crate) fn findings_before(
    job: &Job,
    source: &Source,
    parsed: &Parsed<'_>,
    ignore_files: &IgnoreFiles,
) -> Vec<Finding> {
    let context = ContextOf::file(source, parsed, ignore_files);
    let rules = job.rules.for_path(&source.shown);
    probity_lint::lint_parsed(parsed, &context.options(job, &rules))
}

/// What the build context of a file says.
struct ContextOf {
    dockerignore: Option<Dockerignore>,
    /// A finding about the ignore file.
    complaint: Option<Finding>,
    files: Option<ContextFiles>,
}

impl ContextOf {
    fn file(source: &Source, parsed: &Parsed<'_>, ignore_files: &IgnoreFiles) -> Self {
        let (dockerignore, complaint) = ignore_files.of(&source.path);
        let wanted = WantedFiles::of(parsed);
        let files = ignore_files.context_of(&source.path).map(|context| {
            let open_texts = ignore_files.open_texts();
            context_files::read(context, &wanted, dockerignore.as_ref(), open_texts)
        });
        Self { dockerignore, complaint, files }
    }

    fn options<'a>(&'a self, job: &Job, rules: &'a RuleSet) -> LintOptions<'a> {
        LintOptions {
            rules,
            uses: None,
            directives: job.options.directives,
            dockerignore: self.dockerignore.as_ref(),
            context_files: self.files.as_ref(),
            base_images: None,
            detections: &[],
            secrets: None,
        }
    }
}

/// Takes what was parsed, so that it is gone before the report is made.
fn findings_of(parsed: Parsed<'_>, options: &LintOptions<'_>) -> Vec<Finding> {
    probity_lint::lint_parsed(&parsed, options)
}

/// The findings of a text that must not be written back.
fn without_fixes(parsed: Parsed<'_>, options: &LintOptions<'_>) -> Vec<Finding> {
    let mut findings = findings_of(parsed, options);
    for finding in &mut findings {
        finding.fixes.clear();
    }
    findings
}
