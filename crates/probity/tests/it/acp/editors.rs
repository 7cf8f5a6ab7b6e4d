//! Editors made of the protocol's own libraries, from PyPI and npm.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use super::Driver;
use crate::binary::{Run, tools};

#[derive(Clone, Copy, Debug)]
pub(super) enum Editor {
    Python,
    TypeScript,
}

/// What `script/tools` has installed.
pub(super) fn sdk(path: &str) -> std::path::PathBuf {
    let sdk = tools().join("sdk");
    assert!(sdk.join("stamp").exists(), "{} is missing: run script/tools once", sdk.display());
    sdk.join(path)
}

impl Editor {
    /// An editor that starts this run as its agent. It takes requests as the protocol has them, and
    /// tells beside each result what the agent said and how many permissions it asked for.
    pub(super) fn start(self, run: Run) -> Driver {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/acp/editors");
        let agent = run.into_command();
        let mut command = match self {
            Self::Python => {
                let mut command = Command::new(tools().join("python/bin/python"));
                command.arg(scripts.join("editor.py")).env("PYTHONPATH", sdk("python"));
                command
            }
            Self::TypeScript => {
                let library = "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";
                let mut command = Command::new("node");
                command.arg(scripts.join("editor.mjs")).env("ACP_SDK", sdk(library));
                command
            }
        };
        command.arg(agent.get_program()).args(agent.get_args()).stderr(Stdio::piped());
        for (name, value) in agent.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        if let Some(directory) = agent.get_current_dir() {
            command.current_dir(directory);
        }
        Driver::start_command(command)
    }
}
