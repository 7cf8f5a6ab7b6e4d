//! What holds the recorded agents and the tests of the demo, or why nothing does.

use probity_sandbox::{BackendKind, Choice, Preference, choose_here};

use crate::config::words::Sandbox;

pub(super) struct Sandboxes {
    /// The one of the agents, or why there is none.
    pub(super) of_agents: Result<Sandbox, String>,
    /// Why tests have none.
    pub(super) of_tests: Result<(), String>,
}

impl Sandboxes {
    /// No image of an engine has this program, of which recorded agents consist.
    pub(super) fn find(wanted: Sandbox) -> Self {
        let find = |sandbox: Sandbox| {
            let preference = sandbox.preference(Preference::WithoutEngines);
            let Choice { chosen, reasons } = choose_here(preference, &|_, _| Ok(()));
            let why = || format!("no sandbox works on this machine ({})", reasons.join("; "));
            chosen.map(|(kind, _)| word(kind)).ok_or_else(why)
        };
        let for_tests = match wanted {
            Sandbox::Docker | Sandbox::Podman => Sandbox::Auto,
            other => other,
        };
        Self { of_agents: find(wanted), of_tests: find(for_tests).map(drop) }
    }

    /// What the commands of the steps are told.
    pub(super) fn chosen(&self) -> Sandbox {
        self.of_agents.as_ref().copied().unwrap_or_default()
    }
}

fn word(kind: BackendKind) -> Sandbox {
    match kind {
        BackendKind::None => Sandbox::None,
        BackendKind::Bubblewrap => Sandbox::Bubblewrap,
        BackendKind::Docker => Sandbox::Docker,
        BackendKind::Podman => Sandbox::Podman,
        BackendKind::Landlock => Sandbox::Landlock,
    }
}
