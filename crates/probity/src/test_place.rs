//! Where tests of agents run: what contains them, and where their build caches are.

use std::{
    env,
    path::{Path, PathBuf},
};

use probity_proof::FetchOptions;
use probity_sandbox::{Allowlist, Backend, BackendKind, Preference, Unusable, choose_here};

use crate::config::table::review::Review;

/// What contains the tests, whatever the user wants for the agent.
pub(crate) fn test_sandbox() -> Backend {
    let no_image = |_: BackendKind, _: &_| Err(Unusable::Unasked);
    match choose_here(Preference::Only(BackendKind::Bubblewrap), &no_image).chosen {
        Some((_, program)) => Backend::Bubblewrap { program },
        None => Backend::None,
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
