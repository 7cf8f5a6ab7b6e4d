//! From `--provider` and its companions to somebody who can be asked.

use std::{env, path::Path};

use probity_agent::{
    AgentError, AgentRef, ApiKey, ChatKind, ChatOptions, ChatProvider, Refused, Retry, split_words,
};
use probity_audit::{PermissionPrompt, Provider, ProviderSpec};
use probity_scope::Ignored;
use probity_seat::Form;
use probity_text::visible;

use super::seat;
use crate::{config::table::audit::Audit, failure::Failure, name::Name};

/// What was chosen, checked as far as it can be before the sources are known.
pub(super) enum Chosen {
    Ready(Provider),
    Agent(Box<seat::Chosen>),
}

impl Chosen {
    /// A process is given a place in which it sees nothing but what the scope allows.
    pub(super) fn ready(
        self,
        root: &Path,
        permission: &PermissionPrompt,
        allow_sensitive: bool,
        ignored: Ignored,
    ) -> anyhow::Result<Provider> {
        match self {
            Self::Ready(provider) => Ok(provider),
            Self::Agent(chosen) => chosen.ready(root, permission, allow_sensitive, ignored),
        }
    }
}

/// The names that the specification has, and those that are only ours.
const CHATS: &str = "scaffold, openai, anthropic, ollama";
const OURS: &str = "heuristic, acp, command, replay";

/// Who is asked: who is named, or the detectors if there is something that they can read.
pub(super) fn named(name: Name, settings: &Audit, root: &Path) -> Result<String, Failure> {
    let ignored = probity_audit::ignored_files(settings.allow_ignored);
    let contracts = || probity_audit::discover(root, ignored, &probity_audit::is_contract);
    match (&settings.provider, name) {
        (Some(provider), _) => Ok(provider.trim().to_owned()),
        (None, Name::Trix) => Ok("scaffold".to_owned()),
        // What went wrong is said when the sources are looked for again.
        (None, _)
            if settings.include.is_empty()
                && contracts().map_or(true, |found| !found.is_empty()) =>
        {
            Ok("heuristic".to_owned())
        }
        (None, _) => Err(unnamed()),
    }
}

/// Whether this provider has nobody who could be asked a second time.
pub(super) fn asks_no_model(provider: &str) -> bool {
    matches!(provider.to_lowercase().as_str(), "heuristic" | "scaffold")
}

pub(super) fn choose(name: Name, settings: &Audit, given: &str) -> anyhow::Result<Chosen> {
    let lower = given.to_lowercase();
    if let (Some(agent), "scaffold" | "heuristic" | "openai" | "anthropic" | "ollama") =
        (&settings.agent, lower.as_str())
    {
        return Err(Failure::new(
            format!("--agent {agent} has no meaning for the provider '{lower}'"),
            "add --provider acp, command or replay, or leave it out",
        )
        .into());
    }
    let kind = match lower.as_str() {
        "scaffold" => return Ok(Chosen::Ready(Provider::scaffold())),
        "heuristic" if name != Name::Trix => return Ok(Chosen::Ready(heuristic())),
        "openai" => ChatKind::OpenAi,
        "anthropic" => ChatKind::Anthropic,
        "ollama" => ChatKind::Ollama,
        _ if name != Name::Trix => {
            if let Some((kind, reference, form)) = agent(given, settings)? {
                let chosen = seat::Chosen::new(kind, reference, form, settings)?;
                return Ok(Chosen::Agent(Box::new(chosen)));
            }
            return Err(unsupported(&lower, &format!("{CHATS}, {OURS}")).into());
        }
        _ => return Err(unsupported(&lower, CHATS).into()),
    };
    Ok(Chosen::Ready(chat(kind, settings, name)?))
}

/// Our own detectors, which read Aiken and ask no model.
fn heuristic() -> Provider {
    let spec = ProviderSpec {
        name: "heuristic".to_owned(),
        model: None,
        notes: "Offline detectors; no model is asked.".to_owned(),
    };
    Provider::detectors(spec, probity_audit::detect)
}

/// Without contracts there is nothing that the detectors could read.
fn unnamed() -> Failure {
    Failure::new(
        "no provider is named, and the offline detectors read only *.ak files",
        "name one, for example `--provider openai` with a key in OPENAI_API_KEY, or \
         `--provider ollama --model NAME`; `--include GLOB` names the sources",
    )
}

fn unsupported(given: &str, expected: &str) -> Failure {
    Failure::new(
        format!("Unsupported provider '{given}'. Expected one of: {expected}"),
        "choose one of them with --provider",
    )
}

/// An agent by `--provider acp|command|replay` with `--agent`, or in one word as everywhere else.
fn agent(given: &str, settings: &Audit) -> anyhow::Result<Option<(&'static str, AgentRef, Form)>> {
    let (kind, prefix, form) = match given.split_once(':').map_or(given, |(kind, _)| kind) {
        "acp" => ("acp", "acp:", Form::Acp),
        "cmd" | "command" => ("command", "cmd:", Form::CommandLine),
        "replay" => ("replay", "replay:", Form::Acp),
        _ => return Ok(None),
    };
    let rest = given.split_once(':').map(|(_, rest)| rest.to_owned());
    let named = rest.or_else(|| settings.agent.clone()).unwrap_or_default();
    // Other commands name an agent with its kind, and the same word works here.
    let named = named.strip_prefix(prefix).map(str::to_owned).unwrap_or(named);
    if named.trim().is_empty() {
        return Err(Failure::new(
            format!("the provider '{kind}' needs an agent"),
            "name it with --agent: a known agent, a command, or the file of a recording",
        )
        .into());
    }
    let words = split_words(&named)?;
    let reference = match (kind, words.as_slice()) {
        ("replay", _) => AgentRef::Replay(named.into()),
        // One word without a slash is the name of an agent.
        (_, [word]) if !word.contains('/') => AgentRef::parse(word)?,
        ("acp", _) => AgentRef::Acp(words),
        _ => AgentRef::Command(words),
    };
    Ok(Some((kind, reference, form)))
}

fn chat(kind: ChatKind, settings: &Audit, name: Name) -> anyhow::Result<Provider> {
    let endpoint = settings.endpoint.clone().unwrap_or_else(|| kind.default_endpoint().to_owned());
    let model = settings.model.clone().unwrap_or_else(|| kind.default_model().to_owned());
    // Ollama reads no key, whatever variable is named.
    let key = match kind.key_variable() {
        None => None,
        Some(usual) => Some(key(kind, settings.api_key_env.as_deref().unwrap_or(usual))?),
    };
    let options = ChatOptions {
        kind,
        endpoint: endpoint.clone(),
        model: model.clone(),
        key,
        max_tokens: settings.max_tokens,
        // The specification fixes the request to the last byte.
        extras: if name == Name::Trix { None } else { Some(tell_refused) },
        retry: Retry::USUAL,
    };
    let chat = ChatProvider::new(options).map_err(|error| told(&error))?;
    for warning in chat.warnings() {
        tracing::warn!("{warning}");
    }
    let label = match kind {
        ChatKind::OpenAi | ChatKind::Ollama => "openai-compatible",
        ChatKind::Anthropic => "anthropic",
    };
    let notes = format!("Endpoint: {}", without_user(&endpoint));
    let spec = ProviderSpec { name: label.to_owned(), model: Some(model), notes };
    Ok(Provider::agent(spec, move |opening| {
        Ok(Box::new(chat.conversation(opening.system).with_schema(opening.schema.clone())))
    }))
}

fn tell_refused(refused: Refused) {
    tracing::warn!("{}", visible::line(&refused.to_string()));
}

fn key(kind: ChatKind, variable: &str) -> Result<ApiKey, Failure> {
    let missing = || {
        Failure::new(
            format!(
                "Missing API key environment variable '{variable}'. Set it before running with --provider {}.",
                kind.name()
            ),
            format!("export {variable}=…, or name another variable with --api-key-env"),
        )
    };
    let value = env::var(variable).map_err(|_| missing())?;
    Ok(ApiKey::new(&value, variable))
}

/// A password in the address is not for the state.
fn without_user(endpoint: &str) -> String {
    match endpoint.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.split('/').next().unwrap_or_default();
            match authority.rsplit_once('@') {
                Some((user, _)) => {
                    let rest = rest.get(user.len() + 1..).unwrap_or_default();
                    format!("{scheme}://{rest}")
                }
                None => endpoint.to_owned(),
            }
        }
        None => endpoint.to_owned(),
    }
}

pub(super) fn told(error: &AgentError) -> Failure {
    Failure::new(error.to_string(), error.way_out())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_of_the_endpoint_is_not_kept() {
        for (given, kept) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            ("https://me:secret@host/v1?a=b@c", "https://host/v1?a=b@c"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(without_user(given), kept);
        }
    }
}
