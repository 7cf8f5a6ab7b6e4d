//! How the tests ask: the shortest way to a provider with short waits.

use std::time::Duration;

use probity_agent::{
    Agent as _, AgentError, Answer, ApiKey, Cancel, ChatAgent, ChatKind, ChatOptions, ChatProvider,
    Limits, Retry, Turn,
};

use crate::server::Server;

pub(crate) const KEY: &str = "sk-test-0123456789";

/// Long enough for a slow machine; a test that waits for it has failed.
pub(crate) const LIMITS: Limits = Limits::within(Duration::from_secs(120));

pub(crate) const QUICK: Retry = Retry {
    requests: 3,
    first_wait: Duration::from_millis(1),
    longest_wait: Duration::from_millis(2),
    longest_asked: Duration::from_millis(300),
};

pub(crate) fn options(kind: ChatKind, endpoint: &str) -> ChatOptions {
    ChatOptions {
        kind,
        endpoint: endpoint.to_owned(),
        model: kind.default_model().to_owned(),
        key: kind.key_variable().map(|variable| ApiKey::new(KEY, variable)),
        max_tokens: None,
        extras: None,
        retry: QUICK,
    }
}

pub(crate) fn provider(kind: ChatKind, server: &Server) -> ChatProvider {
    ChatProvider::new(options(kind, &server.url("/v1/chat"))).unwrap()
}

pub(crate) fn agent(kind: ChatKind, server: &Server) -> ChatAgent {
    provider(kind, server).conversation("be brief")
}

pub(crate) fn ask(agent: &mut ChatAgent, prompt: &str) -> Result<Answer, AgentError> {
    agent.ask(&Turn::new(prompt), &LIMITS, &Cancel::new())
}

/// One question to an OpenAI-compatible server that plays these parts.
pub(crate) fn once(server: &Server) -> Result<Answer, AgentError> {
    ask(&mut agent(ChatKind::OpenAi, server), "hello")
}
