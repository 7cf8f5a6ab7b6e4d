//! What was audited, with what, in enough detail to repeat it.

use serde::{Deserialize, Serialize};

/// The scope of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditScope {
    /// Name and version of the program.
    pub tool: String,
    /// None without a repository or a commit.
    pub commit: Option<String>,
    /// Whether the sources differ from the commit, if that is known.
    pub has_uncommitted_changes: Option<bool>,
    pub provider: String,
    pub model: Option<String>,
    /// Of names and contents of all sources.
    pub source_digest: Option<String>,
    /// SHA-256 of each source.
    pub files: Vec<NamedDigest>,
    /// SHA-256 of each skill's page.
    pub skills: Vec<NamedDigest>,
    /// What exploits ran in; none if nothing was to be proven.
    pub isolation: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedDigest {
    pub name: String,
    pub digest: String,
}

impl AuditScope {
    /// Names and values, for people.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let commit = match (&self.commit, self.has_uncommitted_changes) {
            (Some(commit), Some(true)) => format!("{commit}, with uncommitted changes"),
            (Some(commit), _) => commit.clone(),
            (None, _) => "none".to_owned(),
        };
        let proof = self.isolation.clone().unwrap_or_else(|| "not asked for".to_owned());
        vec![
            ("Tool", self.tool.clone()),
            ("Commit", commit),
            ("Source digest", self.source_digest.clone().unwrap_or_default()),
            ("Sources", self.files.len().to_string()),
            ("Skills", self.skills.len().to_string()),
            ("Provider", self.provider.clone()),
            ("Model", self.model.clone().unwrap_or_else(|| "none".to_owned())),
            ("Exploits run in", proof),
        ]
    }
}
