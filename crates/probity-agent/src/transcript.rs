//! A conversation in one text, for an agent that has to be told all of it.

use crate::Turn;

#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    /// Comes before everything else.
    system: String,
    /// What was asked, and what was answered.
    turns: Vec<(String, String)>,
}

impl Transcript {
    pub(crate) fn new(system: String) -> Self {
        Self { system, turns: Vec::new() }
    }

    pub(crate) fn push(&mut self, turn: &Turn, answer: &str) {
        self.turns.push((turn.prompt.clone(), answer.to_owned()));
    }

    /// Everything so far, and one more question.
    pub(crate) fn with(&self, turn: &Turn) -> String {
        let mut text = self.system.clone();
        let mut part = |heading: &str, body: &str| {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            text.push_str(gap);
            text.push_str(heading);
            text.push_str(body);
        };
        for (asked, answered) in &self.turns {
            part("Earlier in this conversation you received:\n\n", asked);
            part("You answered:\n\n", answered);
        }
        part(if self.turns.is_empty() { "" } else { "Now:\n\n" }, &turn.prompt);
        text
    }
}
