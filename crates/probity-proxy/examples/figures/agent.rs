//! An agent that answers everything at once, and floods when asked to.

use std::io::{BufRead, Write};

/// How many messages a flood has.
pub(crate) const FLOOD: usize = 200_000;

pub(crate) fn serve(input: impl BufRead, mut output: impl Write) {
    for line in input.lines() {
        let line = line.unwrap();
        let id = line.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        if line.contains("flood") {
            let chunk = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\
                 \"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\
                 \"text\":\"{}\"}}}}}}}}\n",
                "x".repeat(45)
            );
            let batch = chunk.repeat(100);
            let rounds = if line.contains("for_ever") { usize::MAX } else { FLOOD / 100 };
            for _ in 0..rounds {
                if output.write_all(batch.as_bytes()).is_err() {
                    return;
                }
            }
            continue;
        }
        let result = if line.contains("session/new") {
            r#"{"sessionId":"s"}"#
        } else if line.contains("\"initialize\"") {
            r#"{"protocolVersion":1,"agentCapabilities":{}}"#
        } else {
            "{}"
        };
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        if output.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
