//! AI detection: an agent reports problems of one Dockerfile, and only quotes that exist count.
//!
//! What comes of it are facts for the linter. An answer can be kept and read again: the quotes are
//! verified each time.

mod answer;
mod prompt;

use probity_agent::Cancel;
use probity_lint::{AiDetector, Detection, LintOptions};

use self::{
    answer::{Reported, read},
    prompt::DetectionPrompt,
};
use crate::{
    AgentContext, Event, Opening, Outcome, Reason, Settings,
    checks::View,
    engine::{Conversation, SessionTerms, Stop, sendable},
    outcome::Session,
    prompt::RegistryInsights,
    secrets::{Payload, masked},
};

pub use self::answer::{Unaccepted, UnacceptedBecause};

/// Changes when the same answer would be asked for or read in another way.
pub const DETECTION_VERSION: u32 = 1;

/// What an agent is asked about.
#[derive(Clone, Copy, Debug)]
pub struct DetectionRequest<'a> {
    /// As the agent may know it: relative, or the name alone.
    pub path: &'a str,
    pub text: &'a str,
    /// What it may report.
    pub detectors: &'a [&'static AiDetector],
    /// What holds for the file; what the detector of secrets knows is there too.
    pub lint: LintOptions<'a>,
    pub settings: Settings,
    pub context: Option<&'a AgentContext>,
}

/// What an agent reported about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    pub detections: Vec<Detection>,
    /// What it reported and what did not count.
    pub unaccepted: Vec<Unaccepted>,
    pub session: Session,
    /// Why there is no answer.
    pub failure: Option<(Reason, String)>,
    /// The answer, if it may be kept: it was read, and it depends on the prompt alone.
    pub answer: Option<String>,
}

/// Asks an agent.
#[must_use]
pub fn detect(
    request: &DetectionRequest<'_>,
    open: Opening<'_>,
    cancel: &Cancel,
    watch: &dyn Fn(Event<'_>),
) -> Detected {
    let payload = match payload_of(request) {
        Ok(payload) => payload,
        Err(failure) => return Detected { failure: Some(failure), ..Detected::default() },
    };
    let terms = terms_of(request);
    let mut conversation = Conversation::new(terms, &payload, open, cancel, watch);
    let asked = ask(request, &payload, &mut conversation);
    let mut session = conversation.finish();
    session.secrets = payload.secrets;
    match asked {
        Ok((reported, answer)) => {
            let is_kept = session.reads.is_empty() && payload.secrets == 0;
            let answer = is_kept.then_some(answer);
            Detected { session, answer, ..verified(request, &payload, reported) }
        }
        Err(Stop { reason, detail }) => {
            let detail = masked(request.lint.secrets, &detail);
            Detected { session, failure: Some((reason, detail)), ..Detected::default() }
        }
    }
}

/// Reads an answer that was kept; none if it is not one.
#[must_use]
pub fn read_detections(request: &DetectionRequest<'_>, answer: &str) -> Option<Detected> {
    let payload = payload_of(request).ok()?;
    let reported = read(answer).ok()?;
    Some(verified(request, &payload, reported))
}

/// The prompt that would be sent, or why none would be.
///
/// # Errors
///
/// When nothing may be sent.
pub fn preview_detection(request: &DetectionRequest<'_>) -> Result<String, Outcome> {
    let payload =
        payload_of(request).map_err(|(reason, detail)| Outcome::skipped(reason, detail))?;
    let prompt = prompt_of(request, &payload).to_string();
    sendable(&prompt, &payload, terms_of(request))
        .map_err(|stop| Outcome::skipped(stop.reason, stop.detail))?;
    Ok(prompt)
}

/// Asks, and once more if the answer cannot be read.
fn ask(
    request: &DetectionRequest<'_>,
    payload: &Payload,
    conversation: &mut Conversation<'_>,
) -> Result<(Vec<Reported>, String), Stop> {
    let prompt = prompt_of(request, payload);
    let answer = conversation.say(1, &prompt.to_string())?;
    let why = match read(&answer) {
        Ok(reported) => return Ok((reported, answer)),
        Err(why) => why,
    };
    let answer = conversation.say(2, &prompt.again(&why.to_string()))?;
    match read(&answer) {
        Ok(reported) => Ok((reported, answer)),
        Err(why) => Err(Stop { reason: Reason::MalformedOutput, detail: why.to_string() }),
    }
}

fn payload_of(request: &DetectionRequest<'_>) -> Result<Payload, (Reason, String)> {
    Payload::of(request.text, request.settings.secrets, request.lint.secrets)
}

fn terms_of<'a>(request: &DetectionRequest<'a>) -> SessionTerms<'a> {
    SessionTerms {
        settings: request.settings,
        detector: request.lint.secrets,
        context: request.context,
    }
}

fn prompt_of<'a>(request: &DetectionRequest<'a>, payload: &'a Payload) -> DetectionPrompt<'a> {
    let view = View::of(&payload.text);
    DetectionPrompt {
        file_name: request.path.rsplit('/').next().unwrap_or(request.path),
        text: &payload.text,
        detectors: request.detectors,
        insights: RegistryInsights::of(request.lint.base_images, &view.facts),
        context: request.context,
    }
}

fn verified(
    request: &DetectionRequest<'_>,
    payload: &Payload,
    reported: Vec<Reported>,
) -> Detected {
    let mut detected = Detected::default();
    // The agent counts lines of what it was shown, and quotes that.
    let shown = payload.text.replace("\r\n", "\n");
    for reported in reported {
        let hide = |text: &str| masked(request.lint.secrets, text);
        match reported.verified(&shown, request, &hide) {
            Ok(detection) if detected.detections.contains(&detection) => {}
            Ok(detection) => detected.detections.push(detection),
            Err(unaccepted) => detected.unaccepted.push(unaccepted),
        }
    }
    detected
}

#[cfg(test)]
mod tests {
    use probity_lint::AI_DETECTORS;

    use crate::objective::ObjectiveKind;

    #[test]
    fn every_objective_that_a_detector_attaches_is_known_here() {
        let kinds: Vec<_> =
            AI_DETECTORS.iter().filter_map(|detector| detector.objective_kind()).collect();
        assert!(kinds.len() >= 3);
        assert!(kinds.iter().all(|kind| ObjectiveKind::named(kind).is_some()), "{kinds:?}");
    }
}
