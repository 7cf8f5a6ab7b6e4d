//! Agents that are asked on their command line: the prompt on stdin, the answer on stdout.
//!
//! Each turn is a process of its own. Such agents remember nothing, so that every turn is told all
//! that was said before.

mod claude;
mod codex;
mod envelope;
mod gemini;
mod opencode;

use std::time::Instant;

use probity_sandbox::Exit;
use probity_text::one_line;

use crate::{
    Agent, AgentError, Answer, Cancel, Cause, CommandLine, Limits, Phase, Seat, Turn,
    bounded::EXCERPT_CHARS,
    command::envelope::{Envelope, Said},
    process::{self, Finished},
    transcript::Transcript,
};

/// What is asked of an agent beside the question, where its command line has words for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandOptions {
    /// Comes before the first prompt.
    pub system: String,
    pub model: Option<String>,
    /// A JSON Schema that the answer has to fit.
    pub schema: Option<serde_json::Value>,
    /// The most that one turn may cost, in US dollars.
    pub budget: Option<f64>,
}

/// One conversation with an agent on its command line.
#[derive(Debug)]
pub struct CommandAgent {
    name: String,
    argv: Vec<String>,
    read: fn(&str) -> Said,
    seat: Seat,
    transcript: Transcript,
}

impl CommandAgent {
    /// An agent whose command line we know.
    #[must_use]
    pub fn known(name: &str, line: CommandLine, options: CommandOptions, seat: Seat) -> Self {
        let (argv, read): (_, fn(&str) -> Said) = match line {
            CommandLine::Claude => (claude::argv(&options), claude::read),
            CommandLine::Codex => (codex::argv(&options), codex::read),
            CommandLine::Gemini => (gemini::argv(&options), gemini::read),
            CommandLine::Opencode => (opencode::argv(&options), opencode::read),
        };
        let (name, transcript) = (name.to_owned(), Transcript::new(options.system));
        Self { name, argv, read, seat, transcript }
    }

    /// The same, started by this path.
    #[must_use]
    pub(crate) fn started_as(mut self, path: &str) -> Self {
        if let Some(program) = self.argv.first_mut() {
            path.clone_into(program);
        }
        self
    }

    /// Any command. `{model}` in an argument stands for the model.
    pub fn any(
        name: &str,
        argv: &[String],
        options: CommandOptions,
        seat: Seat,
    ) -> Result<Self, AgentError> {
        let model = options.model.as_deref();
        let argv: Option<Vec<String>> = argv
            .iter()
            .map(|word| match (word.contains("{model}"), model) {
                (true, Some(model)) => Some(word.replace("{model}", model)),
                (true, None) => None,
                (false, _) => Some(word.clone()),
            })
            .collect();
        let Some(argv) = argv else {
            let cause = Cause::BadOptions("the command has a `{model}`, and none is given".into());
            return Err(AgentError::new(name, Phase::Preparing, cause, "name a model"));
        };
        let (name, transcript) = (name.to_owned(), Transcript::new(options.system));
        Ok(Self { name, argv, read: envelope::read_any, seat, transcript })
    }

    fn error(&self, phase: Phase, cause: Cause, way_out: impl Into<String>) -> AgentError {
        AgentError::new(&self.name, phase, cause, way_out)
    }

    fn judge(&self, finished: &Finished, limits: &Limits) -> Result<Envelope, AgentError> {
        let asking = |cause, way_out: &str| Err(self.error(Phase::Asking, cause, way_out));
        if finished.cancelled {
            return asking(Cause::Cancelled, "nothing was changed; run it again when you like");
        }
        if finished.flooded {
            return Err(self.too_large(limits));
        }
        if finished.exit == Exit::Timeout {
            let cause = Cause::TimedOut(limits.total);
            return asking(cause, "allow more time, or ask for less");
        }
        let stdout = String::from_utf8_lossy(&finished.stdout);
        let fit = |text: &str| one_line(&self.seat.scrub(text), EXCERPT_CHARS);
        let said = match (self.read)(&stdout) {
            Said::Nothing => envelope::read_plain(&stdout),
            said => said,
        };
        match said {
            Said::Login(why) => {
                let way_out = format!("log in to {} once by hand, or pass its key", self.name);
                asking(Cause::NeedsLogin(fit(&why)), &way_out)
            }
            Said::Error(why) => {
                asking(Cause::Reported(fit(&why)), "see what the agent says about it")
            }
            // An answer that was followed by a failure may be half an answer.
            Said::Answer(_) | Said::Nothing if finished.exit != Exit::Code(0) => {
                let said = fit(last_line(&finished.stderr));
                let how = process::how(finished.exit);
                asking(Cause::Ended { how, said }, "run the command by hand to see more")
            }
            Said::Answer(envelope) if envelope.text.len() > limits.answer_bytes => {
                Err(self.too_large(limits))
            }
            Said::Answer(envelope) => Ok(envelope),
            Said::Nothing => {
                let what = "there is no answer in what the agent wrote".to_owned();
                let cause = Cause::Unusable { what, said: fit(&stdout) };
                Err(self.error(Phase::ReadingAnswer, cause, "run the command by hand to see more"))
            }
        }
    }

    fn too_large(&self, limits: &Limits) -> AgentError {
        let cause = Cause::AnswerTooLarge { limit: limits.answer_bytes };
        self.error(Phase::ReadingAnswer, cause, "ask for less")
    }
}

impl Agent for CommandAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, turn: &Turn, limits: &Limits, cancel: &Cancel) -> Result<Answer, AgentError> {
        let start = Instant::now();
        let prompt = self.transcript.with(turn);
        let (bytes, limit) = (prompt.len(), limits.prompt_bytes);
        if bytes > limit {
            let cause = Cause::PromptTooLarge { bytes, limit };
            return Err(self.error(Phase::Preparing, cause, "send less, or raise the limit"));
        }
        if cancel.is_cancelled() {
            let way_out = "nothing was started; run it again when you like";
            return Err(self.error(Phase::Preparing, Cause::Cancelled, way_out));
        }
        // JSON may write one byte as six, and events come beside the text.
        let most = limits.answer_bytes.saturating_mul(6).saturating_add(256 << 10);
        let time = limits.total.saturating_sub(start.elapsed());
        let finished = process::run(&self.seat, &self.argv, &prompt, time, most, cancel)
            .map_err(|error| process::not_started(&self.name, &self.argv, &error))?;
        let envelope = self
            .judge(&finished, limits)
            .map_err(|error| AgentError { stderr: finished.stderr.as_str().into(), ..error })?;
        self.transcript.push(turn, &envelope.text);
        let Envelope { text, stop, usage, denied } = envelope;
        Ok(Answer { text, stop, usage, denied, requests: 1 })
    }
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}
