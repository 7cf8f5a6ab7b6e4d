//! Where tests of agents run: what contains them, and where their build caches are.

use std::{env, path::PathBuf};

use probity_sandbox::{Backend, BackendKind, Preference, Unusable, choose_here};

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
    let directory = base.filter(|base| base.is_absolute()).or_else(home)?.join("probity/proofs");
    // Without one a run is slower, and otherwise the same.
    std::fs::create_dir_all(&directory).ok()?;
    Some(directory)
}
