//! What the reader sees: headings, commands, what came of them, and whether it held.

use std::{io::Write as _, path::PathBuf};

use probity_report::Paint;
use probity_scope::{MOST_BYTES, read_text};

use super::{
    place::DemoDirectory,
    sandboxes::Sandboxes,
    shell::{self, Ran},
};
use crate::screen;
use crate::streams;

pub(super) struct Stage<'a> {
    place: &'a DemoDirectory,
    pub(super) sandboxes: Sandboxes,
    steps: u8,
    failed: usize,
    missing: usize,
}

/// What a step starts in a sandbox.
#[derive(Clone, Copy)]
pub(super) enum Sandboxed {
    Agents,
    AgentsAndTests,
}

impl<'a> Stage<'a> {
    pub(super) fn new(place: &'a DemoDirectory, sandboxes: Sandboxes) -> Self {
        Self { place, sandboxes, steps: 0, failed: 0, missing: 0 }
    }

    /// Whether what the next step starts has a sandbox. Otherwise it is not shown.
    pub(super) fn has_sandbox(&mut self, needed_by: Sandboxed) -> anyhow::Result<bool> {
        let Sandboxes { of_agents, of_tests } = &self.sandboxes;
        let missing = match needed_by {
            Sandboxed::Agents => of_agents.as_ref().err(),
            Sandboxed::AgentsAndTests => of_agents.as_ref().err().or(of_tests.as_ref().err()),
        };
        let Some(why) = missing else { return Ok(true) };
        let why = format!("{why}; `probity demo --sandbox none` shows it without one");
        self.not_shown(&why).map(|()| false)
    }

    pub(super) fn failed(&self) -> usize {
        self.failed
    }

    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    pub(super) fn heading(&mut self, text: &str) -> anyhow::Result<()> {
        self.steps += 1;
        self.line("")?;
        let heading = format!("{}. {text}", self.steps);
        self.line(&screen::stdout().painted(Paint::Strong, &heading))
    }

    /// Runs what is printed, and nothing else.
    pub(super) fn command(&mut self, line: &str) -> anyhow::Result<Ran> {
        self.line(&format!("  $ {}", line.replace('\n', "\n      ")))?;
        let ran = shell::run(self.place, line)?;
        if let Some(problem) = &ran.problem {
            self.proof(false, "", problem)?;
        }
        Ok(ran)
    }

    /// Something that the command said or wrote.
    pub(super) fn show(&mut self, text: &str) -> anyhow::Result<()> {
        self.line(&format!("    {}", shortened(text)))
    }

    /// Why it can be believed; or that it cannot, which fails the demo.
    pub(super) fn proof(&mut self, holds: bool, good: &str, bad: &str) -> anyhow::Result<()> {
        if holds {
            return self.line(&format!("    proof: {good}"));
        }
        self.failed += 1;
        self.line(&format!("    WRONG: {bad}"))
    }

    /// A step for which this machine lacks something.
    pub(super) fn not_shown(&mut self, why: &str) -> anyhow::Result<()> {
        self.missing += 1;
        self.line(&format!("    NOT SHOWN: {why}"))
    }

    pub(super) fn line(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(streams::stdout(), "{text}")?)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.place.root().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        read_text(&self.path(name), MOST_BYTES).unwrap_or_default()
    }

    /// A report that a command wrote; what is missing in it is null.
    pub(super) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap_or_default()
    }

    pub(super) fn make_directory(&self, name: &str) -> anyhow::Result<()> {
        Ok(std::fs::create_dir_all(self.path(name))?)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        self.place.write(name, text)
    }
}

const LONGEST: usize = 220;

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LONGEST).collect();
    format!("{kept}…")
}
