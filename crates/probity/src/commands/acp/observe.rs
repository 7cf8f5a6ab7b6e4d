//! The log and the trace: what goes on, for a person, and what was said, for a replay.

use std::{
    env,
    fs::File,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use probity_acp::Recorder;
use probity_proxy::{Observer, Side};
use probity_secrets::{Detector, Options, mask_same_length};

use super::relay::Relay;
use crate::{commands::agent::record::known_secrets, failure::Failure};

type Mask = Box<dyn Fn(&str) -> String + Send>;

pub(super) struct Watch {
    /// `None` where no trace was asked for; the inner one is gone after the first failed write.
    trace: Option<Mutex<Option<Recorder<File, Mask>>>>,
    relay: Arc<Relay>,
}

impl Watch {
    pub(super) fn new(trace: Option<&Path>, relay: Arc<Relay>) -> anyhow::Result<Self> {
        let trace = trace.map(recorder).transpose()?;
        let trace = trace.map(|recorder| Mutex::new(Some(recorder)));
        Ok(Self { trace, relay })
    }
}

fn recorder(path: &Path) -> anyhow::Result<Recorder<File, Mask>> {
    let file = File::create(path).with_context(|| {
        Failure::new(format!("cannot write {}", path.display()), "give another --trace FILE")
    })?;
    let detector = Detector::new(&Options::default())?;
    let known = known_secrets(env::vars_os());
    let mask: Mask = Box::new(move |text| {
        let text = mask_same_length(text, &detector.find(text));
        known.iter().fold(text, |text, secret| text.replace(secret, &"*".repeat(secret.len())))
    });
    Ok(Recorder::new(file, mask))
}

impl Observer for Watch {
    fn message(&self, from: Side, frame: &str) {
        let Some(trace) = &self.trace else { return };
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(recorder) = trace.as_mut() else { return };
        if let Err(error) = recorder.message(from, frame) {
            tracing::warn!("the trace ends here: {error}");
            *trace = None;
        }
    }

    fn stderr(&self, agent: &str, line: &str) {
        self.relay.line(agent, line);
    }

    fn note(&self, what: &str) {
        tracing::info!("{what}");
    }

    fn warning(&self, what: &str) {
        tracing::warn!("{what}");
    }
}
