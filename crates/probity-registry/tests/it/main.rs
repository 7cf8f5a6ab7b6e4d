//! The client against a real registry and against servers that misbehave, all on this machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod liar;
mod misbehaving;
mod real;
mod server;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use probity_registry::{
    Cache, Error, Image, NoCache, Platform, Proxies, Question, Reference, Settings, look_up,
};

pub(crate) fn settings() -> Settings {
    Settings {
        deadline: Instant::now() + Duration::from_secs(60),
        parallel: 4,
        credentials: BTreeMap::new(),
        mirrors: BTreeMap::new(),
        certificates: Vec::new(),
        own_certificates: BTreeMap::new(),
        proxies: Proxies::default(),
        insecure: Vec::new(),
    }
}

pub(crate) fn question(reference: &str, platform: &str) -> Question {
    let reference = Reference::parse(reference).unwrap();
    Question { reference, platform: Platform::parse(platform).unwrap() }
}

pub(crate) fn ask(reference: &str, settings: &Settings) -> Result<Image, Error> {
    ask_with(reference, settings, Arc::new(NoCache))
}

pub(crate) fn ask_with(
    reference: &str,
    settings: &Settings,
    cache: Arc<dyn Cache>,
) -> Result<Image, Error> {
    look_up(&[question(reference, "linux/amd64")], settings, cache).remove(0)
}
