//! How much of the build context the agent of a file gets to know.

use std::{fmt, path::Path, sync::Arc};

use probity_autofix::{AgentContext, ContextOptions, ContextRead, ReadOutcome};
use probity_check::source::Source;
use probity_dockerfile::Dockerignore;
use probity_scope::ScopeError;
use probity_seat::Seated;
use probity_secrets::{FindSecrets, Secret};

use crate::{
    commands::check::{job::Job, settings::FileRules},
    config::words::AiContext,
};

/// Where the agent starts if it is not sandboxed: paths that it reads are below its working directory.
pub(super) fn directory<'p>(job: &Job, source: &'p Source, root: Option<&'p Path>) -> &'p Path {
    let own = source.path.parent();
    let chosen = match job.config.ai.context {
        AiContext::ReadOnly => root.or(own),
        AiContext::None | AiContext::Snapshot => own,
    };
    match chosen {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// What the configuration of a file lets the seated agent, or a model without a seat, see.
pub(super) fn of(
    job: &Job,
    root: Option<&Path>,
    ignore: Option<&Dockerignore>,
    seated: Option<&Seated>,
) -> Result<Option<AgentContext>, ScopeError> {
    let ai = &job.config.ai;
    let Some(root) = root else { return Ok(None) };
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
        ignore,
        secrets: ai.secrets_policy,
        detector: Arc::new(Gate(Arc::clone(&job.rules))),
        shows_ignored: ai.context_ignored,
        is_readable,
        max_input_bytes: ai.max_input_bytes,
    })
    .map(Some)
}

/// A request to read a file, fit to be shown.
pub(super) fn hidden(read: &ContextRead, hide: &impl Fn(&str) -> String) -> ContextRead {
    let outcome = match &read.outcome {
        ReadOutcome::Served { bytes } => ReadOutcome::Served { bytes: *bytes },
        ReadOutcome::Refused { why } => ReadOutcome::Refused { why: hide(why) },
    };
    ContextRead { path: hide(&read.path), outcome }
}

/// Knows what may not leave the machine, for as long as an agent may read.
struct Gate(Arc<FileRules>);

impl FindSecrets for Gate {
    fn find(&self, text: &str) -> Vec<Secret> {
        self.0.gate().find(text)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Gate")
    }
}
