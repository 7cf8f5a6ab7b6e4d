//! The state that the audit before left: what is continued, and whose findings get a status.

use std::path::Path;

use anyhow::Context as _;
use probity_audit::{Iteration, ProviderSpec, Rules, Skill, State, resume};
use probity_scope::{MOST_BYTES, read_text};

use super::failed;
use crate::{failure::Failure, output::OutputFile};

/// The state of the audit before, if there is one. Only an audit that continues it has to be able to
/// read it. The specification knows no findings of other audits.
pub(super) fn read(
    file: &OutputFile,
    rules: Rules,
    is_resumed: bool,
) -> anyhow::Result<Option<State>> {
    let path = file.called();
    if rules == Rules::Specification {
        return Ok(None);
    }
    if !path.exists() {
        if is_resumed {
            tracing::warn!("there is no {} to resume; everything is asked", path.display());
        }
        return Ok(None);
    }
    let way_out = "start over without --resume, name another file with --state-out";
    let believed = file.refuse_committed(way_out).map_err(anyhow::Error::from);
    match believed.and_then(|()| parse(path)) {
        Ok(state) => Ok(Some(state)),
        Err(error) if is_resumed => Err(error),
        Err(error) => {
            tracing::warn!("{error}; findings of the previous audit get no status");
            Ok(None)
        }
    }
}

fn parse(path: &Path) -> anyhow::Result<State> {
    let text = read_text(path, MOST_BYTES)
        .with_context(|| failed(format!("cannot read the state {}", path.display())))?;
    serde_json::from_str(&text).with_context(|| {
        Failure::new(
            format!("{} is not the state of an audit", path.display()),
            "start over without --resume",
        )
    })
}

/// What a state has to be about to be continued.
pub(super) struct Now<'a> {
    pub(super) skills: &'a [Skill],
    pub(super) provider: &'a ProviderSpec,
    pub(super) source_digest: Option<&'a str>,
    pub(super) changed: Option<&'a [String]>,
}

/// The finished iterations of an earlier run, and a word on why others are not.
pub(super) fn finished(path: &Path, state: &State, now: &Now<'_>) -> Vec<Iteration> {
    let resumed = resume(state.clone(), now.skills, now.provider, now.source_digest, now.changed);
    if let Some(reason) = resumed.reason {
        tracing::warn!("{} is not resumed: {reason}", path.display());
    }
    resumed.iterations
}
