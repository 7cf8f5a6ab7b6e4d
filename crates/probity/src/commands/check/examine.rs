//! One file: read it, lint it, fix it if that is wanted.

use std::path::Path;

use probity_check::{IgnoreFiles, builds::FileUses, read_context_files, source::Source};
use probity_dockerfile::Dockerignore;
use probity_finding::{Finding, TextSlice};
use probity_lint::{
    ContextFiles, Detached, DirectiveOptions, LintOptions, Parsed, RuleSet, WantedFiles,
};
use probity_secrets::{FindSecrets as _, Secret};

use super::{
    ai::{AiRun, Subject},
    fix::{Fixing, Way, fix},
    inline,
    job::{Job, Target},
    opened::Opened,
    searched::Searched,
};
use crate::{config::words::AiContext, report::ai_detection::AiDetection};

/// What checking one file gave.
pub(super) struct Checked {
    pub(super) shown: String,
    /// After fixing, the fixed text.
    pub(super) text: TextSlice,
    pub(super) findings: Vec<Finding>,
    /// Those of the text.
    pub(super) secrets: Vec<Secret>,
    pub(super) fixing: Option<Fixing>,
    /// What an agent was asked to find.
    pub(super) ai_detections: Vec<AiDetection>,
}

pub(super) fn examine(
    job: &Job,
    way: Way,
    directory: &Path,
    ignore_files: &IgnoreFiles,
    ai: &AiRun,
) -> Checked {
    match job.take_opened(directory) {
        Opened::Text(source, parsed) => match &job.target {
            Target::Inline(_, inline) => inline::examine(job, source, inline, ignore_files, ai),
            Target::File(_) | Target::Stdin(_) => {
                let uses = job.uses.as_ref();
                examine_source(job, uses, way, source, *parsed, ignore_files, ai)
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
pub(super) fn examine_source(
    job: &Job,
    uses: Option<&FileUses>,
    way: Way,
    source: Source,
    parsed: Detached,
    ignore_files: &IgnoreFiles,
    ai: &AiRun,
) -> Checked {
    let own_context = uses.and_then(FileUses::context).map(|dir| ignore_files.for_context(dir));
    let ignore_files = own_context.as_ref().unwrap_or(ignore_files);
    let parsed = parsed.attached(&source.text);
    let context_root = match job.config.ai.context {
        AiContext::None => ignore_files.context_of(&source.path),
        AiContext::Snapshot | AiContext::ReadOnly => ignore_files.shown_context_of(&source.path),
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
    let (detections, ai_detection) = ai.detected(subject, options);
    let options = LintOptions { detections: &detections, ..options };
    let (text, found, fixing) = match way {
        _ if !source.is_exact => (None, without_fixes(parsed, &options), None),
        Way::Offer => (None, findings_of(parsed, &options), None),
        Way::Write | Way::Diff => {
            let (text, found, fixing) = fix(way, job, &source, parsed, options, context_root, ai);
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
pub(super) fn findings_before(
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
            read_context_files(context, &wanted, dockerignore.as_ref(), open_texts)
        });
        Self { dockerignore, complaint, files }
    }

    fn options<'a>(&'a self, job: &Job, rules: &'a RuleSet) -> LintOptions<'a> {
        let asked = &job.config.check.inline_directives;
        LintOptions {
            rules,
            uses: None,
            directives: DirectiveOptions {
                enabled: asked.enabled,
                validate_rules: asked.validate_rules,
                warn_unused: asked.warn_unused,
                require_reason: asked.require_reason,
            },
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
