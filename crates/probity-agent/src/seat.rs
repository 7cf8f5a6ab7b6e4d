//! Where an agent's process sits: what contains it, what it sees, and who hears its stderr.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
    sync::Arc,
};

use probity_sandbox::{Backend, Spec};

use crate::bounded::scrub;

/// Sees what an agent writes to stderr while it runs, piece by piece, fit for a terminal.
pub type StderrTap = Arc<dyn Fn(&str) + Send + Sync>;

/// Made by whoever knows the machine, and handed on by those who only want to ask.
#[derive(Clone)]
pub struct Seat {
    pub backend: Backend,
    /// All but the command, the streams and the time, which are the agent's and the turn's.
    pub spec: Spec,
    pub stderr: Option<StderrTap>,
}

impl Seat {
    pub(crate) fn spec(&self, argv: &[String]) -> Spec {
        let fresh = Spec::new(argv, &self.spec.cwd);
        Spec { argv: fresh.argv, streams: fresh.streams, ..self.spec.clone() }
    }

    /// The working directory, by the name that the process has for it.
    pub(crate) fn working_directory(&self) -> PathBuf {
        let cwd = &self.spec.cwd;
        if self.backend != Backend::None {
            return cwd.clone();
        }
        // Without containment there are no mounts, and the process sees the host.
        let mounts = self.spec.mounts.iter().rev();
        let host = mounts.filter_map(|mount| {
            let rest = cwd.strip_prefix(mount.inside()).ok()?;
            Some(mount.host()?.join(rest))
        });
        // Joining nothing adds a slash, which collecting the parts takes away.
        host.map(|path| path.components().collect()).next().unwrap_or_else(|| cwd.clone())
    }

    /// Takes out of a text the secrets that the agent was given in its environment.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let secrets = self.spec.env.iter().filter(|(name, _)| names_a_secret(name));
        secrets.fold(text.to_owned(), |text, (_, value)| match value.to_str() {
            // A value this short would be found in ordinary words.
            Some(value) if value.len() >= 6 => scrub(&text, value),
            _ => text,
        })
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Seat")
            .field("backend", &self.backend)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

fn names_a_secret(name: &OsString) -> bool {
    let name = OsStr::to_string_lossy(name).to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_environment_are_taken_out_of_a_text() {
        let mut spec = Spec::new(["agent"], "/");
        for (name, value) in [
            ("A_API_KEY", "abcdef-1"),
            ("B_TOKEN", "tok-xyz"),
            ("PATH", "/usr/bin"),
            ("K_KEY", "no"),
        ] {
            spec.env.push((name.into(), value.into()));
        }
        let seat = Seat { backend: Backend::None, spec, stderr: None };
        assert_eq!(seat.scrub("no abcdef-1 in /usr/bin, tok-xyz!"), "no [key] in /usr/bin, [key]!");
        assert!(!format!("{seat:?}").contains("tok-xyz"));
    }
}
