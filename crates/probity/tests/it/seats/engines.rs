//! The same callers in containers of docker and podman, named by their flag.

use std::fs;

use super::User;
use crate::{
    binary::probity,
    containers::server::{IMAGE, Server},
};

/// Says what it sees, and ends before it says anything of the protocol. It reads first: podman 4.3
/// loses the output of a process that ends without having read what was sent to it.
const PROBE: &str = r#"
read -r line
touch probe 2>/dev/null && { writes=yes; rm probe; }
echo "report: cwd $PWD home $HOME writes ${writes:-no} sees $(echo $(ls)) key $OPENAI_API_KEY root $(touch /x 2>/dev/null && echo open || echo closed)" >&2
exit 3
"#;

fn every_caller_is_placed_in(server: &Server) {
    let kind = server.kind.name();
    let user = User::new();
    fs::write(user.path("probe.sh"), PROBE).unwrap();
    assert!(server.says(&["tag", IMAGE, "containai:latest"]).0);
    let client = server.client.parent().unwrap().display().to_string();
    let path = format!("{client}:{}", std::env::var("PATH").unwrap());
    let agent = format!("acp:sh {}", user.path("probe.sh").display());
    let command = agent.trim_start_matches("acp:").to_owned();
    let all = "Dockerfile main.go validators";
    for (args, flag, writes, sees) in [
        (&["agent", "ask", &agent, "hello"][..], "--sandbox", "yes", ""),
        (&["audit", "--provider", &agent], "--sandbox", "no", all),
        (
            &["review", "--agent", &agent, "--no-history", "--output", "../out"],
            "--sandbox",
            "yes",
            all,
        ),
        (
            &["check", "--fix", "--fix-ai", "--acp-command", &command, "Dockerfile"],
            "--ai-sandbox",
            "yes",
            "",
        ),
    ] {
        let run = user.settle(probity()).env("PATH", &path).args(args).args([flag, kind, "-v"]);
        let output = run.run();
        let report = format!(
            "report: cwd /home/agent/workspace home /home/agent writes {writes} sees {sees} key  root closed"
        );
        assert!(output.stderr.contains(&report), "{args:?}: {}", output.stderr);
        let left = server.says(&["ps", "-aq", "--filter", "label=probity.managed=true"]).1;
        assert_eq!(left, "", "{args:?}: the container goes with the run");
    }
}

#[test]
fn every_caller_can_have_docker() {
    every_caller_is_placed_in(&Server::docker());
}

#[test]
fn every_caller_can_have_podman() {
    every_caller_is_placed_in(&Server::podman());
}
