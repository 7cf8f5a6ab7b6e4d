//! Where the agent of a fix sits: bubblewrap by itself, an engine where it is named, and what the
//! report says about it.

use std::{
    io::{self, Write as _},
    path::Path,
    sync::{Arc, OnceLock},
};

use probity_agent::{AgentRef, Seat};
use probity_sandbox::{
    Backend, Choice, Kind, Machine, Mount, Preference, Spec, choose as choose_backend, probe,
};

use super::{agent::Chosen, engine::Engines};
use crate::{
    commands::agent::{
        place::{Belongings, HOME, seat, with_files},
        programs,
    },
    config::words::Sandbox,
    containment::users_variables,
};

/// Looks at the machine once for all files.
#[derive(Default)]
pub(super) struct Seats {
    machine: OnceLock<Machine>,
    engines: Engines,
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
        sandbox: Sandbox,
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
        let named = match sandbox {
            Sandbox::Docker => self.in_container(&chosen, Kind::Docker, files),
            Sandbox::Podman => self.in_container(&chosen, Kind::Podman, files),
            _ => self.on_this_machine(&chosen, sandbox, directory, files),
        };
        let Named { mut seat, name } = named?;
        if tracing::enabled!(tracing::Level::INFO) {
            // Whoever asked for more wants to see what the agent says while it works.
            seat.stderr = Some(Arc::new(|piece| drop(io::stderr().write_all(piece.as_bytes()))));
        }
        Ok((chosen, Named { seat, name }))
    }

    fn on_this_machine(
        &self,
        chosen: &Chosen,
        sandbox: Sandbox,
        directory: &Path,
        files: Vec<Mount>,
    ) -> Result<Named, String> {
        let program = chosen.program().unwrap_or_default();
        let Some(found) = programs::find(program) else {
            return Err(format!("`{program}` is not a program in your PATH"));
        };
        let (backend, name) = self.backend(sandbox, chosen.is_files_command)?;
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
        Ok(Named { seat, name })
    }

    /// A program by its bare name is the image's own; one by its path is shown to the container.
    fn in_container(
        &self,
        chosen: &Chosen,
        kind: Kind,
        files: Vec<Mount>,
    ) -> Result<Named, String> {
        let program = chosen.program().unwrap_or_default();
        let found = program.contains('/').then(|| programs::find(program)).flatten();
        let engine = Engines::find(kind)?;
        let belongings = match chosen.known() {
            Some(agent) => Belongings::of(agent).map_err(in_words)?,
            None => Belongings::none(),
        };
        let variables = users_variables().map_err(in_words)?;
        let placeholder = Backend::Engine(engine.clone());
        let mut seat =
            seat(&placeholder, found.as_deref(), belongings, &variables).map_err(in_words)?;
        let spec = &mut seat.spec;
        // The image knows best where its programs are.
        spec.env.retain(|(name, _)| name != "PATH");
        spec.env.push(("HOME".into(), HOME.into()));
        if spec.mounts.iter().all(|mount| mount.inside() != Path::new(HOME)) {
            spec.mounts.insert(0, Mount::Tmpfs { inside: HOME.into(), bytes: Some(64 << 20) });
        }
        for file in files {
            // An engine takes no place twice.
            if spec.mounts.iter().all(|mount| mount.inside() != file.inside()) {
                spec.mounts.push(file);
            }
        }
        seat.backend = self.engines.rent(engine, &seat.spec.mounts)?;
        Ok(Named { seat, name: kind.name().to_owned() })
    }

    fn backend(
        &self,
        sandbox: Sandbox,
        is_files_command: bool,
    ) -> Result<(Backend, String), String> {
        let preference = match sandbox {
            Sandbox::None => return Ok((Backend::None, "nothing, as asked for".to_owned())),
            Sandbox::Auto => Preference::BubblewrapFirst,
            Sandbox::Bubblewrap => Preference::Only(Kind::Bubblewrap),
            Sandbox::Docker => Preference::Only(Kind::Docker),
            Sandbox::Podman => Preference::Only(Kind::Podman),
        };
        let machine = self.machine.get_or_init(probe);
        // Engines take part only where they are named.
        let no_image = |_: Kind, _: &_| Err("not named".to_owned());
        let Choice { chosen, reasons } = choose_backend(preference, machine, &no_image);
        match (chosen, sandbox) {
            (Some((Kind::Bubblewrap, program)), _) => {
                Ok((Backend::Bubblewrap { program }, "bubblewrap".to_owned()))
            }
            (_, Sandbox::Auto) if is_files_command => Err(format!(
                "nothing can contain the command of a configuration file here ({}); if you trust \
                 it, --ai-sandbox none runs it as you",
                reasons.join("; ")
            )),
            (_, Sandbox::Auto) => Ok((Backend::None, format!("nothing: {}", reasons.join("; ")))),
            _ => Err(format!("bubblewrap cannot be used: {}", reasons.join("; "))),
        }
    }
}

fn in_words(error: anyhow::Error) -> String {
    format!("{error:#}")
}
