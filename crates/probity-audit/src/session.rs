//! One skill: a bounded conversation of requests and outputs, and what comes out of it.

use probity_agent::{Agent, AgentError, Cancel, Limits, StopReason, Turn};

use crate::{
    Iteration, NextPrompt, Skill, TokenUsage,
    action::{self, Action},
    answer::{self, Answered, answered},
    audit::Budget,
    prompt,
    secrets::Secrets,
    tools::{ReadTools, request::Request},
};

/// Questions to the model for one skill.
pub const MAX_STEPS: usize = 25;

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
    pub(crate) sources: &'a [String],
    pub(crate) tools: &'a ReadTools,
    /// For what is told about the conversation.
    pub(crate) secrets: &'a Secrets,
    pub(crate) permission: &'a crate::PermissionPrompt,
    pub(crate) limits: &'a Limits,
    pub(crate) budget: &'a Budget,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) cancel: &'a Cancel,
}

/// What a conversation has come to so far.
#[derive(Default)]
struct Progress {
    /// Whether the content of any source was looked at.
    has_read: bool,
    was_told_to_read: bool,
}

/// Why a skill came to no answer.
enum Ended {
    Agent(Box<AgentError>),
    Unusable(String),
    /// It found nothing in what it never looked at.
    Unread,
    MaxSteps,
    OverBudget(u64),
}

impl Session<'_> {
    pub(crate) fn run(
        &self,
        skill: &Skill,
        opened: Result<Box<dyn Agent>, AgentError>,
    ) -> Iteration {
        let mut usage = TokenUsage::default();
        let ended = match opened {
            Ok(mut agent) => self.converse(skill, agent.as_mut(), &mut usage),
            Err(error) => Err(Ended::Agent(Box::new(error))),
        };
        let (answered, error) = match ended {
            Ok(answered) => {
                let error = gave_up(&answered.status);
                (answered, error)
            }
            Err(ended) => {
                let (status, error) = ended.told(skill);
                let nothing = Vec::new();
                (
                    Answered { status: status.to_owned(), findings: nothing, next_prompt: None },
                    Some(error),
                )
            }
        };
        Iteration {
            skill_id: skill.id.clone(),
            status: answered.status,
            findings: answered.findings,
            next_prompt: answered.next_prompt,
            error,
            skill_digest: Some(skill.digest.clone()),
            usage: Some(usage),
        }
    }

    fn converse(
        &self,
        skill: &Skill,
        agent: &mut dyn Agent,
        usage: &mut TokenUsage,
    ) -> Result<Answered, Ended> {
        let mut said = prompt::initial(skill, self.sources, self.permission);
        let mut is_repair = false;
        let mut progress = Progress::default();
        for step in 1..=MAX_STEPS {
            if let Some(limit) = self.budget.exceeded() {
                return Err(Ended::OverBudget(limit));
            }
            self.observer.event(skill, &Event::Asks { step });
            let answer = agent
                .ask(&Turn::new(said.as_str()), self.limits, self.cancel)
                .map_err(|error| Ended::Agent(Box::new(error)))?;
            let asked = said.len();
            let mut now = TokenUsage { requests: answer.requests.into(), ..TokenUsage::default() };
            if let Some(counted) = answer.usage {
                now.input_tokens = counted.input_tokens;
                now.output_tokens = counted.output_tokens;
                now.cost_usd = counted.cost;
            }
            usage.add(&now);
            // An agent that does not count is taken to need a token for four bytes.
            let guess = (asked + answer.text.len()) as u64 / 4;
            self.budget.spend(if answer.usage.is_some() { now.tokens() } else { guess });
            self.observer.event(skill, &Event::Says { text: &self.secrets.mask(&answer.text) });
            let left = MAX_STEPS - step;
            said = match action::parse(&answer.text) {
                Ok(Action::Final(object)) => {
                    let answered = answered(&object, skill);
                    // That nothing was found says nothing about code that nobody has seen.
                    let is_blind = !progress.has_read
                        && answered.findings.is_empty()
                        && gave_up(&answered.status).is_none();
                    if !is_blind {
                        return Ok(answered);
                    }
                    if progress.was_told_to_read {
                        return Err(Ended::Unread);
                    }
                    progress.was_told_to_read = true;
                    self.observer.event(skill, &Event::Repairs { why: prompt::UNREAD });
                    prompt::unread(left)
                }
                Ok(Action::Read(request)) => {
                    is_repair = false;
                    self.read(skill, &request, left, &mut progress)
                }
                // One more chance; a model that cannot take it will not take the next either.
                Err(why) if is_repair => return Err(Ended::Unusable(why)),
                Err(why) => {
                    is_repair = true;
                    self.observer.event(skill, &Event::Repairs { why: &why });
                    prompt::repair(&why, answer.stop == StopReason::MaxTokens, left)
                }
            };
        }
        Err(Ended::MaxSteps)
    }

    /// Carries out a request, or says why not; the conversation goes on either way.
    fn read(
        &self,
        skill: &Skill,
        request: &Request,
        left: usize,
        progress: &mut Progress,
    ) -> String {
        self.observer.event(skill, &Event::Requests { request });
        let confirm = |summary: &str, path: &str| self.observer.allow(summary, path);
        match self.tools.execute(request, &confirm) {
            Ok(text) => {
                progress.has_read |=
                    request.has_looked(&text) && self.tools.is_about(request, self.sources);
                self.observer.event(skill, &Event::Output { request, text: &text });
                prompt::output(request, &text, left)
            }
            Err(error) => {
                let why = error.to_string();
                self.observer.event(skill, &Event::Refused { request, why: &why });
                prompt::refused(request, &why, left)
            }
        }
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
            Self::Unread => (
                "unread",
                "the model found nothing, but read no source, not even when it was told to"
                    .to_owned(),
            ),
            Self::MaxSteps => (
                "max-steps",
                format!(
                    "AI provider exceeded max interactive read steps ({MAX_STEPS}) for skill '{}' (enable --ai-logs to inspect progress)",
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
    }
}
