//! Parts of a request that not every endpoint knows: they are left out once one rejects them.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{OnRefused, shape::Request};
use crate::{AgentError, Cause};

/// A part that an endpoint rejected, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub part: Part,
    /// The status and the words of the endpoint.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Schema,
    Temperature,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            Part::Schema => "structured output",
            Part::Temperature => "temperature 0",
        };
        write!(formatter, "the endpoint rejects {part}; probity continues without it: {}", self.why)
    }
}

/// Which parts are still sent; shared by all conversations of a run.
#[derive(Debug)]
pub(crate) struct Extras {
    on_refused: Option<OnRefused>,
    schema: AtomicBool,
    temperature: AtomicBool,
    /// Whether a request with all parts that are still sent was answered.
    accepted: AtomicBool,
}

/// The parts that one request had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    schema: bool,
    temperature: bool,
}

impl Asked {
    pub(crate) fn of(request: &Request<'_>) -> Self {
        Self { schema: request.schema.is_some(), temperature: request.is_deterministic }
    }
}

impl Extras {
    pub(crate) fn new(on_refused: Option<OnRefused>) -> Self {
        let (schema, temperature) = (on_refused.is_some().into(), on_refused.is_some().into());
        Self { on_refused, schema, temperature, accepted: false.into() }
    }

    pub(crate) fn has_schema(&self) -> bool {
        self.schema.load(Ordering::Relaxed)
    }

    pub(crate) fn has_temperature(&self) -> bool {
        self.temperature.load(Ordering::Relaxed)
    }

    /// An endpoint that answered once rejects later requests for other reasons.
    pub(crate) fn accept(&self, asked: Asked) {
        if asked.schema || asked.temperature {
            self.accepted.store(true, Ordering::Relaxed);
        }
    }

    /// Leaves out the part that this error is about. False if the request had none, or if the error
    /// is not one that a shorter request avoids.
    ///
    /// Models that accept one temperature only name it in their error; every other rejection is
    /// first taken to be about the schema, which more endpoints lack.
    pub(crate) fn give_up(&self, asked: Asked, error: &AgentError) -> bool {
        let Cause::Status { status: status @ (400 | 422), said } = &error.cause else {
            return false;
        };
        if self.accepted.load(Ordering::Relaxed) {
            return false;
        }
        let names_temperature = said.to_lowercase().contains("temperature");
        let (part, switch) = match asked {
            Asked { temperature: true, .. } if names_temperature => {
                (Part::Temperature, &self.temperature)
            }
            Asked { schema: true, .. } => (Part::Schema, &self.schema),
            Asked { temperature: true, .. } => (Part::Temperature, &self.temperature),
            Asked { .. } => return false,
        };
        // Of several conversations that learn it at the same time, one reports it.
        if switch.swap(false, Ordering::Relaxed)
            && let Some(report) = self.on_refused
        {
            report(Refused { part, why: format!("status {status}, {said}") });
        }
        true
    }
}
