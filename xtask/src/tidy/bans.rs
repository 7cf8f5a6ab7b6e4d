//! Packages that we do not build with, neither ourselves nor through others.
//!
//! Read from `Cargo.lock`, which names every package of every platform, downloaded or not.

use serde::Deserialize;

use super::{
    Problem,
    deny::{self, Ban},
    workspace::Workspace,
};

const LOCK: &str = "Cargo.lock";

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    // A missing or broken deny.toml is the licence check's to report.
    let Ok(deny) = deny::read(workspace) else { return Vec::new() };
    let lock = workspace
        .read(LOCK)
        .and_then(|text| toml::from_str::<Lock>(&text).map_err(|error| format!("{LOCK}: {error}")));
    let lock = match lock {
        Ok(lock) => lock,
        Err(error) => {
            let why = "bans are checked against the locked packages: commit what cargo writes";
            return vec![Problem::new(LOCK, None, error.trim_end(), why)];
        }
    };
    deny.bans.deny.iter().flat_map(|ban| check_ban(ban, &lock)).collect()
}

fn check_ban(ban: &Ban, lock: &Lock) -> Vec<Problem> {
    let mut problems = Vec::new();
    if ban.reason.is_empty() || ban.use_instead.is_empty() {
        problems.push(Problem::new(
            deny::FILE,
            None,
            format!("the ban of {} lacks its `reason` or its `use-instead`", ban.package),
            "whoever meets a ban needs to know why and what to do: write both",
        ));
    }
    for package in &lock.package {
        if package.names(&ban.package) && !ban.wrappers.contains(&package.name) {
            problems.push(Problem::new(
                LOCK,
                None,
                format!("{} -> {}: a banned package", package.name, ban.package),
                format!("{}; use {} instead", ban.reason, ban.use_instead),
            ));
        }
    }
    problems
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    /// `name`, or `name version` where several versions are locked.
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Package {
    fn names(&self, other: &str) -> bool {
        self.dependencies.iter().any(|entry| entry.split(' ').next() == Some(other))
    }
}
