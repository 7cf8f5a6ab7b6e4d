//! Answers of earlier runs: when one can stand for a new answer.
//!
//! Only complete answers are kept. The key covers whatever changes an answer: the skill, the sources,
//! the provider with its model and endpoint, and every word of the first prompts.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::{AuditOptions, Iteration, Skill, prompt, session::Session};

/// Where answers are kept. Reading and writing are the caller's, and so is telling about failures:
/// an answer that cannot be read is asked for again.
pub trait AnswerCache: Sync + fmt::Debug {
    fn get(&self, key: &str) -> Option<Iteration>;
    fn put(&self, key: &str, iteration: &Iteration);
}

/// The key of one skill's answer; nothing if the model has no name or the sources no digest.
pub(crate) fn key(
    options: &AuditOptions<'_>,
    session: &Session<'_>,
    skill: &Skill,
) -> Option<String> {
    let provider = &options.provider.spec;
    let parts = [
        prompt::VERSION,
        options.source_digest.as_deref()?,
        provider.model.as_deref()?,
        &provider.name,
        &provider.notes,
        &skill.digest,
        if options.tools.numbered { "numbered" } else { "plain" },
        if options.refute { "refuted" } else { "as found" },
        &session.system(),
        &session.first_prompt(skill),
    ];
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    Some(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// An answer of an earlier run as an answer of this one, which paid nothing for it.
pub(crate) fn reused(iteration: Iteration) -> Iteration {
    Iteration { cached: true, usage: None, ..iteration }
}
