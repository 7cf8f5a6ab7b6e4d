//! The command line of Codex, and its events.

use crate::{
    Usage,
    command::{
        CommandOptions,
        envelope::{Envelope, Said, count, json_lines, said_error, text},
    },
};

pub(crate) fn argv(options: &CommandOptions) -> Vec<String> {
    let mut argv: Vec<String> =
        ["codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "-s", "read-only"]
            .map(str::to_owned)
            .into();
    if let Some(model) = &options.model {
        argv.extend(["-m".to_owned(), model.clone()]);
    }
    // Reads the prompt from stdin.
    argv.push("-".to_owned());
    argv
}

/// Events, one a line; the last message is the answer.
pub(crate) fn read(stdout: &str) -> Said {
    let (mut answer, mut usage, mut failed) = (None, None, None);
    for event in json_lines(stdout) {
        match text(&event, "/type") {
            Some("item.completed") if text(&event, "/item/type") == Some("agent_message") => {
                answer = text(&event, "/item/text").map(str::to_owned);
            }
            Some("turn.completed") => {
                failed = None;
                usage = event.get("usage").map(|usage| Usage {
                    input_tokens: count(usage, "/input_tokens"),
                    output_tokens: count(usage, "/output_tokens"),
                    cached_input_tokens: count(usage, "/cached_input_tokens"),
                    cost: None,
                });
            }
            // A connection that is tried again is reported as an error too, before the turn ends.
            Some("turn.failed" | "error") => {
                let places = ["/error/message", "/error", "/message"];
                let why = places.iter().find_map(|place| text(&event, place));
                failed = Some(why.unwrap_or("the turn failed").to_owned());
            }
            _ => {}
        }
    }
    match (failed, answer) {
        (Some(why), _) => said_error(&why),
        (None, Some(answer)) if !answer.trim().is_empty() => {
            Said::Answer(Envelope::new(answer, usage))
        }
        (None, _) => Said::Nothing,
    }
}
