//! What a model may read, as it is told to the model and kept in the state.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadScope {
    /// Everything below the project's root.
    Workspace,
    /// The source files alone.
    Strict,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionPrompt {
    pub shell: String,
    /// The commands whose work the actions do. An action whose command is not here is refused.
    pub allowed_commands: Vec<String>,
    pub scope_rules: Vec<String>,
    pub read_scope: ReadScope,
    pub interactive_permissions: bool,
    /// Filled in the strict scope: the only files that may be read.
    pub allowed_paths: Vec<String>,
}

impl PermissionPrompt {
    #[must_use]
    pub fn new(
        read_scope: ReadScope,
        interactive: bool,
        allow_sensitive: bool,
        sources: &[String],
    ) -> Self {
        let mut rules = vec![
            "Reads stay inside the project root; paths are relative to it.".to_owned(),
            "Nothing is written, and no command but the allowed ones is run.".to_owned(),
        ];
        rules.push(match read_scope {
            ReadScope::Workspace => "Any file below the project root may be read.".to_owned(),
            ReadScope::Strict => {
                "Only the listed source files may be read or searched; directories may not be \
                 listed."
                    .to_owned()
            }
        });
        rules.push(if allow_sensitive {
            "Sensitive files (.git, .env, keys) may be read: the user allowed it.".to_owned()
        } else {
            "Sensitive files (.git, .env, keys) are refused, and secrets in others are starred out."
                .to_owned()
        });
        if interactive {
            rules.push("The user confirms every read; a refused one stays refused.".to_owned());
        }
        Self {
            shell: "bash".to_owned(),
            allowed_commands: ["grep", "cat", "find", "ls"].map(str::to_owned).to_vec(),
            scope_rules: rules,
            read_scope,
            interactive_permissions: interactive,
            allowed_paths: match read_scope {
                ReadScope::Workspace => Vec::new(),
                ReadScope::Strict => sources.to_vec(),
            },
        }
    }
}
