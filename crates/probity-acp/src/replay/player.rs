//! Playing a script.

mod pipes;

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::script::{Action, Exchange, Script, Step};
use super::template::Template;
use super::{HostAction, ReplayEnd, ReplayError};
use crate::envelope::Id;
use crate::frame::FrameReader;
use pipes::{comparable, update_line};

pub(super) struct Player<'h, R, W> {
    input: FrameReader<R>,
    /// `None` once the script has closed it.
    output: Option<W>,
    host: &'h mut dyn FnMut(&HostAction) -> io::Result<()>,
    /// What the client sent and nobody has asked for yet.
    inbox: VecDeque<Received>,
    /// Recorded ids of requests, and the ids with which they were really asked.
    ids: HashMap<Id<'static>, Id<'static>>,
    asked: u64,
    sessions: u64,
}

/// Why playing stops. There is always a reason, so that playing itself gives nothing.
pub(super) enum Stop {
    ReplayEnd(ReplayEnd),
    Failed(ReplayError),
}

impl Stop {
    pub(super) fn into_result(self) -> Result<ReplayEnd, ReplayError> {
        match self {
            Self::ReplayEnd(ended) => Ok(ended),
            Self::Failed(error) => Err(error),
        }
    }
}

enum Received {
    Request(Request),
    Notification(String),
    Response(Id<'static>),
}

struct Request {
    id: Id<'static>,
    method: String,
    params: Value,
}

/// The request that an exchange answers.
struct Current<'a> {
    id: Option<&'a Id<'static>>,
    template: Template,
    in_order: bool,
}

impl<'h, R: Read, W: Write> Player<'h, R, W> {
    pub(super) fn new(
        input: R,
        output: W,
        host: &'h mut dyn FnMut(&HostAction) -> io::Result<()>,
    ) -> Self {
        Self {
            input: FrameReader::new(input),
            output: Some(output),
            host,
            inbox: VecDeque::new(),
            ids: HashMap::new(),
            asked: 0,
            sessions: 0,
        }
    }

    pub(super) fn play_in_order(&mut self, script: &Script) -> Result<Infallible, Stop> {
        self.play_prelude(script, true)?;
        for exchange in &script.exchanges {
            let request = self.next_request()?;
            let fits = request.method == exchange.method
                && exchange.params.as_ref().is_none_or(|recorded| {
                    comparable(recorded.clone()) == comparable(request.params.clone())
                });
            if !fits {
                return Err(self.mismatch(exchange, &request));
            }
            self.play_exchange(exchange, &request, true)?;
        }
        let request = self.next_request()?;
        self.refuse(&request)?;
        let (expected, got) = ("nothing more".to_owned(), request.method);
        let line = script.exchanges.last().map_or(0, |exchange| exchange.line);
        Err(Stop::Failed(ReplayError::Mismatch { line, expected, got }))
    }

    pub(super) fn play_by_method(&mut self, script: &Script) -> Result<Infallible, Stop> {
        self.play_prelude(script, false)?;
        let mut played = vec![false; script.exchanges.len()];
        loop {
            let request = self.next_request()?;
            let next = script
                .exchanges
                .iter()
                .zip(&mut played)
                .find(|(exchange, played)| !**played && exchange.method == request.method);
            match next {
                Some((exchange, played)) => {
                    *played = true;
                    self.play_exchange(exchange, &request, false)?;
                }
                None => self.answer_unscripted(&request)?,
            }
        }
    }

    fn play_prelude(&mut self, script: &Script, in_order: bool) -> Result<(), Stop> {
        let current = Current { id: None, template: Template::default(), in_order };
        script.prelude.iter().try_for_each(|step| self.play(step, &current))
    }

    fn play_exchange(
        &mut self,
        exchange: &Exchange,
        request: &Request,
        in_order: bool,
    ) -> Result<(), Stop> {
        if let Some(recorded) = &exchange.recorded_id {
            self.ids.insert(recorded.clone(), request.id.clone());
        }
        let template = Template::of(&request.params, &exchange.captures);
        let current = Current { id: Some(&request.id), template, in_order };
        exchange.steps.iter().try_for_each(|step| self.play(step, &current))
    }

    fn play(&mut self, step: &Step, current: &Current<'_>) -> Result<(), Stop> {
        let template = &current.template;
        match &step.action {
            Action::Send(frame) => self.send_recorded(frame),
            Action::AwaitAnswer(id) => self.await_answer(id),
            Action::AwaitRecorded(method) if current.in_order => self.await_notification(method),
            Action::AwaitRecorded(_) => Ok(()),
            Action::Await(method) => self.await_notification(method),
            Action::Answer { outcome: (key, value), times, id_as_string } => {
                let Some(id) = current.id else { return Ok(()) };
                let id = if *id_as_string { Id::string(id.raw()) } else { id.clone() };
                let value = template.fill_value(value);
                let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"{key}":{value}}}"#);
                (0..*times).try_for_each(|_| self.write_line(&line))
            }
            Action::Say { text, session, times } => {
                let content = json!({"type": "text", "text": template.fill(text)});
                let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
                let line = update_line(&update, session.as_deref(), template);
                (0..*times).try_for_each(|_| self.write_line(&line))
            }
            Action::Update { update, session } => {
                let update = template.fill_value(update);
                self.write_line(&update_line(&update, session.as_deref(), template))
            }
            Action::Ask { method, params, id } => {
                self.asked += 1;
                let id = id.clone().unwrap_or_else(|| format!("ask-{}", self.asked).into());
                let params = template.fill_value(params);
                let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
                self.write_line(&line.to_string())?;
                self.await_answer(&Id::from_raw(&id.to_string()).into_owned())
            }
            Action::Noise(text) => self.write_line(&template.fill(text)),
            Action::Half(text) => self.write(template.fill(text).as_bytes()),
            Action::Flood(bytes) => self.flood(*bytes),
            Action::Sleep(milliseconds) => {
                thread::sleep(Duration::from_millis(*milliseconds));
                Ok(())
            }
            Action::Hang { deaf: false } => loop {
                self.inbox.clear();
                self.receive()?;
            },
            Action::Hang { deaf: true } => loop {
                thread::park();
            },
            Action::CloseOutput => {
                self.output = None;
                Ok(())
            }
            Action::Exit(code) => Err(Stop::ReplayEnd(ReplayEnd::Exit(*code))),
            Action::Host(action) => (self.host)(action)
                .map_err(|source| Stop::Failed(ReplayError::Host { line: step.line, source })),
        }
    }
}
