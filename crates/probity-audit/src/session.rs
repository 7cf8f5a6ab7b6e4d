//! One skill: what a model, or a detector, comes to about it.

mod conversation;
mod ended;
mod examine;
mod prove;
mod refute;

use std::{path::Path, sync::OnceLock};

use probity_agent::{Agent, AgentError, Cancel, Limits};
use probity_proof::ExploitLevel;
use probity_scope::Scope;

pub(crate) use self::ended::{NOT_CHECKED, SCAFFOLDED};
use self::{conversation::Conversation, ended::gave_up, examine::Examination};
use crate::{
    Finding, Iteration, NextPrompt, Rules, Skill,
    action::Expected,
    answer::Answered,
    audit::Budget,
    coverage::Coverage,
    evidence::Evidence,
    exploit::Vulnerabilities,
    inlined::Inlined,
    language::Language,
    prompt,
    provider::{Detect, Detected, Open, Opening},
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
    /// An earlier run has answered the same question.
    Cached,
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
    /// A new conversation tries to exploit this finding.
    Exploits {
        finding: &'a Finding,
    },
    /// Another skill reports the same vulnerability, and its exploit was tried before.
    HasExploit {
        finding: &'a Finding,
        level: ExploitLevel,
    },
    /// What became of one attempt.
    Tried {
        level: ExploitLevel,
        reason: &'a str,
    },
    /// A new conversation tries to show that this finding is wrong.
    Refutes {
        finding: &'a Finding,
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
    /// The sources that have to be read, if not all of them.
    pub(crate) changed: Option<&'a [String]>,
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
    /// What the detectors found, once one of the skills has asked them.
    pub(crate) detected: &'a OnceLock<Detected>,
    /// What was exploited already, by any skill.
    pub(crate) vulnerabilities: &'a Vulnerabilities,
    pub(crate) limits: &'a Limits,
    pub(crate) budget: &'a Budget,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) cancel: &'a Cancel,
}

/// What became of a skill, and whether the model came to the end of what it had to say.
pub(crate) struct Examined {
    pub(crate) iteration: Iteration,
    pub(crate) is_whole: bool,
}

impl Session<'_> {
    pub(crate) fn examine(&self, skill: &Skill, open: &Open) -> Examined {
        let mut conversation = Conversation::new(self, skill);
        let mut examination = Examination::new(self, skill);
        let first = self.first_prompt(skill);
        conversation.coverage.count(&self.inlined.shown);
        let opened = self.open(open, &self.system(), Expected::Findings);
        let ended = conversation.converse(opened, first, self.most_steps(), &mut examination);
        let held = examination.held.take();
        let is_whole = ended.is_ok();
        let (mut answered, error) = match (ended, held) {
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
            examination.evidence.check(finding);
        }
        let iteration = Iteration {
            status: answered.status,
            findings: answered.findings,
            next_prompt: answered.next_prompt,
            error,
            usage: Some(conversation.usage),
            coverage: Some(conversation.coverage.into_files()),
            ..Iteration::of(skill)
        };
        Examined { is_whole: is_whole && iteration.is_done(), iteration }
    }

    /// What every conversation about a skill begins with.
    pub(crate) fn system(&self) -> String {
        prompt::system(self.rules, Language::of_sources(self.sources), self.changed.is_some())
    }

    pub(crate) fn first_prompt(&self, skill: &Skill) -> String {
        prompt::initial(skill, self.sources, self.changed, self.permission, self.inlined)
    }

    fn open(
        &self,
        open: &Open,
        system: &str,
        expected: Expected,
    ) -> Result<Box<dyn Agent>, AgentError> {
        // The specification fixes the request to the last byte.
        let schema = match self.rules {
            Rules::Specification => None,
            Rules::Probity => Some(expected.schema()),
        };
        open(&Opening { system, schema })
    }

    /// What detectors find, which read every source, once for all skills.
    pub(crate) fn detect(&self, skill: &Skill, detect: &Detect) -> Iteration {
        let text = |source: &String| {
            let bytes = self.scope.read(Path::new(source), MOST_BYTES).ok()?;
            Some((source.clone(), String::from_utf8_lossy(&bytes).into_owned()))
        };
        let detected = self.detected.get_or_init(|| {
            let sources: Vec<(String, String)> = self.sources.iter().filter_map(text).collect();
            detect(&sources)
        });
        let Some(findings) = detected.get(crate::heuristic::class_of(&skill.id)) else {
            let error = "no detector knows this class, and no model was asked; name one with \
                         --provider";
            return Iteration {
                status: NOT_CHECKED.to_owned(),
                error: Some(error.to_owned()),
                ..Iteration::of(skill)
            };
        };
        let mut evidence = Evidence::new(self.scope, self.sources);
        let mut findings = findings.clone();
        for finding in &mut findings {
            evidence.check(finding);
        }
        let mut coverage = self.unseen.clone();
        coverage.count_all();
        Iteration { findings, coverage: Some(coverage.into_files()), ..Iteration::of(skill) }
    }

    /// Reading every source once, and then some.
    fn most_steps(&self) -> usize {
        match self.rules {
            Rules::Specification => MAX_STEPS,
            // A model that thinks it is done after each file has to be told to read the next one.
            Rules::Probity => MAX_STEPS.max(2 * self.inlined.pages + STEPS_TO_JUDGE),
        }
    }
}

/// What a skill comes to when nobody is asked.
pub(crate) fn scaffolded(skill: &Skill) -> Iteration {
    Iteration {
        status: SCAFFOLDED.to_owned(),
        next_prompt: Some(NextPrompt {
            skill_id: skill.id.clone(),
            text: format!(
                "Placeholder: choose a provider to have skill '{}' ({}) analyzed.",
                skill.id, skill.name
            ),
        }),
        ..Iteration::of(skill)
    }
}
