//! The part of a review that can be told before anything was found.

use std::time::Instant;

use probity_proof::{GitFacts, Note};

use super::{AskOptions, Checkout, Failed, Reviewed};
use crate::{
    Bar,
    claims::Claims,
    output::{Cost, Isolation, Metadata},
    redact::Redactor,
};

pub(super) struct Page {
    pub(super) metadata: Metadata,
    pub(super) isolation: Isolation,
    pub(super) git_notes: Vec<Note>,
    pub(super) notes: Vec<String>,
    pub(super) cost: Option<Cost>,
    pub(super) bar: Bar,
    /// What was spent before `began`.
    spent: u64,
    began: Instant,
}

impl Page {
    pub(super) fn begin(checkout: &Checkout, options: &AskOptions<'_>) -> Self {
        let timestamp = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let facts = GitFacts::of(&checkout.repo);
        let is_named = facts.identity == facts.repo;
        Self {
            metadata: Metadata {
                first_commit: if is_named { String::new() } else { facts.identity },
                repo: facts.repo,
                commit: facts.commit,
                branch: facts.branch,
                timestamp,
                agent_cli: options.agent.name.clone(),
                agent_model: options.agent.model.clone(),
                base_ref: options.diff_base.clone(),
                profile: options.profile.clone(),
                ..Metadata::default()
            },
            isolation: Isolation { agent: options.agent.isolation.clone(), ..Isolation::default() },
            git_notes: facts.notes,
            notes: Vec::new(),
            cost: None,
            bar: options.bar,
            spent: 0,
            began: Instant::now(),
        }
    }

    /// What is known after asking, whoever asked.
    pub(super) fn of(claims: &Claims) -> Self {
        let isolation = Isolation {
            agent: claims.agent_isolation.clone(),
            tests: claims.settled.isolation.clone(),
        };
        Self {
            metadata: claims.metadata.clone(),
            isolation,
            git_notes: Vec::new(),
            notes: [&claims.notes[..], &claims.settled.notes].concat(),
            cost: claims.cost,
            bar: claims.settings.bar,
            spent: claims.milliseconds,
            began: Instant::now(),
        }
    }

    /// Since the review began, without the time in which nobody worked on it.
    pub(super) fn milliseconds(&self) -> u64 {
        self.spent.saturating_add(milliseconds(self.began))
    }

    /// Does a step of a review; what keeps it from happening becomes a review that says so.
    pub(super) fn or_failure<T>(
        mut self,
        checkout: &Checkout,
        step: impl FnOnce(&mut Self, &Redactor) -> Result<T, Failed>,
    ) -> Result<T, Box<Reviewed>> {
        let redactor = match Redactor::new(&checkout.hidden) {
            Ok(redactor) => redactor,
            Err(error) => return Err(Box::new(self.failed(Failed::machine(&error), None))),
        };
        let done = step(&mut self, &redactor);
        done.map_err(|failed| Box::new(self.failed(failed, Some(&redactor))))
    }
}

pub(super) fn milliseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
