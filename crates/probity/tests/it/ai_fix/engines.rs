//! An agent in a container of docker or podman, which nobody gets who has not named it.

use std::fs;

use serde_json::json;

use super::{GO, MULTI_STAGE, Stage, TWO_STAGES, outcome, patch};
use crate::{
    binary::{Output, Run},
    containers::server::{IMAGE, Server},
};

/// Speaks the protocol with what a busybox has. What it can see goes into the answer's prose.
const AGENT: &str = r#"
while read -r line; do
    id=${line#*\"id\":}; id=${id%%[,\}]*}
    case $line in
        *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{}}}' ;;
        *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}' ;;
        *'"session/prompt"'*)
            echo "seen: $(ls) $(ls "$HOME") $(ls /home)" >&2
            echo x > /x || echo closed >&2
            cat "$1"
            echo '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}' ;;
    esac
done
"#;

fn stage() -> Stage {
    let update = json!({
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": patch(GO, TWO_STAGES)},
    });
    let params = json!({"sessionId": "s", "update": update});
    let said = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let stage = Stage::new(GO, "");
    fs::write(stage.path().join("agent.sh"), AGENT).unwrap();
    fs::write(stage.path().join("said.json"), format!("{said}\n")).unwrap();
    stage
}

fn fix(server: &Server, stage: &Stage, sandbox: &str) -> Run {
    let first = server.client.parent().unwrap().display();
    let path = format!("{first}:{}", std::env::var("PATH").unwrap());
    let home = stage.path().join("home");
    let run = stage.fix(MULTI_STAGE).args(["--acp-command", "sh agent.sh said.json", "-v"]);
    run.args(["--ai-sandbox", sandbox]).env("PATH", &path).env("HOME", home.to_str().unwrap())
}

fn left(server: &Server) -> String {
    server.says(&["ps", "-aq", "--filter", "label=probity.managed=true"]).1
}

fn in_a_container(server: &Server) {
    let kind = server.kind.name();
    let stage = stage();
    let refused = |output: &Output, says: &str| {
        let outcome = outcome(output);
        assert_eq!(outcome["reason"], "agent-failed", "{outcome}");
        assert!(outcome["detail"].as_str().unwrap().contains(says), "{outcome}");
        assert_eq!(stage.text(), GO);
    };
    refused(&fix(server, &stage, kind).run().code(1), "the image containai:latest is not there");
    assert!(server.says(&["tag", IMAGE, "containai:latest"]).0);

    let output = fix(server, &stage, kind).run().code(0);
    let found = outcome(&output);
    assert_eq!(found["outcome"], "applied", "{found} {}", output.stderr);
    assert_eq!(found["session"]["containedBy"], kind);
    assert_eq!(stage.text(), TWO_STAGES);
    assert!(output.stderr.contains("closed"), "{}", output.stderr);
    assert!(output.stderr.contains("seen:  workspace agent\n"), "{}", output.stderr);
    assert_eq!(left(server), "", "the container goes with the run");
    let rooms = stage.path().join("home/.local/state/probity/fixes");
    assert_eq!(fs::read_dir(rooms).unwrap().count(), 0);

    // What the image does not have is a failure of the agent, and leaves nothing behind either.
    fs::write(stage.path().join("Dockerfile"), GO).unwrap();
    let run = fix(server, &stage, kind).args(["--acp-command", "no-such-agent"]);
    refused(&run.run().code(1), "no-such-agent");
    assert_eq!(left(server), "");
}

#[test]
fn the_agent_of_a_fix_sits_in_docker_where_it_is_named() {
    in_a_container(&Server::docker());
}

#[test]
fn the_agent_of_a_fix_sits_in_podman_where_it_is_named() {
    in_a_container(&Server::podman());
}

#[test]
fn an_engine_that_does_not_answer_is_told_and_nothing_else_is_taken() {
    let stage = stage();
    let run = stage.fix(MULTI_STAGE).args(["--acp-command", "sh agent.sh said.json"]);
    let run = run.args(["--ai-sandbox", "docker"]).env("DOCKER_HOST", "unix:///nowhere/socket");
    let output = run.run().code(1);
    assert_eq!(outcome(&output)["reason"], "agent-failed");
    let detail = outcome(&output)["detail"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(detail, @"no sandbox is available for the agent; docker: docker does not answer: Cannot connect to the Docker daemon at unix:///nowhere/socket. Is the docker daemon running?; install bubblewrap, or pull or build the image containai:latest for docker or podman, or allow what the reasons name; `--ai-sandbox none` runs the agent without a sandbox, with all your rights");
    assert_eq!(stage.text(), GO);
}
