//! What an audit was about, with what it was done, and where its exploits ran.

use std::path::Path;

use probity_audit::{AuditScope, NamedDigest, Skill, State, digests};
use probity_proof::{GitFacts, NO_COMMIT, Note, Workshop, wording};

pub(super) fn of(
    root: &Path,
    state: &State,
    skills: &[Skill],
    workshop: Option<&Workshop>,
) -> AuditScope {
    let GitFacts { commit, notes, .. } = GitFacts::of(root);
    let commit = Some(commit).filter(|commit| commit != NO_COMMIT);
    let is_dirty =
        if notes.contains(&Note::DirtyUnknown) { None } else { Some(notes.contains(&Note::Dirty)) };
    let skill =
        |skill: &Skill| NamedDigest { name: skill.id.clone(), digest: skill.digest.clone() };
    AuditScope {
        tool: concat!("probity ", env!("CARGO_PKG_VERSION")).to_owned(),
        has_uncommitted_changes: commit.as_ref().and(is_dirty),
        commit,
        provider: state.provider.name.clone(),
        model: state.provider.model.clone(),
        source_digest: state.source_digest.clone(),
        files: digests(root, &state.source_files),
        skills: skills.iter().map(skill).collect(),
        isolation: workshop.map(|workshop| wording::isolation(workshop.sandbox()).to_owned()),
    }
}
