//! Shims: small programs by which version managers (pyenv, asdf, volta, mise and their like) start
//! the version that is chosen. The manager says which program that is.
//!
//! A shim needs its manager and all of its versions; the program needs only itself. So it is the
//! program that a sandbox is shown.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::{Backend, Exit, Limits, Network, Spec, run};

use crate::programs::{beginning, is_program};

/// A manager that takes longer is not asked.
const PATIENCE: Duration = Duration::from_secs(10);

const MOST_BYTES: u64 = 64 << 10;

/// The program that a shim stands for; nothing for a program that is none.
pub(crate) fn real_program(shim: &Path) -> Option<PathBuf> {
    let name = shim.file_name()?.to_str()?;
    let manager = manager(shim)?;
    let said = ask(&manager, name)?;
    let program = PathBuf::from(said.lines().last()?.trim());
    (program.is_absolute() && program != shim && is_program(&program)).then_some(program)
}

/// The manager whose shim this is: the target of the link, or what the script hands over to.
fn manager(shim: &Path) -> Option<PathBuf> {
    let real = shim.canonicalize().ok()?;
    match real.file_name()?.to_str()? {
        "volta-shim" => return Some(real.with_file_name("volta")),
        manager @ ("mise" | "rtx") if shim.file_name()? != manager => return Some(real),
        _ => {}
    }
    let text = beginning(shim);
    let handed_over = text.lines().filter_map(|line| line.trim_start().strip_prefix("exec "));
    handed_over
        .filter_map(|rest| {
            let mut words = rest.split_whitespace();
            let program = words.next()?.trim_matches(['"', '\'']);
            (words.next()? == "exec").then(|| PathBuf::from(program))
        })
        .find_map(|manager| if manager.is_absolute() { Some(manager) } else { on_path(&manager) })
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(name)).find(|file| is_program(file))
}

/// Asks in the home directory: what lies in a workspace must not choose what is started.
fn ask(manager: &Path, name: &str) -> Option<String> {
    let home = crate::state::absolute("HOME").filter(|home| home.is_dir());
    let argv = [manager.as_os_str(), "which".as_ref(), name.as_ref()];
    let mut spec = Spec::new(argv, home.unwrap_or_else(|| PathBuf::from("/")));
    spec.env = env::vars_os().filter(|(name, _)| name != "PWD").collect();
    spec.network = Network::Open;
    spec.limits = Limits { wall: Some(PATIENCE), output: Some(MOST_BYTES), ..Limits::default() };
    match run(&Backend::None, &spec, b"") {
        Ok(outcome) if outcome.exit == Exit::Code(0) => String::from_utf8(outcome.stdout).ok(),
        Ok(outcome) => {
            tracing::info!("{} which {name} ended with {:?}", manager.display(), outcome.exit);
            None
        }
        Err(error) => {
            tracing::info!("{} cannot be asked for {name}: {error}", manager.display());
            None
        }
    }
}
