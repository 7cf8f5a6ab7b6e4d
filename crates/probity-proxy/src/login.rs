//! Login methods of an agent: rebuilt before an editor sees them, and looked up for `--login`.
//!
//! For a login in a terminal an editor runs our own command on the host, with the arguments and
//! variables of the method. So nothing that an agent wrote may be among them: an editor gets texts
//! to show, an id, and arguments of ours. What the agent wants run is looked up again by that id,
//! and runs in the sandbox.

use serde_json::{Map, Value, json};

/// What may stand in a login method beside the texts of the agent.
#[derive(Clone, Debug, Default)]
pub struct Logins {
    /// The command that starts us for this agent, program first. Empty if nobody knows it.
    pub command: Vec<String>,
    /// Variables that the agent's row names: no other one may be asked of the user.
    pub variables: Vec<String>,
}

/// What an agent wants run for a login in a terminal. Hostile: for use inside the sandbox alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalLogin {
    /// `None` is the agent's own command.
    pub program: Option<String>,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
}

const MOST_METHODS: usize = 16;
const MOST_WORDS: usize = 64;
const LONGEST_ID: usize = 128;
const LONGEST_NAME: usize = 200;
const LONGEST_DESCRIPTION: usize = 2000;
const LONGEST_WORD: usize = 4096;

/// The key of an older way to offer a login in a terminal.
const TERMINAL_AUTH: &str = "terminal-auth";

impl Logins {
    /// The list that an editor may see, in the place of the agent's own.
    pub(crate) fn rebuilt(&self, methods: &Value) -> Value {
        let methods = methods.as_array().into_iter().flatten();
        methods.filter_map(|method| self.method(method)).take(MOST_METHODS).collect()
    }

    fn method(&self, method: &Value) -> Option<Value> {
        let id = method.get("id")?.as_str()?;
        if id.is_empty() || id.len() > LONGEST_ID || id.contains(char::is_control) {
            return None;
        }
        let name = text(method, "name", LONGEST_NAME).unwrap_or_else(|| id.to_owned());
        let mut rebuilt = Map::new();
        rebuilt.insert("id".to_owned(), id.into());
        rebuilt.insert("name".to_owned(), name.clone().into());
        if let Some(description) = text(method, "description", LONGEST_DESCRIPTION) {
            rebuilt.insert("description".to_owned(), description.into());
        }
        match kind(method)? {
            LoginKind::Agent => {
                let is_in_terminal = terminal_auth(method).is_some() && is_argument(id);
                if is_in_terminal && let Some((program, arguments)) = self.command.split_first() {
                    let arguments = arguments.iter().map(String::as_str).chain(["--login", id]);
                    let arguments: Vec<&str> = arguments.collect();
                    let ours =
                        json!({"label": name, "command": program, "args": arguments, "env": {}});
                    rebuilt.insert("_meta".to_owned(), json!({TERMINAL_AUTH: ours}));
                }
            }
            LoginKind::Terminal if !is_argument(id) => return None,
            LoginKind::Terminal => {
                rebuilt.insert("type".to_owned(), "terminal".into());
                rebuilt.insert("args".to_owned(), json!(["--login", id]));
            }
            LoginKind::Variables => {
                let variables = self.asked_for(method);
                if variables.is_empty() {
                    return None;
                }
                rebuilt.insert("type".to_owned(), "env_var".into());
                rebuilt.insert("vars".to_owned(), variables.into());
            }
        }
        Some(Value::Object(rebuilt))
    }

    fn asked_for(&self, method: &Value) -> Vec<Value> {
        let asked = method.get("vars").and_then(Value::as_array).into_iter().flatten();
        let known = asked.filter_map(|variable| {
            let name = variable.get("name")?.as_str()?;
            if !self.variables.iter().any(|known| known == name) {
                return None;
            }
            let mut rebuilt = json!({"name": name});
            for flag in ["secret", "optional"] {
                if let Some(set) = variable.get(flag).and_then(Value::as_bool) {
                    rebuilt[flag] = set.into();
                }
            }
            if let Some(label) = text(variable, "label", LONGEST_NAME) {
                rebuilt["label"] = label.into();
            }
            Some(rebuilt)
        });
        known.take(MOST_METHODS).collect()
    }
}

/// The login in a terminal that an agent offers under this id in its answer to `initialize`.
#[must_use]
pub fn terminal_login(answer: &str, id: &str) -> Option<TerminalLogin> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let mut methods = answer.get("authMethods")?.as_array()?.iter();
    let method = methods.find(|method| method.get("id").and_then(Value::as_str) == Some(id))?;
    let (program, source) = match (kind(method)?, terminal_auth(method)) {
        (LoginKind::Terminal, _) => (None, method),
        (LoginKind::Agent, Some(older)) => {
            (Some(older.get("command")?.as_str()?.to_owned()), older)
        }
        (LoginKind::Agent, None) | (LoginKind::Variables, _) => return None,
    };
    let arguments = source.get("args").and_then(Value::as_array).into_iter().flatten();
    let arguments = arguments.take(MOST_WORDS).map(|word| word.as_str().and_then(usable));
    let variables = source.get("env").and_then(Value::as_object).into_iter().flatten();
    let variables = variables.take(MOST_WORDS).filter_map(|(name, value)| {
        is_variable(name).then(|| Some((name.clone(), usable(value.as_str()?)?)))?
    });
    Some(TerminalLogin {
        program,
        arguments: arguments.collect::<Option<_>>()?,
        variables: variables.collect(),
    })
}

/// The ids of all logins in a terminal that an agent offers in its answer to `initialize`.
#[must_use]
pub fn terminal_logins(answer: &str) -> Vec<String> {
    let read: Option<Value> = serde_json::from_str(answer).ok();
    let methods = read.as_ref().and_then(|read| read.get("authMethods")?.as_array());
    let ids = methods.into_iter().flatten().filter_map(|method| method.get("id")?.as_str());
    let ids = ids.filter(|id| is_argument(id) && terminal_login(answer, id).is_some());
    ids.take(MOST_METHODS).map(str::to_owned).collect()
}

/// How a login goes on.
enum LoginKind {
    /// The agent does it, when it is asked to.
    Agent,
    /// The editor runs our command.
    Terminal,
    /// The editor asks the user for variables.
    Variables,
}

/// What an editor does with a kind that we do not know, nobody knows.
fn kind(method: &Value) -> Option<LoginKind> {
    match method.get("type").map(Value::as_str) {
        None | Some(Some("agent")) => Some(LoginKind::Agent),
        Some(Some("terminal")) => Some(LoginKind::Terminal),
        Some(Some("env_var")) => Some(LoginKind::Variables),
        Some(_) => None,
    }
}

fn terminal_auth(method: &Value) -> Option<&Value> {
    method.get("_meta")?.get(TERMINAL_AUTH).filter(|older| older.is_object())
}

/// Whether an id can be an argument of ours without being taken for an option.
fn is_argument(id: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    id.bytes().all(plain) && id.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

fn is_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(plain) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn usable(word: &str) -> Option<String> {
    (word.len() <= LONGEST_WORD && !word.contains('\0')).then(|| word.to_owned())
}

/// A text to show, without what a terminal or a dialog might obey.
fn text(object: &Value, key: &str, longest: usize) -> Option<String> {
    let text = object.get(key)?.as_str()?;
    Some(text.chars().filter(|letter| !letter.is_control()).take(longest).collect())
}
