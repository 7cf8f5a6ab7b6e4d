//! Going on where an earlier run was ended: which skills need not be asked about again.

use crate::{ProviderSpec, Skill, State, state::VERSION};

/// What an earlier state is good for.
#[derive(Debug)]
pub struct Resumed {
    /// Iterations that stay as they are.
    pub iterations: Vec<crate::Iteration>,
    /// Why nothing or not everything could be kept.
    pub reason: Option<String>,
}

/// Takes the finished skills out of an earlier state. A skill counts only if its page, the sources,
/// the provider and the model are the same as now.
#[must_use]
pub fn resume(
    earlier: State,
    skills: &[Skill],
    provider: &ProviderSpec,
    source_digest: Option<&str>,
    changed_files: Option<&[String]>,
) -> Resumed {
    let nothing =
        |reason: &str| Resumed { iterations: Vec::new(), reason: Some(reason.to_owned()) };
    if earlier.version != VERSION {
        return nothing("it has another version");
    }
    if earlier.provider != *provider {
        return nothing("another provider or model was asked");
    }
    if earlier.source_digest.as_deref() != source_digest {
        return nothing("the sources have changed since");
    }
    if earlier.changed_files.as_deref() != changed_files {
        return nothing("other sources had to be read");
    }
    let mut iterations = Vec::new();
    for skill in skills {
        let done = earlier.iterations.iter().find(|iteration| {
            iteration.is_done()
                && iteration.skill_id == skill.id
                && iteration.skill_digest.as_deref() == Some(skill.digest.as_str())
        });
        iterations.extend(done.cloned());
    }
    Resumed { iterations, reason: None }
}
