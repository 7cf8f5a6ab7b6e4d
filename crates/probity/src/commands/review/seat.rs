//! Where the reviewing agent sits, and where the tests run.

use std::path::Path;

use anyhow::Context as _;
use probity_agent::{
    Agent, AgentError, AgentRef, Answer, Cancel, CommandOptions, Limits, StopReason, Turn,
};
use probity_review::{Unopened, answer_schema, parse_findings};
use probity_scope::read_text;
use probity_seat::{Caller, NamedBy, Occupant, Request, Seats, Terms};

use super::settings::{Settings, Variables};
use crate::{failure::Failure, seats::seats};

/// More than any agent says.
const MOST_BYTES: u64 = 64 << 20;

/// Who is asked, and what holds it and the tests.
pub(super) struct ReviewSeat {
    reference: AgentRef,
    seats: Seats,
    terms: Terms,
    /// What is between the agent and the user's files, or why it has no seat.
    isolation: String,
}

impl ReviewSeat {
    pub(super) fn find(settings: &Settings) -> anyhow::Result<Self> {
        let way_out = "`probity agent list` names the agents that are known";
        let reference = AgentRef::parse(&settings.agent)
            .with_context(|| Failure::new("there is no such agent", way_out))?;
        let (seats, terms) = seats(Caller::Review)?;
        let mut place = Self { reference, seats, terms, isolation: String::new() };
        // Why it cannot be placed is told by the review itself.
        place.isolation = match place.seats.preview(&place.request(Path::new("/"), settings)) {
            Ok(contained) => contained.to_string(),
            Err(_) => "nothing: the agent was not started".to_owned(),
        };
        Ok(place)
    }

    pub(super) fn agent_name(&self) -> String {
        self.reference.label()
    }

    pub(super) fn isolation(&self) -> &str {
        &self.isolation
    }

    /// A conversation with the agent, whose working directory is the copy.
    pub(super) fn open(
        &self,
        copy: &Path,
        settings: &Settings,
    ) -> Result<Box<dyn Agent>, Unopened> {
        if let AgentRef::Replay(file) = &self.reference
            && let Some(text) = findings_in(file)
        {
            return Ok(Box::new(Answered { name: self.agent_name(), text }));
        }
        let command = CommandOptions {
            system: String::new(),
            model: settings.model.clone(),
            schema: Some(answer_schema()),
            budget: settings.budget,
        };
        let seated = self.seats.seat(&self.request(copy, settings)).map_err(|unseated| {
            Unopened { message: unseated.to_string(), help: unseated.way_out() }
        })?;
        Ok(seated.open(command, None)?)
    }

    fn request<'a>(&'a self, copy: &'a Path, settings: &'a Settings) -> Request<'a> {
        let (caller, named) = match &settings.variables {
            Variables::Named(names) => (Caller::Review, names.as_slice()),
            Variables::OfTheAgent => (Caller::Step, &[][..]),
        };
        Request {
            caller,
            occupant: Occupant::Agent(&self.reference),
            named_by: NamedBy::User,
            form: None,
            sandbox: settings.sandbox,
            directory: copy,
            directories: &[],
            variables: named,
            terms: &self.terms,
        }
    }
}

/// An answer that is there already, and what it is asked does not matter.
struct Answered {
    name: String,
    text: String,
}

impl Agent for Answered {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, _: &Turn, _: &Limits, _: &Cancel) -> Result<Answer, AgentError> {
        let (text, stop) = (self.text.clone(), StopReason::EndTurn);
        Ok(Answer { text, stop, usage: None, denied: Vec::new(), requests: 0 })
    }
}

/// The text of a file that is one list of findings, bare or in an envelope. A recording has a line
/// for each message, and is none.
fn findings_in(file: &Path) -> Option<String> {
    let text = read_text(file, MOST_BYTES).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(&text).ok()?;
    parse_findings(&text).ok().map(|_| text)
}
