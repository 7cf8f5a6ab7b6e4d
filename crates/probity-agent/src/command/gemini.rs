//! The command line of Gemini, and its envelope.

use serde_json::Value;

use crate::{
    Usage,
    command::{
        CommandOptions,
        envelope::{Envelope, Said, count, json_object, said_error, text},
    },
};

pub(crate) fn argv(options: &CommandOptions) -> Vec<String> {
    let mut argv: Vec<String> =
        ["gemini", "-o", "json", "--approval-mode", "plan"].map(str::to_owned).into();
    if let Some(model) = &options.model {
        argv.extend(["-m".to_owned(), model.clone()]);
    }
    argv
}

pub(crate) fn read(stdout: &str) -> Said {
    let Some(envelope) = json_object(stdout) else { return Said::Nothing };
    if let Some(why) = text(&envelope, "/error/message") {
        return said_error(why);
    }
    // An answer of another program may have a `response` too; the figures are what tells them.
    match (text(&envelope, "/response"), envelope.get("stats")) {
        (Some(answer), Some(stats)) if !answer.trim().is_empty() => {
            Said::Answer(Envelope::new(answer, Some(usage(stats))))
        }
        _ => Said::Nothing,
    }
}

/// Several models may have worked on one answer.
fn usage(stats: &Value) -> Usage {
    let mut sum = Usage::default();
    for model in stats.get("models").and_then(Value::as_object).into_iter().flat_map(|m| m.values())
    {
        sum += Usage {
            input_tokens: count(model, "/tokens/prompt"),
            output_tokens: count(model, "/tokens/candidates")
                .saturating_add(count(model, "/tokens/thoughts")),
            cached_input_tokens: count(model, "/tokens/cached"),
            cost: None,
        };
    }
    sum
}
