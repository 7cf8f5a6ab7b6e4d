//! Which packages pip must install for those of conda, and what their wheels need of the image.

use std::collections::BTreeSet;

use probity_lint::{CondaPackage, conda_package, conda_parts};

use super::{Item, Pip, Plan, system};
use crate::checks::{
    Change, Check, Issue,
    conda::{WHEELS, is_same_version, pip_parts},
    slim_packages::is_of_full_image,
};

/// Packages that install others.
const TOOLS: &[&str] = &["pip", "setuptools", "uv", "virtualenv", "wheel"];

/// What the index of PyTorch has.
const TORCH: &[&str] = &["torch", "torchaudio", "torchvision"];

/// Packages of Debian without which a wheel does not load, any of each list.
const LIBRARIES: &[(&str, &[&[&str]])] = &[
    ("cairosvg", &[&["libcairo2"]]),
    ("graphviz", &[&["graphviz"]]),
    ("lightgbm", &[&["libgomp1"]]),
    ("opencv-python", &[&["libgl1", "libgl1-mesa-glx"], &["libglib2.0-0", "libglib2.0-0t64"]]),
    ("psycopg2", &[&["libpq5", "libpq-dev"]]),
    ("pyodbc", &[&["unixodbc", "unixodbc-dev", "libodbc2"]]),
    ("pytesseract", &[&["tesseract-ocr"]]),
];

/// Packages without a wheel: what compiles them.
const SOURCES: &[(&str, &[&[&str]])] =
    &[("psycopg2", &[&["gcc", "build-essential"], &["libpq-dev"]])];

/// Packages that even the full Python image lacks.
const NEVER: &[&str] = &["graphviz", "libgl1", "tesseract-ocr"];

/// Programs that conda has too.
const PROGRAMS: &[&str] = &["ffmpeg", "graphviz", "jq", "poppler-utils", "tesseract-ocr"];

/// What is installed beside Python, by stage.
pub(super) struct ImageParts<'p> {
    pub(super) here: BTreeSet<&'p str>,
    pub(super) last: BTreeSet<&'p str>,
    pub(super) is_full: bool,
}

pub(super) fn is_tools(pip: &Pip) -> bool {
    pip.requirements.iter().all(|requirement| TOOLS.contains(&pip_parts(requirement).0))
}

/// Whether a requirement is about files that a step must have brought.
pub(super) fn is_file(requirement: &str) -> bool {
    requirement.starts_with("-r ") || requirement.starts_with("-e ") || requirement.starts_with('.')
}

/// A package of Debian that a requirement needs and that is not there.
pub(super) fn lacking(requirement: &str, parts: &ImageParts<'_>) -> Option<&'static str> {
    let (name, _) = pip_parts(requirement);
    let needs = |table: &'static [(&str, &[&[&str]])]| {
        let row = table.iter().find(|(wheel, _)| *wheel == name);
        row.map(|(_, needs)| *needs).unwrap_or_default().iter()
    };
    let is_there = |any: &[&'static str], has: &BTreeSet<&str>| {
        any.iter()
            .any(|package| has.contains(package) || (parts.is_full && !NEVER.contains(package)))
    };
    let missing = needs(LIBRARIES).find(|any| !is_there(any, &parts.last));
    let missing = missing.or_else(|| needs(SOURCES).find(|any| !is_there(any, &parts.here)));
    missing.and_then(|any| any.first().copied())
}

pub(super) fn wheels_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (old, new) = (Plan::before(change), Plan::after(change));
    let mut issues: Vec<Issue> = Vec::new();
    let mut fault = |message: &str| issues.push(change.issue(check, message));
    let requirements: Vec<&str> =
        new.pips().flat_map(|pip| &pip.requirements).map(String::as_str).collect();
    let mut used: Vec<&str> = Vec::new();
    let packages = system(&new.last);
    let condas = old.all().filter_map(|item| match item {
        Item::Conda(packages) => Some(packages),
        _ => None,
    });
    let mut wants_cpu = false;
    let mut programs: Vec<&str> = PROGRAMS.to_vec();
    for package in condas.flatten() {
        let (name, version) = conda_parts(package);
        wants_cpu |= name == "cpuonly";
        match conda_package(name) {
            Some(CondaPackage::Wheel(names)) => {
                let is_named = |requirement: &&&str| {
                    names
                        .iter()
                        .any(|name| name.replace(['_', '.'], "-") == pip_parts(requirement).0)
                };
                let mut found = requirements.iter().filter(is_named);
                match found.find(|requirement| is_same_version(version, pip_parts(requirement).1)) {
                    Some(found) => used.push(found),
                    None => fault(&format!(
                        "pip must install `{}` in the version that `{package}` asks for",
                        names.join("` or `")
                    )),
                }
            }
            Some(CondaPackage::System(name)) => {
                programs.push(name);
                if !packages.contains(name) {
                    fault(&format!("conda installed `{package}`; install the package {name}"));
                }
            }
            Some(_) => {}
            None => fault(&format!("probity does not know what PyPI calls `{package}`")),
        }
    }
    let known: Vec<&Pip> = old.pips().collect();
    for requirement in known.iter().flat_map(|pip| &pip.requirements) {
        if requirements.contains(&requirement.as_str()) || TOOLS.contains(&requirement.as_str()) {
            used.push(requirement)
        } else {
            fault(&format!("pip no longer installs `{requirement}`"))
        }
    }
    let more = requirements.iter().find(|requirement| {
        !used.contains(requirement) && !TOOLS.contains(&pip_parts(requirement).0)
    });
    if let Some(more) = more {
        fault(&format!("neither conda nor pip installed `{more}`"));
    }
    let lost = system(&old.last).into_iter().find(|package| {
        let is_care = matches!(*package, "bzip2" | "ca-certificates" | "curl" | "wget" | "gnupg");
        !packages.contains(package) && !super::is_compiler(package) && !is_care
    });
    if let Some(lost) = lost {
        fault(&format!("the new file does not install the package {lost}"));
    }
    let was = system(&old.last);
    let is_known = |package: &&&str| {
        let mut libraries = LIBRARIES.iter().flat_map(|(_, lists)| *lists);
        was.contains(*package)
            || is_of_full_image(package)
            || programs.contains(*package)
            || libraries.any(|any| any.contains(*package))
    };
    if let Some(more) = packages.iter().find(|package| !is_known(package)) {
        fault(&format!("nothing here needs the package {more}"));
    }
    let cpu = format!("{WHEELS}cpu");
    for pip in new.pips() {
        let has_torch =
            pip.requirements.iter().any(|requirement| TORCH.contains(&pip_parts(requirement).0));
        let is_only =
            pip.requirements.iter().all(|requirement| TORCH.contains(&pip_parts(requirement).0));
        match &pip.index {
            None if has_torch && wants_cpu => fault(&format!("`{cpu}` is the index for `cpuonly`")),
            None => {}
            Some(index) if known.iter().any(|earlier| earlier.index.as_ref() == Some(index)) => {}
            Some((index, is_whole)) if *index == cpu && has_torch && (is_only || !is_whole) => {}
            Some((index, _)) => fault(&format!("nothing here needs the index `{index}`")),
        }
    }
    issues.truncate(3);
    issues
}
