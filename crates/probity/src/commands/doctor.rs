//! `doctor`: what this machine has and lacks for each capability, what would be used, and why.

mod capability;
mod runners;
mod samples;

use std::{fmt::Write as _, path::PathBuf};

use probity_agent::AgentTable;
use probity_containment::make_up;
use probity_report::{Paint, Screen, padded};
use probity_sandbox::{
    BackendKind, Choice, FoundProgram, LimitedBy, Limits, Machine, Preference, Unusable, choose,
    has_image, probe,
};
use probity_seat::{Caller, DEFAULT_IMAGE, find_program};
use serde::Serialize;

pub(crate) use self::capability::Runners;
use self::capability::{Capability, Language, capabilities, languages};
use crate::{commands::print_json, containment::Users, exit::Exit, screen, seats::state};

pub(crate) fn run(json: bool, runners: Runners) -> anyhow::Result<Exit> {
    // Without a place for state there is no session to make up for.
    if let Ok(state) = state() {
        make_up(&state, None);
    }
    let diagnosis = Diagnosis::new(&probe(), runners)?;
    if json {
        print_json(&diagnosis)?;
    } else {
        screen::print(&diagnosis.text(screen::stdout()))?;
    }
    Ok(Exit::Clean)
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Diagnosis {
    /// Whether agents and tests can be sandboxed: nothing runs otherwise.
    ready: bool,
    /// The same in a sentence, with the reasons.
    summary: String,
    docker: Engine,
    podman: Engine,
    bubblewrap: Means,
    user_namespaces: Means,
    landlock: Means,
    cgroups: Means,
    limits: Limited,
    agents: Vec<Agent>,
    uses: Uses,
    languages: Vec<Language>,
    capabilities: Vec<Capability>,
}

/// Columns of the names in the text.
const NAME_COLUMNS: usize = 16;

/// The limits of sandboxed processes in this configuration.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Limited {
    memory_bytes: Option<u64>,
    cpus: Option<f64>,
    processes: Option<u64>,
    tmp_bytes: Option<u64>,
    shm_bytes: Option<u64>,
    file_bytes: Option<u64>,
    /// By bubblewrap; an engine has its own cgroup.
    held_by: String,
    #[serde(skip)]
    limits: Limits,
}

impl Limited {
    fn new(limits: Limits, machine: &Machine) -> Self {
        let held_by = if machine.cgroups.is_ok() { LimitedBy::Cgroup } else { LimitedBy::Watch };
        Self {
            memory_bytes: limits.memory,
            cpus: limits.cpus,
            processes: limits.pids,
            tmp_bytes: limits.tmp,
            shm_bytes: limits.shm,
            file_bytes: limits.file,
            held_by: held_by.to_string(),
            limits,
        }
    }
}

/// Something that contains, or that containing needs.
#[derive(Debug, Serialize)]
struct Means {
    usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<PathBuf>,
    /// Why not, or how far.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct Engine {
    #[serde(flatten)]
    means: Means,
    /// Absent where no server could be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<Image>,
}

#[derive(Debug, Serialize)]
struct Image {
    name: &'static str,
    present: bool,
}

#[derive(Debug, Serialize)]
struct Agent {
    name: String,
    command: String,
    program: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    install: Option<String>,
}

#[derive(Debug, Serialize)]
struct Uses {
    exec: Use,
    fixes: Use,
    questions: Use,
    tests: Use,
}

/// What would be taken; nothing is not a choice but the lack of one.
#[derive(Debug, Serialize)]
struct Use {
    backend: Option<&'static str>,
    reasons: Vec<String>,
}

impl Diagnosis {
    fn new(machine: &Machine, runners: Runners) -> anyhow::Result<Self> {
        let docker = Engine::new(&machine.docker);
        let podman = Engine::new(&machine.podman);
        let decide = |caller: Caller| {
            let asked = |kind: BackendKind, found: &FoundProgram| {
                if kind.is_engine() { has_image(found, DEFAULT_IMAGE) } else { Ok(()) }
            };
            Use::of(choose(caller.policy().order, machine, &asked))
        };
        let uses = Uses {
            exec: decide(Caller::Exec),
            fixes: decide(Caller::Fix),
            questions: decide(Caller::Ask),
            tests: Use::of(choose(Preference::WithoutEngines, machine, &|_, _| Ok(()))),
        };
        let Users { table, terms, .. } = Users::load()?;
        let (agents, languages) = (agents(&table), languages(runners));
        let is_installed = |agent: &Agent| agent.program.is_some();
        let found = capability::Findings {
            has_sandbox: uses.questions.backend.is_some(),
            has_sandbox_for_tests: uses.tests.backend.is_some(),
            install_agent: match agents.first() {
                Some(first) if !agents.iter().any(is_installed) => first.install.as_deref(),
                _ => None,
            },
            languages: &languages,
        };
        let (ready, summary) = uses.summary();
        Ok(Self {
            ready,
            summary,
            capabilities: capabilities(&found),
            limits: Limited::new(terms.limits, machine),
            docker,
            podman,
            bubblewrap: Means::program(&machine.bubblewrap),
            user_namespaces: Means::kernel(&machine.user_namespaces),
            landlock: landlock(&machine.landlock),
            cgroups: Means::kernel(&machine.cgroups),
            agents,
            languages,
            uses,
        })
    }

    fn text(&self, screen: Screen) -> String {
        let heading = |words: &str| format!("{}\n", screen.painted(Paint::Heading, words));
        let line = |text: &mut String, name: &str, mark: &str, words: &str| {
            text.push_str(&row(screen, name, mark, words));
        };
        let paint = if self.ready { Paint::Good } else { Paint::Doubtful };
        let mut text = format!("{}\n\n", screen.painted(paint, &self.summary));
        text.push_str(&heading("Sandboxes"));
        for (name, means) in [
            ("docker", &self.docker.means),
            ("podman", &self.podman.means),
            ("bubblewrap", &self.bubblewrap),
            ("user namespaces", &self.user_namespaces),
            ("landlock", &self.landlock),
            ("cgroups", &self.cgroups),
        ] {
            let mark = if means.usable { "yes" } else { "no" };
            let words = [means.version.as_deref(), means.reason.as_deref()];
            let words: Vec<&str> = words.into_iter().flatten().collect();
            line(&mut text, name, mark, &words.join(", "));
        }
        for (name, engine) in [("docker", &self.docker), ("podman", &self.podman)] {
            if let Some(image) = &engine.image {
                let mark = if image.present { "yes" } else { "no" };
                line(&mut text, "image", mark, &format!("{} in {name}", image.name));
            }
        }
        // Writing to a string cannot fail.
        _ = writeln!(text, "\n{}  {}", heading("Limits"), self.limits.limits);
        _ = writeln!(text, "  enforced by {}", self.limits.held_by);
        _ = write!(text, "\n{}", heading("Agents on PATH"));
        for agent in &self.agents {
            let mark = if agent.program.is_some() { "yes" } else { "no" };
            let install = match (&agent.program, &agent.install) {
                (None, Some(install)) => format!(" (install: {install})"),
                _ => String::new(),
            };
            line(&mut text, &agent.name, mark, &format!("{}{install}", agent.command));
        }
        _ = write!(text, "\n{}", heading("Test tools"));
        for language in &self.languages {
            let mark = if language.missing.is_none() { "yes" } else { "no" };
            let tool = language.tool.unwrap_or_default();
            let tool = if language.started == Some(true) {
                format!("{tool}: ran a test")
            } else {
                tool.to_owned()
            };
            let words = language.missing.as_deref().unwrap_or(&tool);
            line(&mut text, &language.name, mark, words);
        }
        _ = write!(text, "\n{}", heading("Sandbox of each command"));
        for (name, used) in [
            ("exec, acp", &self.uses.exec),
            ("AI fixes, review", &self.uses.fixes),
            ("audit, ask", &self.uses.questions),
            ("tests, exploits", &self.uses.tests),
        ] {
            let otherwise = "nothing: they refuse to run";
            // Writing to a string cannot fail.
            _ = writeln!(text, "  {name:<16} {}", used.backend.unwrap_or(otherwise));
            for reason in &used.reasons {
                _ = writeln!(text, "  {:<16}   {reason}", "");
            }
        }
        _ = write!(text, "\n{}", heading("Ready to use"));
        for capability in &self.capabilities {
            let (name, mark, words) = capability.row();
            line(&mut text, name, mark, &words);
        }
        text
    }
}

impl Use {
    fn of(choice: Choice) -> Self {
        let Choice { chosen, reasons } = choice;
        Self { backend: chosen.map(|(kind, _)| kind.name()), reasons }
    }
}

impl Uses {
    /// Whether all that probity starts has a sandbox, and a line about it.
    fn summary(&self) -> (bool, String) {
        match (self.questions.backend, self.tests.backend) {
            (Some(agents), Some(tests)) if agents == tests => {
                (true, format!("Ready: {agents} sandboxes agents and tests."))
            }
            (Some(agents), Some(tests)) => {
                (true, format!("Ready: {agents} sandboxes agents, {tests} tests."))
            }
            (Some(agents), None) => {
                let why = self.tests.reasons.join("; ");
                (
                    false,
                    format!(
                        "Not ready: {agents} sandboxes agents, but nothing does tests ({why})."
                    ),
                )
            }
            (None, _) => {
                let why = self.questions.reasons.join("; ");
                (
                    false,
                    format!(
                        "Not ready: no sandbox works, and probity starts nothing without one ({why})."
                    ),
                )
            }
        }
    }
}

fn row(screen: Screen, name: &str, mark: &str, words: &str) -> String {
    let paint = if mark == "yes" { Paint::Good } else { Paint::Doubtful };
    let (name, painted) = (padded(name, NAME_COLUMNS), screen.painted(paint, mark));
    match words {
        "" => format!("  {name} {painted}\n"),
        words => format!("  {name} {}  {words}\n", padded(&painted, "yes".len())),
    }
}

impl Means {
    fn program(found: &Result<FoundProgram, Unusable>) -> Self {
        let (version, program, reason) = match found {
            Ok(FoundProgram { program, version }) => {
                (Some(version.clone()), Some(program.clone()), None)
            }
            Err(why) => (None, None, Some(why.to_string())),
        };
        Self { usable: found.is_ok(), version, program, reason }
    }

    fn kernel(answer: &Result<(), Unusable>) -> Self {
        let reason = answer.as_ref().err().map(ToString::to_string);
        Self { usable: answer.is_ok(), version: None, program: None, reason }
    }
}

impl Engine {
    fn new(found: &Result<FoundProgram, Unusable>) -> Self {
        let image = found.as_ref().ok().map(|found| Image {
            name: DEFAULT_IMAGE,
            present: has_image(found, DEFAULT_IMAGE).is_ok(),
        });
        Self { means: Means::program(found), image }
    }
}

/// The version is that of the kernel's interface, and there is no program.
fn landlock(found: &Result<FoundProgram, Unusable>) -> Means {
    let means = Means::program(found);
    let version = means.version.map(|version| format!("version {version}"));
    Means { version, program: None, ..means }
}

/// Looked for and not run: to say its version an agent may want a network, or minutes.
fn agents(table: &AgentTable) -> Vec<Agent> {
    let agents = table.iter().map(|agent| Agent {
        name: agent.name.clone(),
        command: agent.acp.join(" "),
        program: agent.acp.first().and_then(|program| find_program(program)),
        install: agent.install.clone(),
    });
    agents.collect()
}
