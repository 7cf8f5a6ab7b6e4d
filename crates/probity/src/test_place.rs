//! Where tests of agents run: what contains them, and where their build caches are.

use std::{
    env,
    path::{Path, PathBuf},
};

use probity_proof::FetchOptions;
use probity_sandbox::{Allowlist, Backend, BackendKind, Choice, Preference, choose_here};
use probity_seat::{Sandbox, Unseated};

use crate::{config::table::review::Review, failure::Failure};

/// What contains the tests of a command whose flag for sandboxes says `wanted`. Images of engines lack the
/// tools of tests: there, it says something about the agent alone.
pub(crate) fn test_sandbox(wanted: Sandbox, flag: &'static str) -> Result<Backend, Failure> {
    let preference = match wanted {
        Sandbox::Bubblewrap | Sandbox::Landlock => wanted.preference(Preference::WithoutEngines),
        // Whoever allows tests without a sandbox has one nevertheless, if it takes nothing from them.
        Sandbox::None => Preference::Only(BackendKind::Bubblewrap),
        Sandbox::Auto | Sandbox::Docker | Sandbox::Podman => Preference::WithoutEngines,
    };
    let Choice { chosen, reasons } = choose_here(preference, &|_, _| Ok(()));
    for reason in &reasons {
        tracing::info!("tests: {reason}");
    }
    match chosen {
        Some((BackendKind::Bubblewrap, program)) => Ok(Backend::Bubblewrap { program }),
        Some((BackendKind::Landlock, _)) => Ok(Backend::Landlock),
        _ if wanted == Sandbox::None => {
            tracing::warn!("tests run without a sandbox, with all your rights: you asked for none");
            Ok(Backend::None)
        }
        _ => Err(Unseated::NoSandbox { occupant: "tests", reasons, image: None, flag }.into()),
    }
}

/// Where build caches stay from one run to the next, if there is such a place.
pub(crate) fn proof_caches() -> Option<PathBuf> {
    let text = |name: &str| env::var_os(name).filter(|text| !text.is_empty());
    let base = text("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(text("HOME")?).join(".cache"));
    Some(base.filter(|base| base.is_absolute()).or_else(home)?.join("probity/proofs"))
}

/// What fetches of dependencies get: public hosts, and what the user's own settings name.
pub(crate) fn fetches(settings: &Review) -> Option<FetchOptions> {
    let hosts = ["*"].into_iter().chain(settings.fetch_hosts.iter().map(String::as_str));
    let hosts = Allowlist::parse(&hosts.collect::<Vec<_>>()).ok()?;
    let named = settings.fetch_env.iter();
    let environment = named.filter_map(|name| Some((name.into(), env::var_os(name)?))).collect();
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let files = settings.fetch_files.iter().map(|file| below_home(&home, file)).collect();
    Some(FetchOptions { hosts, environment, files })
}

/// A file as settings name it.
fn below_home(home: &Path, file: &str) -> PathBuf {
    home.join(file.strip_prefix("~/").unwrap_or(file))
}
