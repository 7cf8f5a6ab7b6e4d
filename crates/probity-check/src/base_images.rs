//! Slow checks: what registries say about the base images of a batch, before it is linted.
//!
//! Look-ups never fail a check. What could not be looked up is noted once for each registry, and the
//! rules treat it as unknown.

mod cache;
mod certificates;
mod convert;
mod credentials;
mod environment;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use probity_finding::Severity;
use probity_lint::{BaseImages, ImageAnswer, WantedImage};
use probity_registry::{Error, Platform, Question, Reference, Settings as Limits, look_up};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use self::{cache::DiskCache, convert::answer_of};
use crate::{
    IgnoreFiles, SlowCheckOptions, SlowChecksMode, examine,
    job::{Job, Target},
    opened::Opened,
};

/// Images that are looked up at the same time.
const PARALLEL: usize = 4;

/// How long an answer about a tag is believed.
const TAG_TIME: Duration = Duration::from_secs(60 * 60);

/// The look-ups of one run.
pub(crate) struct SlowChecks {
    /// Whether somebody waits at a terminal: `auto` never slows a script or a pipeline down.
    is_watched: bool,
    platform: Platform,
    /// What is left of the time for all look-ups; none before the first one.
    left: Option<Duration>,
    known: BTreeMap<Question, Option<ImageAnswer>>,
    noted: BTreeSet<String>,
    tag_time: Duration,
}

impl SlowChecks {
    /// A run that writes digests asks for what the tags name now.
    pub(crate) fn new(is_pinning: bool, is_watched: bool) -> Self {
        Self {
            is_watched,
            platform: environment::build_platform(),
            left: None,
            known: BTreeMap::new(),
            noted: BTreeSet::new(),
            tag_time: if is_pinning { Duration::ZERO } else { TAG_TIME },
        }
    }

    /// Looks up the base images of these files, and leaves the answers with each job.
    pub(crate) fn learn(&mut self, batch: &[Job], directory: &Path, ignore_files: &IgnoreFiles) {
        let wants = |job: &Job| match job.options.slow_checks.mode {
            SlowChecksMode::On => true,
            SlowChecksMode::Auto => self.is_watched,
            SlowChecksMode::Off => false,
        };
        let asking: Vec<&Job> = batch.iter().filter(|job| wants(job)).collect();
        let Some(first) = asking.first() else { return };
        let options = Arc::clone(&first.options);
        let wanted: Vec<(&Job, BTreeSet<WantedImage>)> = asking
            .par_iter()
            .map(|job| (*job, wanted_images(job, directory, ignore_files)))
            .collect();
        let images = wanted.iter().flat_map(|(job, images)| {
            let platform = self.platform_of(job);
            images.iter().filter_map(move |image| question(image, &platform))
        });
        let questions: BTreeSet<Question> =
            images.filter(|question| !self.known.contains_key(question)).collect();
        self.ask(&questions.into_iter().collect::<Vec<_>>(), &options.slow_checks);
        for (job, images) in wanted {
            let platform = self.platform_of(job);
            let mut answers = BaseImages::new(platform.to_string());
            for image in images {
                let question = question(&image, &platform);
                let answer = question.and_then(|question| self.known.get(&question)?.clone());
                if let Some(answer) = answer {
                    answers.insert(image, answer);
                }
            }
            if !answers.is_empty() {
                job.keep_base_images(Arc::new(answers));
            }
        }
    }

    /// The platform that a file is built for: that of this machine, unless its builds name others.
    fn platform_of(&self, job: &Job) -> Platform {
        let named = job.uses.iter().flat_map(|uses| &uses.lint.platforms);
        let named: Vec<Platform> = named.filter_map(|text| Platform::parse(text)).collect();
        match named.first() {
            Some(first) if !named.contains(&self.platform) => first.clone(),
            _ => self.platform.clone(),
        }
    }

    fn ask(&mut self, questions: &[Question], slow: &SlowCheckOptions) {
        if questions.is_empty() {
            return;
        }
        let left = *self.left.get_or_insert(slow.timeout);
        let begun = Instant::now();
        let deadline = begun + left;
        let mirrors = environment::mirrors(&slow.mirrors);
        let registries: BTreeSet<&str> = questions
            .iter()
            .flat_map(|question| {
                let registry = &question.reference.registry;
                std::iter::once(registry).chain(mirrors.get(registry).into_iter().flatten())
            })
            .map(String::as_str)
            .collect();
        let limits = Limits {
            deadline,
            parallel: PARALLEL,
            credentials: credentials::of(&registries, deadline),
            own_certificates: certificates::of(&registries),
            mirrors,
            certificates: Vec::new(),
            proxies: environment::proxies(),
            insecure: slow.insecure_registries.clone(),
        };
        let answers = look_up(questions, &limits, Arc::new(DiskCache::new(self.tag_time)));
        self.left = Some(left.saturating_sub(begun.elapsed()));
        for (question, answer) in questions.iter().zip(answers) {
            let answer = match answer {
                Ok(image) => Some(ImageAnswer::Found(Box::new(answer_of(&image, question)))),
                Err(Error::Missing { .. }) => Some(ImageAnswer::Missing),
                Err(error) => {
                    self.note(&question.reference.registry, &error, slow.mode);
                    None
                }
            };
            self.known.insert(question.clone(), answer);
        }
    }

    /// Once for each registry. Somebody who did not ask for look-ups sees it with `-v`.
    fn note(&mut self, registry: &str, error: &Error, mode: SlowChecksMode) {
        if !self.noted.insert(registry.to_owned()) {
            return;
        }
        let way_out = error.way_out().map(|way_out| format!("; {way_out}")).unwrap_or_default();
        let text = format!("base images of {registry} are unknown: {error}{way_out}");
        let text = probity_text::one_line(&text, 400);
        match mode {
            SlowChecksMode::On => tracing::warn!("{text}"),
            SlowChecksMode::Auto | SlowChecksMode::Off => tracing::info!("{text}"),
        }
    }
}

fn question(wanted: &WantedImage, build: &Platform) -> Option<Question> {
    let reference = Reference::parse(&wanted.name).ok()?;
    let platform = match &wanted.platform {
        Some(text) => Platform::parse(text)?,
        None => build.clone(),
    };
    Some(Question { reference, platform })
}

/// The images of a file; none if it has an error and such files are not looked up.
fn wanted_images(job: &Job, directory: &Path, ignore_files: &IgnoreFiles) -> BTreeSet<WantedImage> {
    if matches!(job.target, Target::Inline(..)) {
        return BTreeSet::new();
    }
    let (opened, wanted) = match job.take_opened(directory) {
        Opened::Text(source, parsed) => {
            let parsed = parsed.attached(&source.text);
            let mut wanted = WantedImage::all(&parsed, job.uses.as_ref().map(|uses| &uses.lint));
            if job.options.slow_checks.fail_fast && !wanted.is_empty() {
                let found = examine::findings_before(job, &source, &parsed, ignore_files);
                if found.iter().any(|finding| finding.severity == Severity::Error) {
                    tracing::info!("{}: no look-ups, since it has an error", source.shown);
                    wanted.clear();
                }
            }
            let parsed = Box::new(parsed.detached());
            (Opened::Text(source, parsed), wanted)
        }
        problem @ Opened::Problem(_) => (problem, BTreeSet::new()),
    };
    job.keep_opened(opened);
    wanted
}
