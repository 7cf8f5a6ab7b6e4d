//! Answers to what an agent asks for: no.

use serde_json::{Value, json};

use super::wire::{response_error, response_result, shorten};
use crate::envelope::Id;

/// Something the agent asked for and did not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The method it called, such as `session/request_permission`.
    pub method: String,
    /// What it wanted with it, as far as that can be said in a line: a tool's title, a path, a
    /// command.
    pub what: String,
}

/// The answer to a request of the agent, and what to note of it.
///
/// Permission is refused with an option of the agent's own where it offers one, so that it can go on
/// with its turn; while a turn is being cancelled the protocol wants the answer `cancelled`.
pub(super) fn answer(
    id: &Id<'_>,
    method: &str,
    params: Option<&str>,
    cancelling: bool,
) -> (String, Denied) {
    let params: Value =
        params.and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default();
    let denied = Denied { method: shorten(method), what: shorten(&wanted(method, &params)) };
    let reply = if method == "session/request_permission" {
        let outcome = match reject_option(&params) {
            Some(option) if !cancelling => json!({"outcome": "selected", "optionId": option}),
            _ => json!({"outcome": "cancelled"}),
        };
        response_result(id, &json!({"outcome": outcome}))
    } else if method.starts_with("fs/") {
        response_error(id, METHOD_NOT_FOUND, "filesystem is disabled")
    } else if method.starts_with("terminal/") {
        response_error(id, METHOD_NOT_FOUND, "terminal is disabled")
    } else {
        response_error(id, METHOD_NOT_FOUND, &format!("method not found: {}", denied.method))
    };
    (reply, denied)
}

const METHOD_NOT_FOUND: i64 = -32601;

fn reject_option(params: &Value) -> Option<&Value> {
    let options = params.get("options")?.as_array()?;
    ["reject_once", "reject_always"].iter().find_map(|kind| {
        options
            .iter()
            .find(|option| option.get("kind").is_some_and(|value| value == kind))?
            .get("optionId")
    })
}

fn wanted(method: &str, params: &Value) -> String {
    let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
    match method {
        "session/request_permission" => {
            ["/toolCall/title", "/toolCall/kind", "/toolCall/toolCallId"]
                .into_iter()
                .find_map(text)
                .unwrap_or_default()
                .to_owned()
        }
        "terminal/create" => {
            let arguments = params.get("args").and_then(Value::as_array).into_iter().flatten();
            text("/command")
                .into_iter()
                .chain(arguments.filter_map(Value::as_str))
                .collect::<Vec<_>>()
                .join(" ")
        }
        _ => text("/path").unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Denied, Id, answer, json};

    #[test]
    fn a_reject_option_is_taken_where_there_is_one() {
        let ask = |options: &str, cancelling| {
            let params = format!(r#"{{"toolCall":{{"title":"rm -rf"}},"options":{options}}}"#);
            let id = Id::string("q");
            let (reply, denied) =
                answer(&id, "session/request_permission", Some(&params), cancelling);
            let method = "session/request_permission".to_owned();
            assert_eq!(denied, Denied { method, what: "rm -rf".to_owned() });
            let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
            assert_eq!(reply["id"], "q");
            reply["result"]["outcome"].clone()
        };
        let both = r#"[{"optionId":"y","kind":"allow_once"},{"optionId":"N","kind":"reject_always"},{"optionId":"n","kind":"reject_once"}]"#;
        let selected = |option| json!({"outcome": "selected", "optionId": option});
        let cancelled = json!({"outcome": "cancelled"});
        assert_eq!(ask(both, false), selected("n"));
        assert_eq!(ask(both, true), cancelled);
        assert_eq!(ask(r#"[{"optionId":"N","kind":"reject_always"}]"#, false), selected("N"));
        assert_eq!(ask(r#"[{"optionId":"y","kind":"allow_once"}]"#, false), cancelled);
        assert_eq!(ask("7", false), cancelled);
    }

    #[test]
    fn every_other_request_gets_an_error_and_is_noted() {
        for (method, params, message, what) in [
            (
                "fs/read_text_file",
                r#"{"path":"/etc/passwd"}"#,
                "filesystem is disabled",
                "/etc/passwd",
            ),
            ("fs/write_text_file", r#"{"path":"/x"}"#, "filesystem is disabled", "/x"),
            (
                "terminal/create",
                r#"{"command":"rm","args":["-rf","/"]}"#,
                "terminal is disabled",
                "rm -rf /",
            ),
            ("fs/read_text_file", r#"{"path":"/a\u001b[2K\n"}"#, "filesystem is disabled", "/a"),
            ("terminal/output", "null", "terminal is disabled", ""),
            ("craft/drain", "[]", "method not found: craft/drain", ""),
        ] {
            let (reply, denied) = answer(&Id::from(3), method, Some(params), false);
            let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
            assert_eq!((&reply["id"], &reply["error"]["code"]), (&3.into(), &(-32601).into()));
            assert_eq!(reply["error"]["message"], message);
            assert_eq!(denied, Denied { method: method.to_owned(), what: what.to_owned() });
        }
    }
}
