//! What the user gives to sandboxed agents: the variables and login files that the user's own
//! configuration lists. A repository gives nothing.

use std::path::{Path, PathBuf};

use probity_agent::{AgentTable, KnownAgent};

use crate::policy::Variables;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Names.
    pub variables: Vec<String>,
    /// Paths below the user's home. A directory stands for all that is in it.
    pub files: Vec<PathBuf>,
    /// The user's own home, from which listed logins are copied.
    pub home: Option<PathBuf>,
}

impl Grants {
    /// Takes paths as people write them: `~/…`, below the home directory, or relative to it.
    #[must_use]
    pub fn new(variables: Vec<String>, paths: &[String]) -> Self {
        let home = crate::state::absolute("HOME");
        let below_home = |path: &String| {
            let path = Path::new(path);
            match (path.strip_prefix("~"), &home) {
                (Ok(rest), _) => Some(rest.to_owned()),
                (_, Some(home)) if path.is_absolute() => Some(path.strip_prefix(home).ok()?.into()),
                _ => (!path.is_absolute()).then(|| path.to_owned()),
            }
        };
        let files = paths.iter().filter_map(below_home).collect();
        Self { variables, files, home }
    }

    /// The names of the variables that a process gets. Another agent's key is never among them.
    pub(crate) fn variables(
        &self,
        rule: Variables,
        agent: Option<&KnownAgent>,
        table: &AgentTable,
    ) -> Vec<String> {
        let own = agent.map_or(&[][..], |agent| agent.variables.as_slice());
        let granted = agent.map_or(&[][..], |agent| agent.granted.variables.as_slice());
        let listed = |name: &&String| self.variables.contains(*name);
        let row = || own.iter().filter(listed).chain(granted).cloned();
        match rule {
            Variables::Row => row().collect(),
            Variables::RowIfSet => own.iter().chain(granted).cloned().collect(),
            Variables::RowAndShared => {
                let shared = self.variables.iter().filter(|name| !is_a_key(name, table));
                row().chain(shared.cloned()).collect()
            }
            Variables::Listed => self.variables.clone(),
        }
    }

    /// Whether the user lists this login of the agent's row.
    pub(crate) fn has_login(&self, file: &Path) -> bool {
        self.files.iter().any(|listed| file.starts_with(listed))
    }
}

/// Whether some agent's row claims the variable.
pub(crate) fn is_a_key(name: &str, table: &AgentTable) -> bool {
    table.iter().any(|agent| {
        let mut claimed = agent.variables.iter().chain(&agent.granted.variables);
        claimed.any(|own| own == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_gets_its_own_keys_and_nobody_elses() {
        let mut table = AgentTable::shipped();
        let mut mine = KnownAgent::new("mine", ["mine"]);
        mine.granted.variables.push("MINE_KEY".to_owned());
        table.add(mine);
        let listed = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MINE_KEY", "GH_TOKEN"];
        let grants = Grants { variables: listed.map(str::to_owned).to_vec(), ..Grants::default() };
        for (rule, agent, expected) in [
            (Variables::Row, Some("claude"), &["ANTHROPIC_API_KEY"][..]),
            (Variables::Row, Some("codex"), &["OPENAI_API_KEY"]),
            (Variables::Row, Some("gemini"), &[]),
            (Variables::Row, Some("mine"), &["MINE_KEY"]),
            (Variables::Row, None, &[]),
            (Variables::RowAndShared, Some("claude"), &["ANTHROPIC_API_KEY", "GH_TOKEN"]),
            (Variables::RowAndShared, Some("mine"), &["MINE_KEY", "GH_TOKEN"]),
            (Variables::RowAndShared, None, &["GH_TOKEN"]),
            (
                Variables::RowIfSet,
                Some("codex"),
                &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
            ),
            (Variables::Listed, None, &listed),
        ] {
            let row = agent.map(|name| table.get(name).unwrap());
            assert_eq!(grants.variables(rule, row, &table), expected, "{rule:?} {agent:?}");
        }
    }
}
