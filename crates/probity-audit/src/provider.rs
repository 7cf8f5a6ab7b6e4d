//! Who answers: nobody, for a scaffold, or an agent in a conversation of its own for each skill.

use std::{collections::BTreeMap, fmt};

use probity_agent::{Agent, AgentError, Schema};
use serde::{Deserialize, Serialize};

use crate::Finding;

/// How a provider is named in the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSpec {
    pub name: String,
    pub model: Option<String>,
    pub notes: String,
}

/// What a conversation begins with.
#[derive(Clone, Debug)]
pub struct Opening<'a> {
    pub system: &'a str,
    /// The form of every answer, for providers that can hold a model to one.
    pub schema: Option<Schema>,
}

/// Opens a conversation.
pub(crate) type Open = dyn Fn(&Opening<'_>) -> Result<Box<dyn Agent>, AgentError> + Send + Sync;

/// What detectors found: the findings of each class that they know.
pub type Detected = BTreeMap<&'static str, Vec<Finding>>;

/// Reads the name and the text of each source.
pub(crate) type Detect = dyn Fn(&[(String, String)]) -> Detected + Send + Sync;

pub struct Provider {
    pub spec: ProviderSpec,
    pub(crate) answers: Answers,
}

pub(crate) enum Answers {
    Nobody,
    Agent(Box<Open>),
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

    /// Asks no model: detectors read all sources once for all skills.
    pub fn detectors(
        spec: ProviderSpec,
        detect: impl Fn(&[(String, String)]) -> Detected + Send + Sync + 'static,
    ) -> Self {
        Self { spec, answers: Answers::Detectors(Box::new(detect)) }
    }

    pub fn agent(
        spec: ProviderSpec,
        open: impl Fn(&Opening<'_>) -> Result<Box<dyn Agent>, AgentError> + Send + Sync + 'static,
    ) -> Self {
        Self { spec, answers: Answers::Agent(Box::new(open)) }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Provider").field("spec", &self.spec).finish_non_exhaustive()
    }
}
