//! One question over HTTP: asked again where that may help, and given up in time.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};

use probity_text::one_line;
use serde_json::Value;

use crate::{
    AgentError, Cancel, Cause, Limits, Phase,
    bounded::{EXCERPT_CHARS, scrub},
    chat::{
        Ready,
        http::Failure,
        retry::is_passing,
        shape::{Reply, Unreadable},
    },
};

pub(crate) struct Question<'a> {
    pub(crate) ready: &'a Ready,
    pub(crate) body: Vec<u8>,
    pub(crate) limits: &'a Limits,
    pub(crate) cancel: &'a Cancel,
    /// When the turn began, which may be before this question did.
    pub(crate) start: Instant,
}

/// The reply, and how many requests it took.
pub(crate) fn send(question: &Question<'_>) -> Result<(Reply, u32), AgentError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            let cause = Cause::Connection(format!("cannot prepare to wait: {error}"));
            question.error(Phase::Preparing, cause, "free some files or memory, and try again")
        })?;
    let result = runtime.block_on(question.send());
    // A name that is still being looked up would hold a plain drop until the resolver gives up.
    runtime.shutdown_background();
    result
}

impl Question<'_> {
    async fn send(&self) -> Result<(Reply, u32), AgentError> {
        let mut requests = 0;
        loop {
            requests += 1;
            let (error, asked) = match self.attempt(requests).await? {
                Attempt::Reply(reply) => return Ok((reply, requests)),
                Attempt::Passing { error, asked } => (error, asked),
            };
            let retry = &self.ready.retry;
            if requests >= retry.requests {
                return Err(error);
            }
            let wait = asked.unwrap_or_else(|| retry.wait(requests));
            if asked.is_some_and(|asked| asked > retry.longest_asked) || wait >= self.rest() {
                let way_out = match asked {
                    Some(asked) => format!("the provider asks to wait {} s first", asked.as_secs()),
                    None => format!("{}; or allow more time", error.way_out),
                };
                return Err(AgentError { way_out: way_out.into(), ..error });
            }
            self.until(tokio::time::sleep(wait)).await?;
        }
    }

    async fn attempt(&self, requests: u32) -> Result<Attempt, AgentError> {
        let (ready, limits) = (self.ready, self.limits);
        let time = limits.attempt.min(self.rest());
        // JSON may write one byte as six, and thoughts come beside the text.
        let most = limits.answer_bytes.saturating_mul(6).saturating_add(256 << 10);
        let headers = (ready.shape.headers)(ready.key.as_ref());
        let post = ready.http.post(headers, self.body.clone(), most);
        let outcome = self.until(tokio::time::timeout(time, post)).await?;
        let times = if requests == 1 { "once".to_owned() } else { format!("{requests} times") };
        let bytes = match outcome {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(failure)) => return self.failed(failure, &times),
            Err(_) if self.rest().is_zero() => {
                let way_out = "allow more time, or use a faster model";
                return Err(self.error(Phase::Asking, Cause::TimedOut(limits.total), way_out));
            }
            Err(_) => {
                let way_out = format!("asked {times}; allow more time, or use a faster model");
                let error = self.error(Phase::Asking, Cause::TimedOut(time), way_out);
                return Ok(Attempt::Passing { error, asked: None });
            }
        };
        self.read(&bytes, &times)
    }

    fn read(&self, bytes: &[u8], times: &str) -> Result<Attempt, AgentError> {
        let limit = self.limits.answer_bytes;
        let shape = self.ready.shape;
        let unreadable = match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => match (shape.reply)(&value) {
                Ok(reply) if reply.text.len() > limit => {
                    return Err(self.too_large());
                }
                Ok(reply) => return Ok(Attempt::Reply(reply)),
                Err(unreadable) => unreadable,
            },
            Err(_) => Unreadable::Unexpected,
        };
        let said = || self.fit(&String::from_utf8_lossy(bytes.get(..1 << 10).unwrap_or(bytes)));
        let reading = Phase::ReadingAnswer;
        match unreadable {
            Unreadable::Unexpected => {
                let what = "this is not an answer of a chat API".to_owned();
                let way_out = format!("check that {} is the right endpoint", self.shown());
                Err(self.error(reading, Cause::Unusable { what, said: said() }, way_out))
            }
            Unreadable::Empty => {
                let what = "the answer is empty".to_owned();
                let way_out = format!("asked {times}; try another model");
                let error = self.error(reading, Cause::Unusable { what, said: said() }, way_out);
                Ok(Attempt::Passing { error, asked: None })
            }
            Unreadable::Refused(why) => {
                let cause = Cause::Refused(self.fit(&why));
                Err(self.error(reading, cause, "change the question, or use another model"))
            }
        }
    }

    fn failed(&self, failure: Failure, times: &str) -> Result<Attempt, AgentError> {
        match failure {
            Failure::TooLarge => Err(self.too_large()),
            Failure::Untrusted(why) => {
                let way_out = "a private certificate authority is named by SSL_CERT_FILE";
                Err(self.error(Phase::Asking, Cause::Connection(self.fit(&why)), way_out))
            }
            Failure::Broken(why) => {
                let cause = Cause::Connection(self.fit(&why));
                let way_out = format!("asked {times}; check that {} can be reached", self.shown());
                let error = self.error(Phase::Asking, cause, way_out);
                Ok(Attempt::Passing { error, asked: None })
            }
            Failure::Status { status, said, asked } => {
                let way_out = self.way_out(status, times);
                let cause = Cause::Status { status, said: self.fit(&said) };
                let error = self.error(Phase::Asking, cause, way_out);
                if is_passing(status) { Ok(Attempt::Passing { error, asked }) } else { Err(error) }
            }
        }
    }

    fn way_out(&self, status: u16, times: &str) -> String {
        match status {
            300..=399 => {
                "redirects are not followed, or the key would go along; give the final address"
                    .to_owned()
            }
            401 | 403 => match &self.ready.key {
                Some(key) => format!("check the key in {}", key.origin()),
                None => "this server wants a key".to_owned(),
            },
            404 => (self.ready.shape.unknown_model)(&self.ready.model),
            429 => format!("asked {times}; wait a while, or ask for a higher limit"),
            500..=599 => {
                format!("asked {times}; the provider reports an internal error; try again later")
            }
            _ => format!("check the model and the endpoint {}", self.shown()),
        }
    }

    fn too_large(&self) -> AgentError {
        let cause = Cause::AnswerTooLarge { limit: self.limits.answer_bytes };
        self.error(Phase::ReadingAnswer, cause, "ask for less, or set a limit of tokens")
    }

    fn error(&self, phase: Phase, cause: Cause, way_out: impl Into<String>) -> AgentError {
        AgentError::new(self.ready.shape.name, phase, cause, way_out)
    }

    /// A text of the other side, short and without our key, which some servers echo.
    fn fit(&self, said: &str) -> String {
        let key = self.ready.key.as_ref();
        one_line(
            &key.map_or_else(|| said.to_owned(), |key| scrub(said, key.expose())),
            EXCERPT_CHARS,
        )
    }

    fn shown(&self) -> String {
        self.ready.http.shown()
    }

    fn rest(&self) -> Duration {
        self.limits.total.saturating_sub(self.start.elapsed())
    }

    /// Waits for something, unless the user calls it off.
    async fn until<T>(&self, future: impl Future<Output = T>) -> Result<T, AgentError> {
        let mut future = pin!(future);
        let mut cancelled = pin!(self.cancel.cancelled());
        poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready() {
                let way_out = "nothing was changed; run it again when you like";
                return Poll::Ready(Err(self.error(Phase::Asking, Cause::Cancelled, way_out)));
            }
            future.as_mut().poll(context).map(Ok)
        })
        .await
    }
}

enum Attempt {
    Reply(Reply),
    /// A failure that another request may not meet.
    Passing {
        error: AgentError,
        asked: Option<Duration>,
    },
}
