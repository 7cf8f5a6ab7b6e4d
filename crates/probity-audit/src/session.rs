//! One skill: a bounded conversation of requests and outputs, and what comes out of it.

use std::{collections::HashSet, path::Path};

use probity_agent::{Agent, AgentError, Cancel, Limits, StopReason, Turn};
use probity_scope::Scope;
use serde_json::{Map, Value};

use crate::{
    Finding, Iteration, NextPrompt, Rules, Skill, TokenUsage,
    action::{self, Action},
    answer::{self, Answered, answered},
    audit::Budget,
    coverage::Coverage,
    evidence::Evidence,
    inlined::Inlined,
    prompt,
    provider::Detect,
    secrets::Secrets,
    sources::MOST_BYTES,
    tools::{ReadTools, request::Request},
};

/// Questions to the model for one skill; more only where there is more to read.
pub const MAX_STEPS: usize = 25;

/// Questions beyond those that it takes to read every source once.
const STEPS_TO_JUDGE: usize = 10;

/// Hears of everything while it happens. Called from several threads when skills run side by side.
pub trait Observer: Sync {
    /// Whether a read is allowed, in interactive mode.
    fn allow(&self, summary: &str, path: &str) -> bool;
    fn event(&self, skill: &Skill, event: &Event<'_>);
}

/// What happens during one skill.
#[derive(Debug)]
pub enum Event<'a> {
    Begins,
    Asks {
        step: usize,
        most: usize,
    },
    Says {
        text: &'a str,
    },
    Requests {
        request: &'a Request,
    },
    Output {
        request: &'a Request,
        text: &'a str,
    },
    Refused {
        request: &'a Request,
        why: &'a str,
    },
    Repairs {
        why: &'a str,
    },
    /// The state with this iteration is on its way to disk.
    Ends {
        iteration: &'a Iteration,
    },
}

/// What all conversations share.
pub(crate) struct Session<'a> {
    pub(crate) rules: Rules,
    pub(crate) sources: &'a [String],
    /// Where quotes are looked for.
    pub(crate) scope: &'a Scope,
    pub(crate) tools: &'a ReadTools,
    /// For what is told about the conversation.
    pub(crate) secrets: &'a Secrets,
    pub(crate) permission: &'a crate::PermissionPrompt,
    /// What the first prompt shows of the sources.
    pub(crate) inlined: &'a Inlined,
    /// Nothing of the sources has been shown yet.
    pub(crate) unseen: &'a Coverage,
    pub(crate) limits: &'a Limits,
    pub(crate) budget: &'a Budget,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) cancel: &'a Cancel,
}

/// One conversation, and what it has come to so far.
struct Conversation<'a> {
    session: &'a Session<'a>,
    skill: &'a Skill,
    coverage: Coverage,
    evidence: Evidence<'a>,
    usage: TokenUsage,
    /// What was read, so that nobody pays for it twice.
    answered: HashSet<Request>,
    /// How many lines had been shown when the model was last told to read.
    told_to_read_at: Option<u64>,
    /// An answer with quotes that do not occur, which the model has been told of.
    held: Option<Answered>,
}

/// What comes after an answer of the model.
enum Next {
    Ask(String),
    Done(Answered),
}

/// Why a skill came to no answer.
enum Ended {
    Agent(Box<AgentError>),
    Unusable(String),
    /// It found nothing in what it never looked at; how many of how many files.
    Unread(usize, usize),
    MaxSteps(usize),
    OverBudget(u64),
}

impl Session<'_> {
    pub(crate) fn run(
        &self,
        skill: &Skill,
        opened: Result<Box<dyn Agent>, AgentError>,
    ) -> Iteration {
        let mut conversation = Conversation {
            session: self,
            skill,
            coverage: self.unseen.clone(),
            evidence: Evidence::new(self.scope, self.sources),
            usage: TokenUsage::default(),
            answered: HashSet::new(),
            told_to_read_at: None,
            held: None,
        };
        let ended = match opened {
            Ok(mut agent) => conversation.converse(agent.as_mut()),
            Err(error) => Err(Ended::Agent(Box::new(error))),
        };
        let (mut answered, error) = match (ended, conversation.held.take()) {
            (Ok(answered), _) => {
                let error = gave_up(&answered.status);
                (answered, error)
            }
            // What was said before the conversation broke off was said.
            (Err(_), Some(held)) => (held, None),
            (Err(ended), None) => {
                let (status, error) = ended.told(skill);
                (Answered::nothing(status), Some(error))
            }
        };
        for finding in &mut answered.findings {
            conversation.evidence.check(finding);
        }
        Iteration {
            skill_id: skill.id.clone(),
            status: answered.status,
            findings: answered.findings,
            next_prompt: answered.next_prompt,
            error,
            skill_digest: Some(skill.digest.clone()),
            usage: Some(conversation.usage),
            coverage: Some(conversation.coverage.into_files()),
        }
    }

    /// What detectors find, which read every source.
    pub(crate) fn detect(&self, skill: &Skill, detect: &Detect) -> Iteration {
        let text = |source: &String| {
            let bytes = self.scope.read(Path::new(source), MOST_BYTES).ok()?;
            Some((source.clone(), String::from_utf8_lossy(&bytes).into_owned()))
        };
        let sources: Vec<(String, String)> = self.sources.iter().filter_map(text).collect();
        let mut coverage = self.unseen.clone();
        coverage.count_all();
        let mut iteration = Iteration {
            skill_id: skill.id.clone(),
            status: "completed".to_owned(),
            findings: Vec::new(),
            next_prompt: None,
            error: None,
            skill_digest: Some(skill.digest.clone()),
            usage: None,
            coverage: None,
        };
        match detect(&sources, &skill.id) {
            Some(findings) => {
                let mut evidence = Evidence::new(self.scope, self.sources);
                iteration.findings = findings;
                for finding in &mut iteration.findings {
                    evidence.check(finding);
                }
                iteration.coverage = Some(coverage.into_files());
            }
            None => {
                iteration.status = NOT_CHECKED.to_owned();
                iteration.error = Some(
                    "no detector knows this class, and no model was asked; name one with --provider"
                        .to_owned(),
                );
            }
        }
        iteration
    }

    /// Reading every source once, and then some.
    fn most_steps(&self) -> usize {
        match self.rules {
            Rules::Specification => MAX_STEPS,
            // A model that thinks it is done after each file is told of the next one.
            Rules::Probity => MAX_STEPS.max(2 * self.inlined.pages + STEPS_TO_JUDGE),
        }
    }
}

impl Conversation<'_> {
    fn converse(&mut self, agent: &mut dyn Agent) -> Result<Answered, Ended> {
        let Session { sources, permission, inlined, .. } = self.session;
        let mut said = prompt::initial(self.skill, sources, permission, &inlined.text);
        self.coverage.count(&inlined.shown);
        let mut is_repair = false;
        let most = self.session.most_steps();
        for step in 1..=most {
            let (text, was_cut) = self.ask(agent, &said, step, most)?;
            let left = most - step;
            let next = match action::parse(&text) {
                Ok(Action::Final(object)) => self.judge(&object, left)?,
                Ok(Action::Read(request)) => {
                    is_repair = false;
                    Next::Ask(self.read(&request, left))
                }
                // One more chance; a model that cannot take it will not take the next either.
                Err(why) if is_repair => return Err(Ended::Unusable(why)),
                Err(why) => {
                    is_repair = true;
                    self.tell(&Event::Repairs { why: &why });
                    Next::Ask(prompt::repair(&why, was_cut, left))
                }
            };
            said = match next {
                Next::Ask(said) => said,
                Next::Done(answered) => return Ok(answered),
            };
        }
        Err(Ended::MaxSteps(most))
    }

    /// One question, and what it cost. Gives the answer, and whether it was cut off.
    fn ask(
        &mut self,
        agent: &mut dyn Agent,
        said: &str,
        step: usize,
        most: usize,
    ) -> Result<(String, bool), Ended> {
        let Session { budget, limits, cancel, secrets, .. } = self.session;
        if let Some(limit) = budget.exceeded() {
            return Err(Ended::OverBudget(limit));
        }
        self.tell(&Event::Asks { step, most });
        let answer = agent
            .ask(&Turn::new(said), limits, cancel)
            .map_err(|error| Ended::Agent(Box::new(error)))?;
        let mut now = TokenUsage { requests: answer.requests.into(), ..TokenUsage::default() };
        if let Some(counted) = answer.usage {
            now.input_tokens = counted.input_tokens;
            now.output_tokens = counted.output_tokens;
            now.cost_usd = counted.cost;
        }
        self.usage.add(&now);
        // An agent that does not count is taken to need a token for four bytes.
        let guess = (said.len() + answer.text.len()) as u64 / 4;
        budget.spend(if answer.usage.is_some() { now.tokens() } else { guess });
        self.tell(&Event::Says { text: &secrets.mask(&answer.text) });
        Ok((answer.text, answer.stop == StopReason::MaxTokens))
    }

    /// A final answer: taken as it is, or sent back because it says nothing about what nobody saw, or
    /// quotes what nobody wrote.
    fn judge(&mut self, object: &Map<String, Value>, left: usize) -> Result<Next, Ended> {
        let mut answered = answered(object, self.skill);
        if self.session.rules == Rules::Specification || gave_up(&answered.status).is_some() {
            return Ok(Next::Done(answered));
        }
        self.merge_held(&mut answered);
        if answered.findings.is_empty() {
            return self.judge_clean(answered, left);
        }
        for finding in &mut answered.findings {
            self.evidence.check(finding);
        }
        let unverified: Vec<&Finding> =
            answered.findings.iter().filter(|finding| finding.verified != Some(true)).collect();
        if unverified.is_empty() || self.held.is_some() || left == 0 {
            return Ok(Next::Done(answered));
        }
        self.tell(&Event::Repairs { why: "it quotes lines that do not occur" });
        let said = prompt::unverified(&unverified, left);
        self.held = Some(answered);
        Ok(Next::Ask(said))
    }

    /// "No findings" counts once every line of the sources was shown.
    fn judge_clean(&mut self, answered: Answered, left: usize) -> Result<Next, Ended> {
        let unread = self.coverage.unread();
        if unread.is_empty() {
            return Ok(Next::Done(answered));
        }
        let shown = self.coverage.shown_lines();
        // A model that reads on is let go on; one that only repeats itself is not.
        if left == 0 || self.told_to_read_at.is_some_and(|before| before >= shown) {
            return Err(Ended::Unread(unread.len(), self.session.sources.len()));
        }
        let said = prompt::unread(&unread, left);
        self.told_to_read_at = Some(shown);
        self.tell(&Event::Repairs { why: "it reports no findings in code that it has not seen" });
        Ok(Next::Ask(said))
    }

    /// A second answer repairs quotes. What was proven by the first one is not lost by it.
    fn merge_held(&mut self, answered: &mut Answered) {
        let Some(held) = &self.held else { return };
        for finding in held.findings.iter().filter(|finding| finding.verified == Some(true)) {
            let is_same =
                |other: &Finding| (&other.file, other.line) == (&finding.file, finding.line);
            if !answered.findings.iter().any(is_same) {
                answered.findings.push(finding.clone());
            }
        }
    }

    /// Carries out a request, or says why not; the conversation goes on either way.
    fn read(&mut self, request: &Request, left: usize) -> String {
        let Session { tools, observer, rules, .. } = self.session;
        self.tell(&Event::Requests { request });
        if *rules == Rules::Probity && self.answered.contains(request) {
            let why = "it was answered before";
            self.tell(&Event::Refused { request, why });
            return prompt::repeated(request, left);
        }
        let confirm = |summary: &str, path: &str| observer.allow(summary, path);
        match tools.execute(request, &confirm) {
            Ok(reading) => {
                self.coverage.count(&reading.shown);
                self.answered.insert(request.clone());
                self.tell(&Event::Output { request, text: &reading.text });
                prompt::output(request, &reading.text, left)
            }
            Err(error) => {
                let why = error.to_string();
                self.tell(&Event::Refused { request, why: &why });
                prompt::refused(request, &why, left)
            }
        }
    }

    fn tell(&self, event: &Event<'_>) {
        self.session.observer.event(self.skill, event);
    }
}

impl Ended {
    /// The status of the skill, and the reason in words.
    fn told(&self, skill: &Skill) -> (&'static str, String) {
        match self {
            Self::Agent(error) => ("failed", format!("{error}; {}", error.way_out())),
            Self::Unusable(why) => {
                ("failed", format!("the model's answer could not be used, twice in a row: {why}"))
            }
            Self::Unread(unread, all) => (
                "unread",
                format!(
                    "the model found nothing, but did not read {unread} of {all} source files to the \
                     end, not even when it was told to"
                ),
            ),
            Self::MaxSteps(most) => (
                "max-steps",
                format!(
                    "AI provider exceeded max interactive read steps ({most}) for skill '{}' (enable --ai-logs to inspect progress)",
                    skill.id
                ),
            ),
            Self::OverBudget(limit) => {
                ("over-budget", format!("the budget of {limit} tokens is used up"))
            }
        }
    }
}

/// A model that says itself that it failed has not answered, whatever else it says.
fn gave_up(status: &str) -> Option<String> {
    let is_failure = answer::FAILURES.iter().any(|word| status.eq_ignore_ascii_case(word));
    is_failure.then(|| format!("the model ended with the status '{status}'"))
}

/// The status of a skill whose class no detector knows.
pub(crate) const NOT_CHECKED: &str = "not-checked";

/// The status of a skill that nobody was asked about.
pub(crate) const SCAFFOLDED: &str = "scaffolded";

/// What a skill comes to when nobody is asked.
pub(crate) fn scaffolded(skill: &Skill) -> Iteration {
    Iteration {
        skill_id: skill.id.clone(),
        status: SCAFFOLDED.to_owned(),
        findings: Vec::new(),
        next_prompt: Some(NextPrompt {
            skill_id: skill.id.clone(),
            text: format!(
                "Placeholder: choose a provider to have skill '{}' ({}) analyzed.",
                skill.id, skill.name
            ),
        }),
        error: None,
        skill_digest: Some(skill.digest.clone()),
        usage: None,
        coverage: None,
    }
}
