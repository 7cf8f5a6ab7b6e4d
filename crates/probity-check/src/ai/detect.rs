//! `--ai-detect`: an agent reports problems, and the linter gets those whose quotes exist.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use probity_autofix::{
    DETECTION_VERSION, Detected, DetectionRequest, Event, Outcome, Reason, Unaccepted, detect,
    preview_detection, read_detections,
};
use probity_lint::{AI_DETECTORS, AiDetector, Detection, LintOptions};
use probity_registry::Digest;

use crate::{
    AiDetection, AiSession, AskedFor, DetectionOutcome, Hider, RunOptions, SeatedAgent, SessionOf,
    Subject, ai_fix::read_in_words, cache,
};

/// The model behind a name may be another one after this time.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3_600);

/// No answer is larger.
const MOST_BYTES: u64 = 2 << 20;

/// What the agent of a file's configuration finds in it; nothing unless detection is asked for.
pub(crate) fn detected(
    run: RunOptions,
    subject: Subject<'_>,
    lint: LintOptions<'_>,
) -> (Vec<Detection>, Option<AiDetection>) {
    let Subject { job, source, .. } = subject;
    let is_wanted = |detector: &&AiDetector| lint.rules.detection_severity(detector.name).is_some();
    let detectors: Vec<&'static AiDetector> = AI_DETECTORS.iter().filter(is_wanted).collect();
    if !run.detects || detectors.is_empty() || job.effects.cancel().is_cancelled() {
        return (Vec::new(), None);
    }
    let hider = Hider::of(job.rules.gate(), &source.text);
    let hide = |text: &str| hider.message(text);
    let skipped =
        |reason: Reason, detail: &str, asked: Option<&SeatedAgent>, detected: &Detected| {
            let detail = hide(detail);
            if reason != Reason::AiDisabled {
                let shown = &source.shown;
                tracing::warn!("{shown}: AI detection skipped: {}: {detail}", reason.as_str());
            }
            let session = asked.and_then(|asked| AiSession::of(asked, &detected.session));
            let session = session.map(|session| session.masked(&hide));
            let outcome = DetectionOutcome::Skipped { reason: reason.as_str(), detail };
            (Vec::new(), Some(AiDetection { outcome, session }))
        };
    let none = Detected::default();
    let asked = match job.effects.seat(AskedFor::Detections, subject) {
        Ok(asked) => asked,
        Err((reason, detail)) => return skipped(reason, &detail, None, &none),
    };
    let request = DetectionRequest {
        path: &source.shown,
        text: &source.text,
        detectors: &detectors,
        lint: LintOptions { secrets: Some(job.rules.gate()), ..lint },
        settings: job.options.ai.session,
        context: asked.context.as_ref(),
    };
    let (effects, agent) = (&job.effects, asked.agent.as_str());
    let hider = Hider::of(job.rules.gate(), &source.text);
    let session_of = SessionOf { shown: &source.shown, agent, hider };
    let preview = preview_detection(&request);
    if run.is_dry_run {
        effects.preview(&session_of, preview, &asked.contained_by);
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
        let outcome = DetectionOutcome::Cached { accepted: detected.detections.len() };
        return (detected.detections, Some(AiDetection { outcome, session: None }));
    }
    let heard = |event: Event<'_>| effects.hear(&session_of, event);
    let mut opening = || asked.voice.open(asked.context.as_ref());
    let detected = detect(&request, &mut opening, &effects.cancel(), &heard);
    if let Some((reason, detail)) = &detected.failure {
        return skipped(*reason, detail, Some(&asked), &detected);
    }
    if let (Some(path), Some(answer)) = (&kept, &detected.answer) {
        cache::keep(path, answer.as_bytes());
    }
    let session = AiSession::of(&asked, &detected.session).map(|session| session.masked(&hide));
    for read in session.iter().flat_map(|session| &session.reads) {
        tracing::info!("{}: {}", source.shown, read_in_words(read));
    }
    let unaccepted: Vec<String> =
        detected.unaccepted.iter().map(|one| hide(&in_words(one))).collect();
    for one in &unaccepted {
        tracing::info!("{}: a finding of the agent does not count: {one}", source.shown);
    }
    let outcome = DetectionOutcome::Asked { accepted: detected.detections.len(), unaccepted };
    (detected.detections, Some(AiDetection { outcome, session }))
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
