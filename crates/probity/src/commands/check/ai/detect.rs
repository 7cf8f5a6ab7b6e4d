//! `--ai-detect`: an agent reports problems, and the linter gets those whose quotes exist.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use probity_agent::Cancel;
use probity_autofix::{
    DETECTION_VERSION, Detected, DetectionRequest, Event, Outcome, Reason, Unaccepted, detect,
    preview_detection, read_detections,
};
use probity_lint::{AI_DETECTORS, AiDetector, Detection, LintOptions};
use probity_registry::Digest;

use super::{
    AiRun,
    agent::named,
    asked::{Asked, Subject, shown},
    settings,
    watch::Watch,
};
use crate::{
    commands::check::{cache, mask::Hider},
    report::{ai_detection::AiDetection, ai_fix::read_in_words},
};

/// The model behind a name may be another one after this time.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3_600);

/// No answer is larger.
const MOST_BYTES: u64 = 2 << 20;

impl AiRun {
    /// What the agent of a file's configuration finds in it; nothing unless detection is asked for.
    pub(in crate::commands::check) fn detected(
        &self,
        subject: Subject<'_>,
        lint: LintOptions<'_>,
    ) -> (Vec<Detection>, Option<AiDetection>) {
        let is_wanted =
            |detector: &&AiDetector| lint.rules.detection_severity(detector.name).is_some();
        let detectors: Vec<&'static AiDetector> = AI_DETECTORS.iter().filter(is_wanted).collect();
        if !self.detects || detectors.is_empty() || self.is_cancelled() {
            return (Vec::new(), None);
        }
        let Subject { job, source, .. } = subject;
        let hider = Hider::of(job.rules.gate(), &source.text);
        let hide = |text: &str| hider.message(text);
        let skipped = |reason: Reason, detail: &str, asked: Option<&Asked>, detected: &Detected| {
            let detail = hide(detail);
            if reason != Reason::AiDisabled {
                let shown = &source.shown;
                tracing::warn!("{shown}: AI detection skipped: {}: {detail}", reason.as_str());
            }
            let session = asked.and_then(|asked| asked.session(&detected.session));
            let session = session.map(|session| shown(session, &hide));
            (Vec::new(), Some(AiDetection::skipped(reason.as_str(), detail, session)))
        };
        let none = Detected::default();
        let asked = named(&job.config).and_then(|chosen| self.asked(subject, chosen));
        let asked = match asked {
            Ok(asked) => asked,
            Err((reason, detail)) => return skipped(reason, &detail, None, &none),
        };
        let request = DetectionRequest {
            path: &source.shown,
            text: &source.text,
            detectors: &detectors,
            lint: LintOptions { secrets: Some(job.rules.gate()), ..lint },
            settings: settings(&job.config.ai),
            context: asked.context.as_ref(),
        };
        let watch = Watch {
            shown: &source.shown,
            agent: &asked.agent,
            hider: Hider::of(job.rules.gate(), &source.text),
            trace: self.trace.as_ref(),
            heard: self.progress.as_ref(),
        };
        let preview = preview_detection(&request);
        if self.dry_run {
            watch.preview(preview, &asked.contained_by);
            return skipped(Reason::AiDisabled, "this is a dry run", None, &none);
        }
        let prompt = match preview {
            Ok(prompt) => prompt,
            Err(Outcome::Skipped { reason, detail }) => {
                return skipped(reason, &detail, None, &none);
            }
            Err(Outcome::Applied | Outcome::NoChange) => return (Vec::new(), None),
        };
        let kept = kept_at(&asked.named, &prompt);
        if let Some(detected) = kept.as_ref().and_then(|path| read_kept(path, &request)) {
            let report = AiDetection::cached(detected.detections.len());
            return (detected.detections, Some(report));
        }
        let cancel = self.stop.as_ref().map_or_else(Cancel::new, |stop| stop.cancel.clone());
        let heard = |event: Event<'_>| watch.event(event);
        let mut opening = || asked.open();
        let detected = detect(&request, &mut opening, &cancel, &heard);
        if let Some((reason, detail)) = &detected.failure {
            return skipped(*reason, detail, Some(&asked), &detected);
        }
        if let (Some(path), Some(answer)) = (&kept, &detected.answer) {
            cache::keep(path, answer.as_bytes());
        }
        let session = asked.session(&detected.session).map(|session| shown(session, &hide));
        for read in session.iter().flat_map(|session| &session.reads) {
            tracing::info!("{}: {}", source.shown, read_in_words(read));
        }
        let unaccepted: Vec<String> =
            detected.unaccepted.iter().map(|one| hide(&in_words(one))).collect();
        for one in &unaccepted {
            tracing::info!("{}: a finding of the agent does not count: {one}", source.shown);
        }
        let report = AiDetection::asked(detected.detections.len(), unaccepted, session);
        (detected.detections, Some(report))
    }
}

/// Where an answer to this very prompt is kept.
fn kept_at(agent: &str, prompt: &str) -> Option<PathBuf> {
    let key = format!("{DETECTION_VERSION}\n{agent}\n{prompt}");
    let name = Digest::of(key.as_bytes()).as_str().replace(':', "-");
    Some(cache::directory("detections")?.join(name))
}

fn read_kept(path: &Path, request: &DetectionRequest<'_>) -> Option<Detected> {
    if !cache::is_younger(path, KEPT_FOR) {
        return None;
    }
    let answer = String::from_utf8(cache::read(path, MOST_BYTES)?).ok()?;
    read_detections(request, &answer)
}

fn in_words(unaccepted: &Unaccepted) -> String {
    let Unaccepted { name, line, because } = unaccepted;
    format!("{name} on line {line}: {because}")
}
