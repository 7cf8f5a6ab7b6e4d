//! Models behind a chat API: what is asked, how often, and what becomes of the answer.

mod anthropic;
mod extras;
mod http;
mod key;
mod ollama;
mod openai;
mod retry;
mod retry_after;
mod send;
mod shape;

use std::{sync::Arc, time::Instant};

pub use crate::chat::{
    extras::{Part, Refused},
    key::ApiKey,
    retry::Retry,
    shape::Schema,
};
use crate::{
    Agent, AgentError, Answer, Cancel, Cause, Limits, Phase, StopReason, Turn, Usage,
    chat::{
        extras::Extras,
        http::Http,
        shape::{Message, Request, Role, Shape},
    },
};

/// The chat APIs that we speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatKind {
    /// OpenAI, and the many that answer as it does.
    OpenAi,
    Anthropic,
    Ollama,
}

impl ChatKind {
    #[must_use]
    pub fn name(self) -> &'static str {
        self.shape().name
    }

    #[must_use]
    pub fn default_endpoint(self) -> &'static str {
        self.shape().endpoint
    }

    #[must_use]
    pub fn default_model(self) -> &'static str {
        self.shape().model
    }

    /// The environment variable that usually holds the key; a local server needs none.
    #[must_use]
    pub fn key_variable(self) -> Option<&'static str> {
        self.shape().key_variable
    }

    fn shape(self) -> &'static Shape {
        match self {
            Self::OpenAi => &openai::SHAPE,
            Self::Anthropic => &anthropic::SHAPE,
            Self::Ollama => &ollama::SHAPE,
        }
    }
}

#[derive(Debug)]
pub struct ChatOptions {
    pub kind: ChatKind,
    /// The whole address, used as it is written.
    pub endpoint: String,
    pub model: String,
    /// Left out for a local server, which takes any.
    pub key: Option<ApiKey>,
    /// The most tokens of one answer. Without it the provider's own limit holds; Anthropic, which
    /// insists on a number, gets one.
    pub max_tokens: Option<u32>,
    /// Asks for temperature 0, and for answers by the schema of each conversation. An endpoint that
    /// rejects either is asked without it for the rest of the run.
    pub extras: Option<OnRefused>,
    pub retry: Retry,
}

/// Hears what an endpoint rejects, once for each part of the request.
pub type OnRefused = fn(Refused);

/// A chat API with its key, checked and ready; shared by any number of conversations.
#[derive(Clone, Debug)]
pub struct ChatProvider {
    ready: Arc<Ready>,
}

#[derive(Debug)]
struct Ready {
    shape: &'static Shape,
    http: Http,
    model: String,
    key: Option<ApiKey>,
    max_tokens: Option<u32>,
    extras: Extras,
    retry: Retry,
}

impl ChatProvider {
    pub fn new(options: ChatOptions) -> Result<Self, AgentError> {
        let shape = options.kind.shape();
        let http = Http::new(&options.endpoint).map_err(|why| {
            let way_out = "give the whole URL, for example ";
            AgentError::new(
                shape.name,
                Phase::Preparing,
                Cause::BadOptions(why.to_string()),
                format!("{way_out}{}", shape.endpoint),
            )
        })?;
        if let Some(key) = &options.key {
            key.check().map_err(|why| {
                let way_out = format!("set {} to the key alone", key.origin());
                let cause = Cause::BadOptions(why.to_string());
                AgentError::new(shape.name, Phase::Preparing, cause, way_out)
            })?;
        }
        let ChatOptions { model, key, max_tokens, retry, .. } = options;
        let extras = Extras::new(options.extras);
        Ok(Self { ready: Arc::new(Ready { shape, http, model, key, max_tokens, extras, retry }) })
    }

    /// What the user should know before anything is sent.
    #[must_use]
    pub fn warnings(&self) -> Vec<ChatWarning> {
        let http = &self.ready.http;
        let exposed = self.ready.key.is_some() && !http.is_encrypted() && !http.is_loopback();
        if exposed {
            vec![ChatWarning::KeyInTheClear { endpoint: http.shown() }]
        } else {
            Vec::new()
        }
    }

    /// A new conversation that knows nothing of the others.
    #[must_use]
    pub fn conversation(&self, system: impl Into<String>) -> ChatAgent {
        ChatAgent {
            ready: Arc::clone(&self.ready),
            system: system.into(),
            schema: None,
            messages: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChatWarning {
    #[error("the key is sent unencrypted to {endpoint}; use https, or a server on this machine")]
    KeyInTheClear { endpoint: String },
}

/// One conversation over a chat API, which remembers nothing: all of it is sent with every turn.
#[derive(Debug)]
pub struct ChatAgent {
    ready: Arc<Ready>,
    system: String,
    schema: Option<Schema>,
    messages: Vec<Message>,
}

impl Agent for ChatAgent {
    fn name(&self) -> &str {
        self.ready.shape.name
    }

    fn ask(&mut self, turn: &Turn, limits: &Limits, cancel: &Cancel) -> Result<Answer, AgentError> {
        let (bytes, limit) = (turn.prompt.len(), limits.prompt_bytes);
        if bytes > limit {
            let cause = Cause::PromptTooLarge { bytes, limit };
            let way_out = "send less, or raise the limit";
            return Err(AgentError::new(self.name(), Phase::Preparing, cause, way_out));
        }
        self.messages.push(Message { content: turn.prompt.clone(), role: Role::User });
        let answered = self.answer(limits, cancel);
        match &answered {
            Ok(answer) => {
                let content = answer.text.clone();
                self.messages.push(Message { content, role: Role::Assistant });
            }
            Err(_) => {
                self.messages.pop();
            }
        }
        answered
    }
}

impl ChatAgent {
    /// Asks for answers of this form, if the provider was opened with [`ChatOptions::extras`].
    #[must_use]
    pub fn with_schema(mut self, schema: Option<Schema>) -> Self {
        self.schema = schema;
        self
    }

    fn answer(&self, limits: &Limits, cancel: &Cancel) -> Result<Answer, AgentError> {
        let ready = &self.ready;
        let start = Instant::now();
        let mut max_tokens = ready.max_tokens.or(ready.shape.max_tokens);
        let mut usage: Option<Usage> = None;
        let mut requests = 0;
        loop {
            let used = usage.map_or(0, |usage| usage.output_tokens);
            let left = limits.output_tokens.map(|most| most.saturating_sub(used));
            let left = left.map(|left| u32::try_from(left).unwrap_or(u32::MAX));
            let request = Request {
                model: &ready.model,
                system: &self.system,
                messages: &self.messages,
                // Only a limit that is there is lowered: models differ in the field that they accept.
                max_tokens: max_tokens.map(|most| left.map_or(most, |left| most.min(left).max(1))),
                is_deterministic: ready.extras.has_temperature(),
                schema: if ready.extras.has_schema() { self.schema.as_ref() } else { None },
            };
            let asked = extras::Asked::of(&request);
            let body = (ready.shape.body)(&request);
            let sent = send::Question { ready, body, limits, cancel, start };
            let (reply, sent_requests) = match send::send(&sent) {
                Ok(answered) => {
                    ready.extras.accept(asked);
                    answered
                }
                Err(error) if ready.extras.give_up(asked, &error) => {
                    requests += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            requests += sent_requests;
            if let Some(more) = reply.usage {
                *usage.get_or_insert_default() += more;
            }
            let longer =
                ready.shape.longer.filter(|&longer| max_tokens.is_some_and(|m| m < longer));
            // A longer answer would be cut off at the same place if that is what the turn has left.
            let has_room = left.is_none_or(|left| max_tokens.is_some_and(|most| most < left));
            if reply.stop == StopReason::MaxTokens && longer.is_some() && has_room {
                max_tokens = longer;
                continue;
            }
            let (text, stop, denied) = (reply.text, reply.stop, Vec::new());
            return Ok(Answer { text, stop, usage, denied, requests });
        }
    }
}
