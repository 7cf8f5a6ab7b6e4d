//! What a request asks of the model, whichever provider's wire it came on, and what the model does.

use serde_json::{Value, json};

use super::{Reply, dockerfile, reversed};

#[derive(Debug, Default)]
pub(super) struct Question {
    /// What the user said, oldest first, as the agent put it.
    pub(super) said: Vec<String>,
    /// What the last tool call brought, if nothing was said since.
    pub(super) result: Option<String>,
    /// The tools that the agent offers.
    pub(super) tools: Vec<String>,
    /// Whether a tool called `shell` takes the words of a command, and not its text.
    pub(super) shell_takes_words: bool,
}

/// The names that agents give to their shell.
const SHELLS: &[&str] = &["Bash", "bash", "run_shell_command", "shell", "exec_command"];

const LONGEST_RESULT: usize = 400;

impl Question {
    pub(super) fn reply(&self) -> Reply {
        if let Some(result) = &self.result {
            let head: String = result.chars().take(LONGEST_RESULT).collect();
            return Reply::Say(vec!["the tool said: ".to_owned(), head]);
        }
        let said = self.said.join("\n");
        if let Some(patch) = dockerfile::patch(&said) {
            return Reply::Say(vec![patch]);
        }
        if said.contains("Skill ID: ") {
            return Reply::Say(vec![audit(&said)]);
        }
        let last = ["reverse(", "run(", "wait("]
            .into_iter()
            .filter_map(|word| Some((said.rfind(word)?, word)))
            .max();
        let Some((at, word)) = last else { return Reply::Say(vec!["nothing to do".to_owned()]) };
        let argument = said[at + word.len()..].split(')').next().unwrap_or_default();
        match word {
            "wait(" => Reply::Wait,
            "run(" => {
                match SHELLS.iter().find(|shell| self.tools.iter().any(|tool| tool == *shell)) {
                    Some(&shell) => {
                        Reply::Call { tool: shell.to_owned(), input: self.input(shell, argument) }
                    }
                    None => Reply::Say(vec![format!("there is no shell among {:?}", self.tools)]),
                }
            }
            _ => {
                // In pieces, as a model speaks.
                let text = reversed(said.matches("reverse(").count(), argument);
                let half = text.len() / 2;
                let (head, tail) = text.split_at_checked(half).unwrap_or((&text, ""));
                Reply::Say(vec![head.to_owned(), tail.to_owned()])
            }
        }
    }

    fn input(&self, shell: &str, command: &str) -> Value {
        match shell {
            "shell" if self.shell_takes_words => json!({"command": ["sh", "-c", command]}),
            "exec_command" => json!({"cmd": command}),
            _ => json!({"command": command, "description": "run a command"}),
        }
    }
}

/// The next action of an audit: a look at the first source, and then what is to be found in it.
fn audit(said: &str) -> String {
    let Some((_, output)) = said.split_once("<<<") else {
        let source = said.lines().find(|line| line.starts_with("- ") && line.ends_with(".ak"));
        let path = source.map_or("no source was named", |line| &line[2..]);
        return json!({"action": "read_file", "path": path}).to_string();
    };
    let quote = output.lines().find(|line| line.contains("expect ")).unwrap_or_default().trim();
    let finding = json!({"title": "Open datum", "evidence": [quote], "file": "v.ak", "line": 1});
    json!({"action": "final", "status": "completed", "findings": [finding]}).to_string()
}

/// The texts of a message whose content is a string, or a list of parts that may hold one.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str).map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// What stands in this list under this key, as text.
pub(super) fn names<'a>(list: impl IntoIterator<Item = &'a Value>, key: &str) -> Vec<String> {
    list.into_iter().filter_map(|item| Some(item.get(key)?.as_str()?.to_owned())).collect()
}

pub(super) fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
