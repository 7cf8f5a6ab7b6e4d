//! What an experiment saw, for reports.

use std::fmt;

use super::{Level, Verdict};
use crate::{
    Sizes,
    start::{Observation, State, TestEnd},
};

/// What was the same in both images, and their sizes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    pub sizes: Option<Sizes>,
    /// Whether both were still running at the end, if they were started.
    pub is_running: Option<bool>,
    /// Ports that listen in both, with the status that both answer with.
    pub ports: Vec<(u16, Option<String>)>,
    pub health: Option<String>,
    /// Whether files that were opened and closed again were seen.
    pub is_watched: bool,
    /// Whether the user's test succeeded in both.
    pub command: bool,
    /// Whether nothing limited the memory of the builds.
    pub has_no_memory_limit: bool,
}

impl Evidence {
    pub(super) fn observe(&mut self, before: &Observation, after: &Observation) {
        self.is_running = Some(after.state == State::Running);
        let both = before.ports.intersection(&after.ports);
        self.ports = both.map(|port| (*port, after.answers.get(port).cloned())).collect();
        self.health.clone_from(&after.health);
        self.is_watched = before.is_watched;
        self.command = after.command == Some(TestEnd::Passed);
    }
}

/// `built and started both images: 1.12 GB → 84 MB; port 8080 answers 200 in both`.
impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let harm = self.differences.iter().filter(|difference| difference.is_harmful()).count();
        out.write_str(match self.level {
            Level::Static => "checked the text only",
            Level::Build => "built both images",
            Level::Run => "built and started both images",
        })?;
        if let Some(Sizes { before, after }) = self.evidence.sizes {
            write!(out, ": {} → {}", bytes(before), bytes(after))?;
        }
        if harm > 0 {
            let noun = if harm == 1 { "difference" } else { "differences" };
            return write!(out, "; {harm} harmful {noun}");
        }
        for (port, status) in &self.evidence.ports {
            match status {
                Some(status) => write!(out, "; port {port} answers {status} in both")?,
                None => write!(out, "; port {port} listens in both")?,
            }
        }
        if let Some(health) = &self.evidence.health {
            write!(out, "; both are {health}")?;
        }
        match self.evidence.is_running {
            Some(true) if self.evidence.ports.is_empty() => out.write_str("; both keep running")?,
            Some(false) => out.write_str("; both end with exit code 0")?,
            _ => {}
        }
        if self.evidence.command {
            out.write_str("; ai.proof-command succeeds in both")?;
        }
        if self.level == Level::Run && !self.evidence.is_watched {
            out.write_str("; files that were read and closed again were not seen")?;
        }
        if self.evidence.has_no_memory_limit {
            out.write_str(
                "; the builds had no memory limit, because BuildKit has none and runs on another \
                 machine",
            )?;
        }
        match &self.obstacle {
            Some(obstacle) => write!(out, "; {obstacle}"),
            None => Ok(()),
        }
    }
}

/// Decimal units, as engines print them.
pub(super) fn bytes(count: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (unit, name) in units {
        if count >= unit {
            let (whole, rest) = (count / unit, count % unit * 100 / unit);
            return if whole >= 10 {
                format!("{whole} {name}")
            } else {
                format!("{whole}.{rest:02} {name}")
            };
        }
    }
    format!("{count} B")
}
