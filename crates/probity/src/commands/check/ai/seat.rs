//! Where the agent of a fix sits: bubblewrap by itself, and what the report says about it.

use std::{
    io::{self, Write as _},
    path::Path,
    sync::{Arc, OnceLock},
};

use probity_agent::{AgentRef, Seat};
use probity_sandbox::{
    Backend, Choice, Kind, Machine, Preference, Spec, choose as choose_backend, probe,
};

use super::agent::Chosen;
use crate::{
    commands::agent::{
        place::{Belongings, seat, with_files},
        programs,
    },
    config::AiSandbox,
    containment::users_variables,
};

/// Looks at the machine once for all files.
#[derive(Default)]
pub(super) struct Seats {
    machine: OnceLock<Machine>,
}

/// A seat, and what contains whoever sits in it.
pub(super) struct Named {
    pub(super) seat: Seat,
    pub(super) name: String,
}

impl Seats {
    /// The agent with its files where it can see them, and its seat; or why it has none.
    pub(super) fn of(
        &self,
        chosen: Chosen,
        sandbox: AiSandbox,
        directory: &Path,
    ) -> Result<(Chosen, Named), String> {
        if let AgentRef::Replay(_) = chosen.reference {
            let spec = Spec::new(["replay"], "/");
            let seat = Seat { backend: Backend::None, spec, stderr: None };
            let name = "nothing, since a recording starts no process".to_owned();
            return Ok((chosen, Named { seat, name }));
        }
        let (reference, files) = with_files(chosen.reference.clone());
        let chosen = Chosen { reference, ..chosen };
        let program = chosen.program().unwrap_or_default();
        let Some(found) = programs::find(program) else {
            return Err(format!("`{program}` is not a program in your PATH"));
        };
        let (backend, name) = self.backend(sandbox, chosen.is_files_command)?;
        let in_words = |error: anyhow::Error| format!("{error:#}");
        let belongings = match chosen.known() {
            Some(agent) if backend != Backend::None => Belongings::of(agent).map_err(in_words)?,
            _ => Belongings::none(),
        };
        let variables = users_variables().map_err(in_words)?;
        let mut seat = seat(&backend, Some(&found), belongings, &variables).map_err(in_words)?;
        match backend {
            Backend::None => {
                let here = directory.canonicalize().map_err(|error| error.to_string())?;
                seat.spec.cwd = here;
            }
            _ => seat.spec.mounts.extend(files),
        }
        if tracing::enabled!(tracing::Level::INFO) {
            // Whoever asked for more wants to see what the agent says while it works.
            seat.stderr = Some(Arc::new(|piece| drop(io::stderr().write_all(piece.as_bytes()))));
        }
        Ok((chosen, Named { seat, name }))
    }

    fn backend(
        &self,
        sandbox: AiSandbox,
        is_files_command: bool,
    ) -> Result<(Backend, String), String> {
        let preference = match sandbox {
            AiSandbox::None => return Ok((Backend::None, "nothing, as asked for".to_owned())),
            AiSandbox::Auto => Preference::BubblewrapFirst,
            AiSandbox::Bubblewrap => Preference::Only(Kind::Bubblewrap),
            AiSandbox::Docker | AiSandbox::Podman => {
                return Err("docker and podman cannot contain the agent of a fix yet".to_owned());
            }
        };
        let machine = self.machine.get_or_init(probe);
        // Engines take part only where they are named.
        let no_image = |_: Kind, _: &_| Err("not named".to_owned());
        let Choice { chosen, reasons } = choose_backend(preference, machine, &no_image);
        match (chosen, sandbox) {
            (Some((Kind::Bubblewrap, program)), _) => {
                Ok((Backend::Bubblewrap { program }, "bubblewrap".to_owned()))
            }
            (_, AiSandbox::Auto) if is_files_command => Err(format!(
                "nothing can contain the command of a configuration file here ({}); if you trust \
                 it, --ai-sandbox none runs it as you",
                reasons.join("; ")
            )),
            (_, AiSandbox::Auto) => Ok((Backend::None, format!("nothing: {}", reasons.join("; ")))),
            _ => Err(format!("bubblewrap cannot be used: {}", reasons.join("; "))),
        }
    }
}
