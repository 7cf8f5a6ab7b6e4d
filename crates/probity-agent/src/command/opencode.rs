//! The command line of opencode, and its events.

use serde_json::Value;

use crate::{
    Usage,
    command::{
        CommandOptions,
        envelope::{Envelope, Said, count, json_lines, said_error, text},
    },
};

pub(crate) fn argv(options: &CommandOptions) -> Vec<String> {
    let mut argv: Vec<String> = ["opencode", "run", "--format", "json"].map(str::to_owned).into();
    if let Some(model) = &options.model {
        argv.extend(["-m".to_owned(), model.clone()]);
    }
    argv
}

/// Events, one a line; the texts of the last step are the answer.
pub(crate) fn read(stdout: &str) -> Said {
    let mut answer = String::new();
    let mut usage: Option<Usage> = None;
    for event in json_lines(stdout) {
        match text(&event, "/type") {
            Some("step_start") => answer.clear(),
            Some("text") => answer.push_str(text(&event, "/part/text").unwrap_or_default()),
            Some("step_finish") => {
                if let Some(part) = event.get("part") {
                    *usage.get_or_insert_default() += step(part);
                }
            }
            Some("error") => {
                let places = ["/error/data/message", "/error/message", "/error/name", "/error"];
                let why = places.iter().find_map(|place| text(&event, place));
                return said_error(why.unwrap_or("the turn failed"));
            }
            _ => {}
        }
    }
    if answer.trim().is_empty() {
        return Said::Nothing;
    }
    Said::Answer(Envelope::new(answer, usage))
}

fn step(part: &Value) -> Usage {
    let cached = count(part, "/tokens/cache/read");
    Usage {
        input_tokens: count(part, "/tokens/input")
            .saturating_add(cached)
            .saturating_add(count(part, "/tokens/cache/write")),
        output_tokens: count(part, "/tokens/output")
            .saturating_add(count(part, "/tokens/reasoning")),
        cached_input_tokens: cached,
        cost: part.get("cost").and_then(Value::as_f64),
    }
}
