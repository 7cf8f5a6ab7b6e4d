//! Variables with keys that only probity itself uses: for models, for forges, and for its database.
//!
//! Agents and commands get exactly what their caller lists. Tools of the host, such as the client of a
//! container engine, get the environment of the user, and need none of these: other processes of the
//! user can read what a tool was started with, and what a container runs may be among them.

use std::{
    env,
    ffi::{OsStr, OsString},
    process::Command,
};

const NAMES: &[&str] = &[
    "CI_JOB_TOKEN",
    "DATABASE_URL",
    "FORGEJO_TOKEN",
    "GH_TOKEN",
    "GITEA_TOKEN",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "PGPASSWORD",
    "PROBITY_REVIEW__DATABASE_URL",
];

/// How the keys of models are called, and the tokens of agents.
const ENDS: &[&str] = &["_API_KEY", "_AUTH_TOKEN", "_GITHUB_TOKEN", "_OAUTH_TOKEN"];

fn is_own_key(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    NAMES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end))
}

/// Our own environment, as a tool of the host gets it.
pub fn tool_variables() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().filter(|(name, _)| !is_own_key(name))
}

/// Keeps our keys from a tool that inherits the rest.
pub(crate) fn withhold(command: &mut Command) {
    for (name, _) in env::vars_os().filter(|(name, _)| is_own_key(name)) {
        command.env_remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::is_own_key;

    #[test]
    fn keys_of_models_and_forges_are_ours_and_those_of_registries_are_not() {
        for (name, is_ours) in [
            ("ANTHROPIC_API_KEY", true),
            ("ANTHROPIC_AUTH_TOKEN", true),
            ("CLAUDE_CODE_OAUTH_TOKEN", true),
            ("COPILOT_GITHUB_TOKEN", true),
            ("COPILOT_PROVIDER_API_KEY", true),
            ("GITHUB_TOKEN", true),
            ("DATABASE_URL", true),
            // What helpers of registries and engines read.
            ("AWS_SECRET_ACCESS_KEY", false),
            ("AZURE_CLIENT_SECRET", false),
            ("DOCKER_AUTH_CONFIG", false),
            ("GOOGLE_APPLICATION_CREDENTIALS", false),
            ("SSH_AUTH_SOCK", false),
            ("PATH", false),
        ] {
            assert_eq!(is_own_key(name.as_ref()), is_ours, "{name}");
        }
    }
}
