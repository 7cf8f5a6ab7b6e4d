//! All skills, one after the other or side by side, and the state after each.

use std::{
    io,
    path::Path,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use probity_agent::{Cancel, Limits};
use probity_scope::Scope;

use crate::{
    AnswerCache, Event, Finding, Iteration, Observer, PermissionPrompt, Previous, Provider,
    Proving, ReadTools, Rules, Skill, State, ToolOptions, cache,
    coverage::Coverage,
    exploit::{Exploitation, Vulnerabilities},
    inlined::Inlined,
    previous::Today,
    provider::Answers,
    report::fingerprint,
    secrets::Secrets,
    session::{Examined, Session, scaffolded},
    sources::whole,
    tools::OpenError,
};

#[derive(Debug)]
pub struct AuditOptions<'a> {
    pub rules: Rules,
    pub root: &'a Path,
    /// Relative to the root.
    pub sources: &'a [String],
    pub source_digest: Option<String>,
    pub skills: &'a [Skill],
    pub provider: &'a Provider,
    pub permission: PermissionPrompt,
    pub tools: ToolOptions,
    /// Of one question.
    pub limits: Limits,
    /// Skills at the same time.
    pub jobs: usize,
    /// Tokens of all skills together; no question is asked once they are used up.
    pub budget: Option<u64>,
    /// Iterations of an earlier run that stay as they are.
    pub earlier: Vec<Iteration>,
    /// Findings that get a status if no skill reports them again.
    pub previous: Previous,
    /// The sources that have to be read, if not all of them.
    pub changed: Option<Vec<String>>,
    /// Whether each finding goes to a conversation that tries to show that it is wrong.
    pub refute: bool,
    /// What exploits run in, if findings are to be proven.
    pub prove: Option<Proving<'a>>,
    pub cache: Option<&'a dyn AnswerCache>,
}

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("cannot open the project root")]
    Root(#[from] OpenError),
    #[error("cannot look for secrets")]
    Secrets(#[from] probity_secrets::DetectorError),
    /// The answers that could not be kept are here.
    #[error("cannot keep the state of the audit")]
    Checkpoint { source: io::Error, state: Box<State> },
}

/// Runs every skill that no earlier iteration answers. `checkpoint` is given the state before the
/// first skill and after each, one call at a time; when it fails, or the audit is called off, no
/// further skill is begun.
///
/// A skill that fails is an iteration with an error, and no reason to stop.
pub fn run(
    options: AuditOptions<'_>,
    observer: &dyn Observer,
    checkpoint: &(dyn Fn(&State) -> io::Result<()> + Sync),
    cancel: &Cancel,
) -> Result<State, AuditError> {
    let permission = &options.permission;
    let tools = ReadTools::open(options.root, options.sources, permission.clone(), options.tools)?;
    let scope = whole(options.root).map_err(OpenError::from)?;
    let secrets = Secrets::new()?;
    let mut state = State::new(
        options.sources.to_vec(),
        options.provider.spec.clone(),
        options.permission.clone(),
        options.source_digest.clone(),
        options.changed.clone(),
    );
    state.previous.clone_from(&options.previous.findings);
    let done: Vec<Option<Iteration>> = options
        .skills
        .iter()
        .map(|skill| {
            let is_same = |earlier: &&Iteration| {
                earlier.skill_id == skill.id
                    && earlier.skill_digest.as_deref() == Some(skill.digest.as_str())
            };
            options.earlier.iter().find(is_same).cloned()
        })
        .collect();
    let kept =
        Checkpoints { checkpoint, inner: Mutex::new(Progress { state, done, failed: None }) };
    kept.write();
    let budget = Budget { limit: options.budget, spent: AtomicU64::new(0) };
    // Who wants to be asked before each read is not shown everything at once.
    let may_show = options.rules == Rules::Probity && !permission.interactive_permissions;
    let masking = (!options.tools.allow_sensitive).then_some(&secrets);
    let changed = options.changed.as_deref();
    let inlined = Inlined::new(tools.scope(), options.sources, changed, masking, may_show);
    let unseen = Coverage::new(&scope, options.sources, changed);
    let detected = OnceLock::new();
    let vulnerabilities = Vulnerabilities::of(&options.earlier);
    let session = Session {
        rules: options.rules,
        scope: &scope,
        inlined: &inlined,
        unseen: &unseen,
        detected: &detected,
        vulnerabilities: &vulnerabilities,
        changed,
        sources: options.sources,
        tools: &tools,
        secrets: &secrets,
        permission: &options.permission,
        limits: &options.limits,
        budget: &budget,
        observer,
        cancel,
    };
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(kept.has_failed());
    thread::scope(|threads| {
        for _ in 0..options.jobs.clamp(1, options.skills.len().max(1)) {
            threads.spawn(|| {
                while !stop.load(Ordering::Relaxed) && !cancel.is_cancelled() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(skill) = options.skills.get(index) else { return };
                    let done = kept.done(index);
                    if done.as_ref().is_some_and(|done| !has_to_be_proven(&options, done)) {
                        continue;
                    }
                    observer.event(skill, &Event::Begins);
                    let answered = done.unwrap_or_else(|| one(&options, &session, &secrets, skill));
                    // After each exploit: nobody pays twice for what was tried before a kill.
                    let keep = |iteration: &Iteration| kept.put(index, iteration.clone());
                    let iteration = proven(&options, &session, skill, answered, &keep);
                    keep(&iteration);
                    stop.fetch_or(kept.has_failed(), Ordering::Relaxed);
                    observer.event(skill, &Event::Ends { iteration: &iteration });
                }
            });
        }
    });
    if !cancel.is_cancelled() && !options.previous.findings.is_empty() {
        kept.judge_previous(&options, &scope);
    }
    let Progress { state, failed, .. } =
        kept.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed {
        None => Ok(state),
        Some(source) => Err(AuditError::Checkpoint { source, state: Box::new(state) }),
    }
}

fn one(
    options: &AuditOptions<'_>,
    session: &Session<'_>,
    secrets: &Secrets,
    skill: &Skill,
) -> Iteration {
    let clean = |mut iteration: Iteration| {
        fingerprint(session.scope, &skill.id, &mut iteration.findings);
        star_out(&mut iteration, secrets);
        iteration
    };
    let open = match &options.provider.answers {
        Answers::Nobody => return scaffolded(skill),
        Answers::Detectors(detect) => return clean(session.detect(skill, detect.as_ref())),
        Answers::Agent(open) => open.as_ref(),
    };
    let cached =
        options.cache.and_then(|cache| Some((cache, cache::key(options, session, skill)?)));
    if let Some((cache, key)) = &cached
        && let Some(iteration) = cache.get(key)
    {
        session.observer.event(skill, &Event::Cached);
        return cache::reused(iteration);
    }
    let Examined { mut iteration, mut is_whole } = session.examine(skill, open);
    if options.refute {
        let (usage, is_refuted) = session.refute(skill, &mut iteration.findings, open);
        iteration.usage.get_or_insert_default().add(&usage);
        is_whole &= is_refuted;
    }
    let iteration = clean(iteration);
    if let (Some((cache, key)), true) = (&cached, is_whole) {
        cache.put(key, &iteration);
    }
    iteration
}

/// Whether an iteration has findings that nobody has tried to exploit.
fn has_to_be_proven(options: &AuditOptions<'_>, iteration: &Iteration) -> bool {
    let Some(proving) = &options.prove else { return false };
    let is_left = |finding: &Finding| {
        is_open(finding) && proving.excuse(options.root, &iteration.skill_id, finding).is_none()
    };
    iteration.findings.iter().any(is_left)
}

/// Whether a finding can be exploited, and was not tried.
pub(crate) fn is_open(finding: &Finding) -> bool {
    finding.verified == Some(true) && finding.exploit.is_none()
}

/// An iteration whose findings were tried, if that is wanted and a model can write exploits. `keep` is
/// given the iteration before each.
fn proven(
    options: &AuditOptions<'_>,
    session: &Session<'_>,
    skill: &Skill,
    mut iteration: Iteration,
    keep: &dyn Fn(&Iteration),
) -> Iteration {
    for finding in &mut iteration.findings {
        if !is_open(finding) {
            continue;
        }
        let Some(kept) = options.previous.exploit_of(&skill.id, finding) else { continue };
        if options.prove.is_some() {
            finding.offered.get_or_insert_with(|| kept.again());
        } else if options.previous.is_about(options.source_digest.as_deref()) {
            finding.exploit = Some(kept.clone());
        }
    }
    if let (Some(proving), Answers::Agent(open)) = (&options.prove, &options.provider.answers) {
        for number in 0..iteration.findings.len() {
            let is_left = |finding: &Finding| {
                is_open(finding) && proving.excuse(options.root, &skill.id, finding).is_none()
            };
            if !iteration.findings.get(number).is_some_and(is_left) {
                continue;
            }
            keep(&iteration);
            let Some(finding) = iteration.findings.get_mut(number) else { break };
            let usage = session.prove(skill, finding, open.as_ref(), *proving);
            iteration.usage.get_or_insert_default().add(&usage);
            star_out(&mut iteration, session.secrets);
        }
    }
    for finding in &mut iteration.findings {
        finding.offered = None;
    }
    iteration
}

/// What was proven may be shown, but for what no file of ours should hold; a model can put a secret
/// into any of its words.
fn star_out(iteration: &mut Iteration, secrets: &Secrets) {
    for finding in &mut iteration.findings {
        let words = [&mut finding.title, &mut finding.summary, &mut finding.recommendation];
        let refutation = finding.refutation.iter_mut();
        let refuted = refutation
            .flat_map(|refutation| refutation.evidence.iter_mut().chain([&mut refutation.reason]));
        let exploit = finding.exploit.iter_mut().flat_map(Exploitation::texts);
        let quoted = finding.evidence.iter_mut().chain(&mut finding.file).chain(refuted);
        let quoted = quoted.chain(&mut finding.impact).chain(exploit);
        for text in words.into_iter().chain(quoted) {
            *text = secrets.mask(text);
        }
    }
    let prompt = iteration.next_prompt.as_mut().map(|prompt| &mut prompt.text);
    for text in prompt.into_iter().chain(&mut iteration.error) {
        *text = secrets.mask(text);
    }
}

/// The state, and everything that is needed to write it after each skill.
struct Checkpoints<'a> {
    checkpoint: &'a (dyn Fn(&State) -> io::Result<()> + Sync),
    inner: Mutex<Progress>,
}

struct Progress {
    state: State,
    /// For each skill, in their order.
    done: Vec<Option<Iteration>>,
    failed: Option<io::Error>,
}

impl Checkpoints<'_> {
    fn done(&self, index: usize) -> Option<Iteration> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.done.get(index).cloned().flatten()
    }

    fn has_failed(&self) -> bool {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).failed.is_some()
    }

    fn put(&self, index: usize, iteration: Iteration) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = inner.done.get_mut(index) {
            *place = Some(iteration);
        }
        self.write_held(&mut inner);
    }

    /// Says what has become of the findings of the audit before.
    fn judge_previous(&self, options: &AuditOptions<'_>, scope: &Scope) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let previous = std::mem::take(&mut inner.state.previous);
        let today = Today {
            root: options.root,
            scope,
            sources: options.sources,
            iterations: &inner.state.iterations,
            proving: options.prove,
        };
        inner.state.previous = today.judge(&previous);
        self.write_held(&mut inner);
    }

    fn write(&self) {
        self.write_held(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Held while it is written, so that an older state never replaces a newer one, and each skill
    /// has a state of its own.
    fn write_held(&self, inner: &mut Progress) {
        inner.state.iterations = inner.done.iter().flatten().cloned().collect();
        inner.state.count_usage();
        if let Err(error) = (self.checkpoint)(&inner.state) {
            inner.failed.get_or_insert(error);
        }
    }
}

/// Tokens that may be spent by all skills together.
pub(crate) struct Budget {
    limit: Option<u64>,
    spent: AtomicU64,
}

impl Budget {
    pub(crate) fn spend(&self, tokens: u64) {
        self.spent.fetch_add(tokens, Ordering::Relaxed);
    }

    /// What is left of the limit.
    pub(crate) fn left(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.spent.load(Ordering::Relaxed)))
    }

    /// The limit, once it is reached.
    pub(crate) fn exceeded(&self) -> Option<u64> {
        self.limit.filter(|limit| self.spent.load(Ordering::Relaxed) >= *limit)
    }
}
