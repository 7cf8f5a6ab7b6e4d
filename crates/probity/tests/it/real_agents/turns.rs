//! Whole turns, contained and uncontained: an answer that follows from the question, a denied
//! permission, a turn that takes too long, and nothing left running.

use tempfile::TempDir;

use super::{ALL, RealAgent, path};
use crate::{
    agent::misbehaving::left,
    binary::{Run, probity},
    model_server::{ModelServer, fresh_word, reversed},
};

/// What of the machine one agent gets: a home, and the state directory.
pub(super) struct Place {
    pub(super) home: TempDir,
    pub(super) state: TempDir,
}

impl Place {
    pub(super) fn new(agent: &RealAgent, server: &ModelServer, sandbox: &str) -> Self {
        let (home, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = state.path().join("probity/homes/questions").join(agent.name);
        agent.settle(server, if sandbox == "none" { home.path() } else { &kept });
        Self { home, state }
    }

    pub(super) fn ask(
        &self,
        agent: &RealAgent,
        server: &ModelServer,
        sandbox: &str,
        prompt: &str,
    ) -> Run {
        self.ask_as(agent.name, agent, server, sandbox, prompt)
    }

    /// The same, with the agent named in another way.
    pub(super) fn ask_as(
        &self,
        name: &str,
        agent: &RealAgent,
        server: &ModelServer,
        sandbox: &str,
        prompt: &str,
    ) -> Run {
        let mut run = probity()
            .args(["agent", "ask", name, prompt, "--sandbox", sandbox, "--format", "json"])
            .dir(self.home.path())
            .env("PATH", &path())
            .env("HOME", self.home.path().to_str().unwrap())
            .env("XDG_STATE_HOME", self.state.path().to_str().unwrap());
        for (name, value) in agent.variables(server) {
            run = run.env(name, &value).args(["--env", name]);
        }
        run
    }

    /// Command lines of processes that still run an agent of this place.
    pub(super) fn left(&self) -> Vec<String> {
        let mut lines = left(self.home.path().to_str().unwrap());
        lines.extend(left(self.state.path().to_str().unwrap()));
        lines
    }
}

fn answers(agent: &RealAgent) {
    for sandbox in ["bwrap", "none"] {
        let server = ModelServer::start();
        let place = Place::new(agent, &server, sandbox);
        let word = fresh_word("word");
        let prompt = format!("please reverse({word})");
        let output = place.ask(agent, &server, sandbox, &prompt).run().code(0);
        let page: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        let answer = page["answer"].as_str().unwrap();
        assert!(answer.contains(&reversed(1, &word)), "{} {sandbox}: {page:#}", agent.name);
        assert_eq!(page["stopReason"], "end_turn", "{} {sandbox}: {page:#}", agent.name);
        assert!(server.was_told(&prompt), "{} {sandbox}: {:?}", agent.name, server.requests());
        assert_eq!(place.left(), Vec::<String>::new(), "{} {sandbox}", agent.name);
    }
}

#[test]
fn claude_answers_contained_and_uncontained() {
    answers(&ALL[0]);
}

#[test]
fn gemini_answers_contained_and_uncontained() {
    answers(&ALL[1]);
}

#[test]
fn opencode_answers_contained_and_uncontained() {
    answers(&ALL[2]);
}
