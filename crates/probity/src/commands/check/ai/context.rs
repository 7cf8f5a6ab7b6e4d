//! How much of the build context the agent of a file gets to know.

use std::path::Path;

use probity_autofix::{AgentContext, ContextOptions};
use probity_check::Subject;
use probity_scope::ScopeError;
use probity_seat::Seated;

use crate::config::{table::ai::Ai, words::AiContext};

/// Where the agent starts if it is not sandboxed: paths that it reads are below its working directory.
pub(super) fn directory<'s>(ai: &Ai, subject: Subject<'s>) -> &'s Path {
    let own = subject.source.path.parent();
    let chosen = match ai.context {
        AiContext::ReadOnly => subject.root.or(own),
        AiContext::None | AiContext::Snapshot => own,
    };
    match chosen {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// What the configuration of a file lets the seated agent, or a model without a seat, see.
pub(super) fn of(
    ai: &Ai,
    subject: Subject<'_>,
    seated: Option<&Seated>,
) -> Result<Option<AgentContext>, ScopeError> {
    let Some(root) = subject.root else { return Ok(None) };
    let is_readable = match ai.context {
        AiContext::None => return Ok(None),
        AiContext::Snapshot => false,
        AiContext::ReadOnly if !seated.is_some_and(Seated::can_read_files) => {
            tracing::warn!(
                "the agent gets a snapshot of the build context: only agents that speak ACP can \
                 read files"
            );
            false
        }
        AiContext::ReadOnly => true,
    };
    AgentContext::of(&ContextOptions {
        root,
        ignore: subject.ignore,
        secrets: ai.secrets_policy,
        detector: subject.job.rules.shared_gate(),
        shows_ignored: ai.context_ignored,
        is_readable,
        max_input_bytes: ai.max_input_bytes,
    })
    .map(Some)
}
