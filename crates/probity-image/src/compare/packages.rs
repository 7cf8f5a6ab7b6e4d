//! Packages of Python and Node.js, by name: where they are is their tools' affair.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::Pair;
use crate::{Difference, Root};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let (before, after) = (&pair.original.root, &pair.proposal.root);
    let now = python(after);
    let lost = python(before).into_iter().filter(|name| !now.contains(name));
    let mut found: Vec<Difference> = lost
        .filter(|name| !is_python_tool(name))
        .map(|package| Difference::PackageMissing { runtime: "Python", package })
        .collect();
    for (directory, package) in node(before) {
        if !after.has_directory(&format!("{directory}/{package}")) {
            found.push(Difference::PackageMissing { runtime: "Node.js", package });
        }
    }
    found
}

/// Names from `NAME-VERSION.dist-info`.
fn python(root: &Root) -> BTreeSet<String> {
    let files = root.iter().filter(|(path, _)| path.ends_with(".dist-info/METADATA"));
    files
        .filter_map(|(path, _)| {
            let directory = path.rsplit('/').nth(1)?;
            let (name, _) = directory.strip_suffix(".dist-info")?.rsplit_once('-')?;
            Some(name.to_lowercase().replace(['-', '.'], "_"))
        })
        .collect()
}

/// Packages that install or test other packages; a program does not need them at run time.
fn is_python_tool(name: &str) -> bool {
    const TOOLS: [&str; 15] = [
        "pip",
        "setuptools",
        "wheel",
        "build",
        "poetry",
        "poetry_core",
        "pipenv",
        "virtualenv",
        "uv",
        "pytest",
        "tox",
        "mypy",
        "ruff",
        "black",
        "cython",
    ];
    TOOLS.contains(&name)
}

/// What a `package.json` lists for running, where it is installed beside it.
fn node(root: &Root) -> Vec<(String, String)> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Manifest {
        dependencies: std::collections::BTreeMap<String, serde_json::Value>,
    }
    let manifests = root.iter().filter(|(path, entry)| {
        entry.is_file()
            && path.ends_with("/package.json")
            && !path.contains("/lib/node_modules/")
            && !path.starts_with("usr/share/")
    });
    let mut found = Vec::new();
    for (path, _) in manifests {
        let Some(text) = root.text(path) else { continue };
        let Ok(manifest) = serde_json::from_str::<Manifest>(&text) else { continue };
        // Packages that only developers need bring along others; only the program's own manifest
        // and those of its dependencies count, and the first is outside of any package.
        if path.contains("/node_modules/") {
            continue;
        }
        let above = path.trim_end_matches("/package.json");
        let directory = format!("{above}/node_modules");
        for package in manifest.dependencies.into_keys() {
            if root.has_directory(&format!("{directory}/{package}")) {
                found.push((directory.clone(), package));
            }
        }
    }
    found
}
