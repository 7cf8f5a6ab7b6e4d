//! Who answers: nobody, for a scaffold, or an agent in a conversation of its own for each skill.

use std::fmt;

use probity_agent::{Agent, AgentError};
use serde::{Deserialize, Serialize};

use crate::Finding;

/// How a provider is named in the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSpec {
    pub name: String,
    pub model: Option<String>,
    pub notes: String,
}

/// Opens a conversation whose system prompt is the argument.
type Open = Box<dyn Fn(&str) -> Result<Box<dyn Agent>, AgentError> + Send + Sync>;

/// The name and the text of each source, and the id of a skill; nothing for a skill whose class no
/// detector knows.
pub(crate) type Detect = dyn Fn(&[(String, String)], &str) -> Option<Vec<Finding>> + Send + Sync;

pub struct Provider {
    pub spec: ProviderSpec,
    pub(crate) answers: Answers,
}

pub(crate) enum Answers {
    Nobody,
    Agent(Open),
    Detectors(Box<Detect>),
}

impl Provider {
    /// Asks nobody: every skill ends at once, with a placeholder for what would be asked.
    #[must_use]
    pub fn scaffold() -> Self {
        let spec = ProviderSpec {
            name: "scaffold".to_owned(),
            model: None,
            notes: "No model is asked; every skill ends with a placeholder.".to_owned(),
        };
        Self { spec, answers: Answers::Nobody }
    }

    /// Asks no model: detectors read the sources, and say nothing about classes that they do not know.
    pub fn detectors(
        spec: ProviderSpec,
        detect: impl Fn(&[(String, String)], &str) -> Option<Vec<Finding>> + Send + Sync + 'static,
    ) -> Self {
        Self { spec, answers: Answers::Detectors(Box::new(detect)) }
    }

    /// Whether the sources were looked at by nobody at all.
    #[must_use]
    pub fn asks_nobody(&self) -> bool {
        matches!(self.answers, Answers::Nobody)
    }

    pub fn agent(
        spec: ProviderSpec,
        open: impl Fn(&str) -> Result<Box<dyn Agent>, AgentError> + Send + Sync + 'static,
    ) -> Self {
        Self { spec, answers: Answers::Agent(Box::new(open)) }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Provider").field("spec", &self.spec).finish_non_exhaustive()
    }
}
