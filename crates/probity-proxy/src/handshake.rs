//! `initialize`: answered for the agent before there is one, and said to each agent that comes.

use probity_acp::{Envelope, Id, Splice, find};
use serde_json::{Map, Value, json};

use crate::{Options, Workspace, connection::Abilities, literal::content, message};

/// The one version that is stable.
const VERSION: u64 = 1;

/// Our answer to the editor, from what the agent answered in an earlier run.
///
/// A version that came as a number is negotiated; one that came as a string is echoed, as older
/// clients expect.
pub(crate) fn answer(
    id: &Id<'_>,
    asked: &Envelope<'_>,
    cached: Option<&str>,
    options: &Options,
) -> String {
    let version = find(asked, "params.protocolVersion").last().copied().unwrap_or_default();
    let version = if version.starts_with('"') {
        serde_json::from_str(version).unwrap_or(Value::from(VERSION))
    } else {
        Value::from(VERSION)
    };
    let mut result = cached.and_then(object).unwrap_or_default();
    result.insert("protocolVersion".to_owned(), version);
    within(&mut result, "agentCapabilities", |capabilities| {
        // The proxy can always end a session, whatever the agent can.
        within(capabilities, "sessionCapabilities", |sessions| within(sessions, "close", |_| ()));
    });
    let methods = result.get("authMethods").unwrap_or(&Value::Null);
    let methods = options.logins.rebuilt(methods);
    result.insert("authMethods".to_owned(), methods);
    result
        .entry("agentInfo")
        .or_insert_with(|| json!({"name": options.agent, "version": options.version}));
    result.insert("capabilities".to_owned(), json!({"multiSession": true}));
    let server = json!({"name": "probity", "version": options.version});
    result.insert("serverInfo".to_owned(), server);
    message::result(id, &Value::Object(result).to_string())
}

/// What each agent is told: the editor's own words, with the version that it was answered, and
/// without the files and terminals that a sandboxed agent does not get from an editor.
pub(crate) fn request(number: u64, editor: Option<&str>, workspace: &Workspace) -> String {
    let envelope = editor.and_then(Envelope::parse);
    let Some(envelope) =
        envelope.filter(|envelope| !find(envelope, "params.protocolVersion").is_empty())
    else {
        let params = json!({"protocolVersion": VERSION, "clientCapabilities": {}});
        return message::request(number, "initialize", &params.to_string());
    };
    let mut splice = Splice::new(&envelope);
    splice.replace("id", |_| Some(number.to_string()));
    splice.replace("params.protocolVersion", |_| Some(VERSION.to_string()));
    if !workspace.terminals {
        splice.replace("params.clientCapabilities.terminal", |_| Some("false".to_owned()));
    }
    if !workspace.files {
        let none = json!({"readTextFile": false, "writeTextFile": false});
        splice.replace("params.clientCapabilities.fs", |_| Some(none.to_string()));
    }
    splice.finish().into_owned()
}

/// Why an agent cannot be used, from its answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadHandshake {
    #[error("its answer to initialize is not an object")]
    NotObject,
    #[error("it speaks version {0} of the protocol, and not {VERSION}")]
    Version(String),
}

/// What an agent answered that it can do.
pub(crate) fn abilities(result: &str) -> Result<Abilities, BadHandshake> {
    let result = object(result).ok_or(BadHandshake::NotObject)?;
    if let Some(version) = result.get("protocolVersion") {
        let spelled = version.to_string();
        if content(&spelled) != VERSION.to_string() {
            return Err(BadHandshake::Version(spelled));
        }
    }
    let capabilities = result.get("agentCapabilities").unwrap_or(&Value::Null);
    let is_there = |value: Option<&Value>| {
        value.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    };
    let sessions = capabilities.get("sessionCapabilities");
    let can = |what: &str| is_there(sessions.and_then(|sessions| sessions.get(what)));
    Ok(Abilities {
        load: is_there(capabilities.get("loadSession")),
        resume: can("resume"),
        close: can("close"),
    })
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// Changes the object under a key, which is made if it is not there.
fn within(
    object: &mut Map<String, Value>,
    key: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) {
    let there = object.get_mut(key).and_then(Value::as_object_mut);
    let mut inner = there.map(std::mem::take).unwrap_or_default();
    change(&mut inner);
    object.insert(key.to_owned(), Value::Object(inner));
}
