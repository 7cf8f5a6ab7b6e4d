//! Every package we build with can be had under a licence that we allow.

use serde::Deserialize;

use super::{Problem, deny, spdx::satisfied, workspace::Workspace};
use crate::{cargo, output};

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let deny = match deny::read(workspace) {
        Ok(deny) => deny,
        Err(problem) => return vec![problem],
    };
    let resolved = match resolve(workspace) {
        Ok(resolved) => resolved,
        Err(error) => {
            return vec![Problem::new(
                "Cargo.lock",
                None,
                format!("cannot be resolved: {error}"),
                "licences are read from what cargo resolves offline: bring Cargo.lock up to date \
                 with any `cargo check`, and commit it",
            )];
        }
    };
    let mut problems: Vec<Problem> = resolved
        .packages
        .iter()
        .filter_map(|package| problem(package, &deny.licenses.allow))
        .collect();
    if let Some(platform) = resolved.only_platform {
        let what = format!("only the licences of packages for {platform} were looked at");
        let why = "the packages for other platforms are not downloaded; `cargo fetch` gets them";
        problems.push(Problem::new("Cargo.lock", None, what, why).into_note());
    }
    problems
}

fn problem(package: &Package, allowed: &[String]) -> Option<Problem> {
    let name = format!("{} {}", package.name, package.version);
    let (what, why) = match package.license.as_deref() {
        None => (
            format!("{name} does not say its licence"),
            "what says no licence grants none: use another package",
        ),
        Some(expression) => match satisfied(expression, allowed) {
            Ok(true) => return None,
            Ok(false) => (
                format!("{name} has the licence `{expression}`"),
                "it cannot be satisfied with the licences that deny.toml allows: use another \
                 package, or allow the licence in a commit that says why",
            ),
            Err(error) => (
                format!("{name} has the licence `{expression}`: {error}"),
                "an expression that cannot be read cannot be satisfied: use another package",
            ),
        },
    };
    Some(Problem::new("Cargo.lock", None, what, why))
}

struct Resolved {
    packages: Vec<Package>,
    only_platform: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
}

/// All packages if they are all on this machine, else those of its own platform: cargo downloads
/// the others only when asked to, and tidy works offline.
fn resolve(workspace: &Workspace) -> Result<Resolved, String> {
    if let Ok(packages) = metadata(workspace, &[]) {
        return Ok(Resolved { packages, only_platform: None });
    }
    let platform = host(workspace)?;
    let packages = metadata(workspace, &["--filter-platform", &platform])?;
    Ok(Resolved { packages, only_platform: Some(platform) })
}

fn metadata(workspace: &Workspace, arguments: &[&str]) -> Result<Vec<Package>, String> {
    let mut command = cargo(&workspace.root);
    command.args(["metadata", "--format-version", "1", "--offline", "--locked"]).args(arguments);
    let metadata: Metadata = serde_json::from_slice(&output(command)?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    Ok(metadata.packages)
}

fn host(workspace: &Workspace) -> Result<String, String> {
    let mut command = cargo(&workspace.root);
    command.args(["--version", "--verbose"]);
    let text = output(command)?;
    let text = String::from_utf8_lossy(&text);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "cargo does not say its host".to_owned())
}
