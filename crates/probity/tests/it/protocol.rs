//! Every message that we send, as a client and as an agent that plays, against the protocol's own
//! JSON Schema, which comes with the agents that the tests talk to.

use std::{
    fs, io,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use jsonschema::Validator;
use probity_acp::{Client, ClientName, Limits, Mode, Script, Side, replay};
use serde_json::{Value, json};

use crate::binary::tools;

/// The protocol's definitions.
pub(crate) struct Protocol(Value);

impl Protocol {
    pub(crate) fn load() -> Self {
        let file = "agents/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json";
        let text = fs::read_to_string(tools().join(file)).unwrap();
        Self(serde_json::from_str::<Value>(&text).unwrap()["$defs"].take())
    }

    /// Checks what both sides said, in the order in which they said it, and names what was seen.
    pub(crate) fn check(&self, messages: &[(Side, Value)]) -> Vec<String> {
        let mut seen = Vec::new();
        for (side, message) in messages {
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            let (definition, part) = match (message["method"].as_str(), message.get("error")) {
                (Some(method), _) => {
                    let kind = if message.get("id").is_some() { "Request" } else { "Notification" };
                    (self.of(method, kind), &message["params"])
                }
                (None, Some(error)) => ("Error".to_owned(), error),
                (None, None) => {
                    // An answer is told by the request of the other side that has its id.
                    let asked = messages.iter().find(|(other, asked)| {
                        other != side
                            && asked["id"] == message["id"]
                            && asked.get("method").is_some()
                    });
                    let method = asked.unwrap().1["method"].as_str().unwrap();
                    (self.of(method, "Response"), &message["result"])
                }
            };
            let validator = self.validator(&definition);
            let errors: Vec<String> =
                validator.iter_errors(part).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{definition}: {errors:?} in {message}");
            seen.push(format!("{side:?} {definition}"));
        }
        seen
    }

    /// The definition of this kind for this method.
    fn of(&self, method: &str, kind: &str) -> String {
        let definitions = self.0.as_object().unwrap().iter();
        let mut of_method = definitions
            .filter(|(name, definition)| definition["x-method"] == method && name.ends_with(kind));
        let found = of_method.next().map(|(name, _)| name.clone());
        assert!(found.is_some(), "{method} has no {kind}");
        found.unwrap()
    }

    fn validator(&self, definition: &str) -> Validator {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": format!("#/$defs/{definition}"),
            "$defs": self.0,
        });
        jsonschema::validator_for(&schema).unwrap()
    }
}

const SCRIPT: &str = r#"
{"on":"session/prompt"}
{"ask":"session/request_permission","params":{"sessionId":"${session}","toolCall":{"toolCallId":"t"},"options":[{"optionId":"r","name":"No","kind":"reject_once"}]}}
{"ask":"session/request_permission","params":{"sessionId":"${session}","toolCall":{"toolCallId":"t"},"options":[]}}
{"ask":"fs/read_text_file","params":{"sessionId":"${session}","path":"/x"}}
{"ask":"terminal/create","params":{"sessionId":"${session}","command":"x"}}
{"say":"denied, then"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/prompt"}
{"await":"session/cancel"}
{"answer":{"stopReason":"cancelled"}}
"#;

#[test]
fn every_message_we_send_is_what_the_schema_says() {
    let script = Script::parse(SCRIPT).unwrap();
    let (output, agent_output) = io::pipe().unwrap();
    let (agent_input, input) = io::pipe().unwrap();
    let agent = thread::spawn(move || {
        replay(&script, agent_input, agent_output, Mode::Lenient, &mut |_| Ok(()))
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    let tap = Box::new(move |side, frame: &str| {
        ear.lock().unwrap().push((side, serde_json::from_str::<Value>(frame).unwrap()));
    });
    let limits =
        Limits { prompt: Duration::from_secs(2), ..Limits::within(Duration::from_secs(60)) };
    let who = ClientName { name: "probity", version: "0" };
    let mut client = Client::connect(output, input, who, limits, Some(tap)).unwrap();
    let session = client.open_session("/work").unwrap();
    client.prompt(&session, "first \u{1f600}\n").unwrap();
    client.prompt(&session, "second").unwrap_err();
    client.close().unwrap();
    agent.join().unwrap().unwrap();
    let heard = heard.lock().unwrap();
    let mut seen = Protocol::load().check(&heard);
    seen.sort_unstable();
    seen.dedup();
    insta::assert_snapshot!(seen.join("\n"), @r"
    Agent CloseSessionResponse
    Agent CreateTerminalRequest
    Agent InitializeResponse
    Agent NewSessionResponse
    Agent PromptResponse
    Agent ReadTextFileRequest
    Agent RequestPermissionRequest
    Agent SessionNotification
    Client CancelNotification
    Client CloseSessionRequest
    Client Error
    Client InitializeRequest
    Client NewSessionRequest
    Client PromptRequest
    Client RequestPermissionResponse
    ");
}
