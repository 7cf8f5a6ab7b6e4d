//! `probity --version`, and with `--verbose` what a report of a fault should begin with.

use std::io::Write as _;

use crate::{exit::Exit, streams};

/// The features that this crate can be built with.
const FEATURES: &[(&str, bool)] =
    &[("mimalloc", cfg!(feature = "mimalloc")), ("unstable", cfg!(feature = "unstable"))];

pub(crate) fn run(verbose: bool) -> anyhow::Result<Exit> {
    let details = if verbose { details() } else { String::new() };
    write!(streams::stdout(), "probity {}\n{details}", env!("CARGO_PKG_VERSION"))?;
    Ok(Exit::Clean)
}

fn details() -> String {
    let known = |text: &'static str| if text.is_empty() { "unknown" } else { text };
    let on: Vec<&str> = FEATURES.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let features = if on.is_empty() { "none".to_owned() } else { on.join(", ") };
    format!(
        "commit:   {}\nfeatures: {features}\nprofile:  {}\ntarget:   {}\n",
        known(env!("PROBITY_COMMIT")),
        known(env!("PROBITY_PROFILE")),
        known(env!("PROBITY_TARGET")),
    )
}
