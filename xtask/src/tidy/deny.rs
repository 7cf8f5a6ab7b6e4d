//! `deny.toml`, the one list of licences and bans; cargo-deny reads the same file.

use serde::Deserialize;

use super::{Problem, workspace::Workspace};

pub(crate) const FILE: &str = "deny.toml";

#[derive(Deserialize)]
pub(crate) struct Deny {
    pub(crate) licenses: Licenses,
    pub(crate) bans: Bans,
}

#[derive(Deserialize)]
pub(crate) struct Licenses {
    pub(crate) allow: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct Bans {
    #[serde(default)]
    pub(crate) deny: Vec<Ban>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Ban {
    #[serde(rename = "crate")]
    pub(crate) package: String,
    #[serde(default)]
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) use_instead: String,
    /// Packages of others that may depend on it all the same.
    #[serde(default)]
    pub(crate) wrappers: Vec<String>,
}

pub(crate) fn read(workspace: &Workspace) -> Result<Deny, Problem> {
    let parsed = workspace
        .read(FILE)
        .and_then(|text| toml::from_str(&text).map_err(|error| format!("{FILE}: {error}")));
    parsed.map_err(|error| {
        Problem::new(
            FILE,
            None,
            error.trim_end(),
            "licences and bans are listed there: it needs [licenses] with `allow`, and [bans]",
        )
    })
}
