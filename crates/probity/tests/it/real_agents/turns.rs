//! Whole turns, contained and uncontained: an answer that follows from the question, a denied
//! permission, a turn that takes too long, and nothing left running.

use std::{ffi::OsString, fs, path::Path};

use tempfile::TempDir;

use super::{ALL, RealAgent, path};
use crate::{
    binary::{Run, probity},
    model_server::{ModelServer, fresh_word, reversed},
};

/// A machine with one agent on it: a home with its settings in it, the user's configuration that
/// lists what it may have of them, and a state directory.
pub(super) struct Place {
    pub(super) home: TempDir,
    pub(super) state: TempDir,
}

/// Every process of an agent inherits it, whatever it is called.
const MARK: &str = "PROBITY_TEST_PLACE";

impl Place {
    pub(super) fn new(agent: &RealAgent, server: &ModelServer) -> Self {
        let (home, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let settings = agent.settle(server, home.path());
        let names = agent.variables(server).into_iter().map(|(name, _)| name);
        let names = names.chain([MARK]).collect::<Vec<_>>();
        let config = format!(
            "[env]\nimport = {names:?}\n[import]\nadditional_paths = {:?}\n",
            settings.map(|path| format!("~/{path}")).as_slice()
        );
        let directory = home.path().join(".config/containai");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), config).unwrap();
        Self { home, state }
    }

    /// All variables of this place.
    pub(super) fn variables(
        &self,
        agent: &RealAgent,
        server: &ModelServer,
    ) -> Vec<(OsString, OsString)> {
        let state = self.state.path().as_os_str();
        let mut variables = vec![
            ("PATH".into(), path().into()),
            ("HOME".into(), self.home.path().into()),
            ("XDG_STATE_HOME".into(), state.into()),
            (MARK.into(), state.into()),
        ];
        let agents = agent.variables(server).into_iter();
        variables.extend(agents.map(|(name, value)| (name.into(), value.into())));
        variables
    }

    pub(super) fn ask(
        &self,
        agent: &RealAgent,
        server: &ModelServer,
        sandbox: &str,
        prompt: &str,
    ) -> Run {
        let workspace = self.home.path().join("workspace");
        fs::create_dir_all(&workspace).unwrap();
        let mut run = probity()
            .args(["agent", "ask", agent.name, prompt])
            .args(["--sandbox", sandbox, "--format", "json", "--timeout", "5m", "--env", MARK])
            .dir(workspace);
        for (name, value) in self.variables(agent, server) {
            run = run.env(name.to_str().unwrap(), value.to_str().unwrap());
        }
        run
    }

    /// Processes that were started for this place and still run.
    pub(super) fn left(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.state.path().display());
        let is_marked = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        processes
            .filter(|process| is_marked(process))
            .map(|process| fs::read_to_string(process.join("cmdline")).unwrap_or_default())
            .collect()
    }
}

fn answers(agent: &RealAgent) {
    for sandbox in ["bwrap", "none"] {
        let server = ModelServer::start();
        let place = Place::new(agent, &server);
        let word = fresh_word("word");
        let prompt = format!("please reverse({word})");
        let output = place.ask(agent, &server, sandbox, &prompt).run().code(0);
        let page: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        let answer = page["answer"].as_str().unwrap();
        assert!(answer.contains(&reversed(1, &word)), "{} {sandbox}: {page:#}", agent.name);
        assert_eq!(page["stopReason"], "end_turn", "{} {sandbox}: {page:#}", agent.name);
        let asked =
            server.requests().into_iter().find(|asked| asked.body.to_string().contains(&prompt));
        let wire = asked.unwrap().path;
        assert!(wire.contains(agent.wire), "{} {sandbox}: {wire}", agent.name);
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
