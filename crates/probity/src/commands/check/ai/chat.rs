//! A model behind a chat API as the agent that proposes fixes.

use std::env;

use probity_agent::{ApiKey, ChatKind, ChatOptions, ChatProvider, Refused, Retry};
use probity_autofix::Reason;
use probity_text::visible;

use crate::config::table::ai::Ai;

/// The task is in each prompt; this only says who speaks.
const SYSTEM: &str =
    "You change one Dockerfile as the prompt asks, and answer in the form that it asks for.";

/// A chat API that may be asked.
pub(super) struct Chat {
    provider: ChatProvider,
    /// The provider and the model.
    pub(super) label: String,
}

impl Chat {
    pub(super) fn new(kind: ChatKind, ai: &Ai) -> Result<Self, (Reason, String)> {
        let refused = |detail: String| (Reason::NotConfigured, detail);
        let key = match (kind.key_variable(), &ai.api_key_env) {
            (None, None) => None,
            (usual, own) => {
                let variable = own.as_deref().or(usual).unwrap_or_default();
                let value = env::var(variable).map_err(|_| {
                    refused(format!(
                        "the environment variable {variable} is not set; run `export {variable}=KEY`, \
                         or name another variable with `ai.api-key-env`"
                    ))
                })?;
                Some(ApiKey::new(&value, variable))
            }
        };
        let model = ai.model.clone().unwrap_or_else(|| kind.default_model().to_owned());
        let label = format!("{} {}", kind.name(), visible::line(&model));
        let options = ChatOptions {
            kind,
            endpoint: ai.endpoint.clone().unwrap_or_else(|| kind.default_endpoint().to_owned()),
            model,
            key,
            max_tokens: None,
            extras: Some(tell_refused),
            retry: Retry::USUAL,
        };
        let provider = ChatProvider::new(options)
            .map_err(|error| refused(format!("{error}; {}", error.way_out())))?;
        for warning in provider.warnings() {
            tracing::warn!("{warning}");
        }
        Ok(Self { provider, label })
    }

    pub(super) fn conversation(&self) -> Box<dyn probity_agent::Agent> {
        Box::new(self.provider.conversation(SYSTEM))
    }
}

fn tell_refused(refused: Refused) {
    tracing::warn!("{}", visible::line(&refused.to_string()));
}
