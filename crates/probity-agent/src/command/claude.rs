//! The command line of Claude Code, and its envelope.

use serde_json::Value;

use crate::{
    Usage,
    command::{
        CommandOptions,
        envelope::{Envelope, Said, count, denied, json_lines, said_error, text},
    },
};

pub(crate) fn argv(options: &CommandOptions) -> Vec<String> {
    let mut argv: Vec<String> =
        ["claude", "-p", "--output-format", "json", "--no-session-persistence"]
            .map(str::to_owned)
            .into();
    // Settings and servers of the directory it runs in would run what a stranger wrote there.
    argv.extend(["--strict-mcp-config", "--setting-sources", "user"].map(str::to_owned));
    let mut flag = |name: &str, value: Option<String>| {
        argv.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    flag("--model", options.model.clone());
    flag("--json-schema", options.schema.as_ref().map(Value::to_string));
    flag("--max-budget-usd", options.budget.map(|budget| budget.to_string()));
    argv
}

/// The envelope is the last line of its kind: a stream of events ends with the same one.
pub(crate) fn read(stdout: &str) -> Said {
    let Some(envelope) = json_lines(stdout).rfind(|value| text(value, "/type") == Some("result"))
    else {
        return Said::Nothing;
    };
    let result = text(&envelope, "/result").unwrap_or_default();
    let subtype = text(&envelope, "/subtype").unwrap_or_default();
    // A failed login is an error of the subtype "success".
    if envelope.get("is_error") == Some(&Value::Bool(true)) || subtype.starts_with("error") {
        let why = if result.is_empty() { subtype } else { result };
        return said_error(why);
    }
    let structured = envelope.get("structured_output").filter(|value| !value.is_null());
    let answer = structured.map_or_else(|| result.to_owned(), Value::to_string);
    if answer.trim().is_empty() {
        return Said::Nothing;
    }
    let denials = envelope.get("permission_denials").and_then(Value::as_array);
    let denied = denied(denials.into_iter().flatten().map(|denial| {
        let tool = text(denial, "/tool_name").unwrap_or("a tool");
        (tool, denial.get("tool_input").unwrap_or(&Value::Null))
    }));
    Said::Answer(Envelope { denied, ..Envelope::new(answer, usage(&envelope)) })
}

fn usage(envelope: &Value) -> Option<Usage> {
    let usage = envelope.get("usage")?;
    let cached = count(usage, "/cache_read_input_tokens");
    let written = count(usage, "/cache_creation_input_tokens");
    Some(Usage {
        input_tokens: count(usage, "/input_tokens").saturating_add(cached).saturating_add(written),
        output_tokens: count(usage, "/output_tokens"),
        cached_input_tokens: cached,
        cost: envelope.get("total_cost_usd").and_then(Value::as_f64),
    })
}
