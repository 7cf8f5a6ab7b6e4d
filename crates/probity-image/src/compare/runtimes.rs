//! Versions of what programs run on: a system, an interpreter, a virtual machine.

use std::collections::BTreeMap;

use super::{Image, Pair};
use crate::{Difference, Root};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let (before, after) = (versions(pair.original), versions(pair.proposal));
    let mut found = Vec::new();
    for (runtime, before) in before {
        let Some(after) = after.get(runtime) else { continue };
        let (old, new) = (numbers(&before), numbers(after));
        let (before, after) = (before.clone(), after.clone());
        if new < old {
            found.push(Difference::RuntimeOlder { runtime, before, after });
        } else if new > old {
            found.push(Difference::RuntimeNewer { runtime, before, after });
        }
    }
    let strays = python_without_interpreter(&pair.proposal.root);
    let known = python_without_interpreter(&pair.original.root);
    let new = strays.into_iter().filter(|version| !known.contains(version));
    found.extend(
        new.map(|version| Difference::PackagesForOtherVersion { runtime: "Python", version }),
    );
    found
}

/// What an image has, by name: where its files say so, otherwise where its variables do.
fn versions(image: &Image) -> BTreeMap<&'static str, String> {
    let mut all = BTreeMap::new();
    let root = &image.root;
    all.extend(system(root));
    all.extend(python(image).map(|version| ("Python", version)));
    let release = root.iter().filter(|(path, _)| path.ends_with("/release"));
    let java = release.filter_map(|(path, _)| {
        let text = root.text(path)?;
        let line = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
        Some(line.trim_matches('"').to_owned())
    });
    all.extend(newest(java).map(|version| ("Java", version)));
    for (runtime, directory) in [
        (".NET", "usr/share/dotnet/shared/Microsoft.NETCore.App"),
        (".NET", "usr/lib/dotnet/shared/Microsoft.NETCore.App"),
    ] {
        let depth = directory.matches('/').count() + 2;
        let names = root.below(directory).filter_map(|(path, _)| {
            let mut words = path.split('/');
            words.clone().nth(depth - 1)?;
            words.nth(depth - 1).map(str::to_owned)
        });
        all.extend(newest(names).map(|version| (runtime, version)));
    }
    let packages = debian_packages(root);
    for (runtime, variable, package) in [
        ("Node.js", "NODE_VERSION", "nodejs"),
        ("PHP", "PHP_VERSION", "php-cli"),
        ("Ruby", "RUBY_VERSION", "ruby"),
    ] {
        let variable = image.configuration.environment.get(variable);
        let version = packages.get(package).or(variable);
        all.extend(version.map(|version| (runtime, version.clone())));
    }
    let header = root.iter().find(|(path, _)| path.ends_with("include/node/node_version.h"));
    let header = header.and_then(|(path, _)| root.text(path));
    all.extend(header.and_then(|text| node_header(&text)).map(|version| ("Node.js", version)));
    all
}

/// The release of a distribution; two distributions are not compared.
fn system(root: &Root) -> Option<(&'static str, String)> {
    const KNOWN: [(&str, &str); 7] = [
        ("debian", "Debian"),
        ("ubuntu", "Ubuntu"),
        ("alpine", "Alpine"),
        ("fedora", "Fedora"),
        ("rhel", "RHEL"),
        ("centos", "CentOS"),
        ("rocky", "Rocky Linux"),
    ];
    let text = root.text("etc/os-release").or_else(|| root.text("usr/lib/os-release"))?;
    let field = |name: &str| {
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.map(|value| value.trim_matches(['"', '\'']).to_owned())
    };
    let id = field("ID")?;
    let (_, name) = KNOWN.iter().find(|(known, _)| **known == id)?;
    Some((name, field("VERSION_ID")?))
}

/// The interpreter that `python3` or `python` leads to, or the newest there is.
fn python(image: &Image) -> Option<String> {
    let directories = image.configuration.path();
    let named = ["python3", "python"]
        .into_iter()
        .flat_map(|name| directories.iter().map(move |directory| format!("{directory}/{name}")));
    let led = named
        .filter_map(|path| image.root.resolve(&path))
        .find_map(|(path, _)| path.rsplit('/').next()?.strip_prefix("python").map(str::to_owned));
    led.filter(|version| version.starts_with("3.")).or_else(|| newest(pythons(&image.root)))
}

fn pythons(root: &Root) -> impl Iterator<Item = String> + '_ {
    let programs = root.iter().filter(|(_, entry)| entry.is_executable());
    programs.filter_map(|(path, _)| {
        let (above, name) = path.rsplit_once('/')?;
        let version = name.strip_prefix("python3.")?;
        let is_number = version.bytes().all(|byte| byte.is_ascii_digit());
        (above.ends_with("bin") && is_number).then(|| format!("3.{version}"))
    })
}

/// Versions that packages were installed for and that no interpreter has.
fn python_without_interpreter(root: &Root) -> Vec<String> {
    let mut wanted: Vec<String> = root
        .iter()
        .filter(|(path, entry)| entry.is_file() && path.ends_with(".dist-info/METADATA"))
        .filter_map(|(path, _)| {
            let (above, _) = path.split_once("-packages/")?;
            let directory = above.rsplit('/').nth(1)?;
            directory.strip_prefix("python3.").map(|version| format!("3.{version}"))
        })
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let present: Vec<String> = pythons(root).collect();
    wanted.retain(|version| !present.contains(version));
    wanted
}

/// Names and versions of the packages that dpkg installed.
fn debian_packages(root: &Root) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let parts = root.below("var/lib/dpkg/status.d").filter_map(|(path, _)| root.text(path));
    let texts = root.text("var/lib/dpkg/status").into_iter().chain(parts);
    for text in texts {
        let mut package = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("Package: ") {
                package = Some(name.to_owned());
            } else if let Some(version) = line.strip_prefix("Version: ") {
                let version = version.split_once(':').map_or(version, |(_, rest)| rest);
                all.extend(package.take().map(|package| (package, version.to_owned())));
            }
        }
    }
    all
}

fn node_header(text: &str) -> Option<String> {
    let number = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("#define {name} ")))?;
        line.split_whitespace().nth(2).map(str::to_owned)
    };
    Some(format!("{}.{}", number("NODE_MAJOR_VERSION")?, number("NODE_MINOR_VERSION")?))
}

fn newest(versions: impl Iterator<Item = String>) -> Option<String> {
    versions.max_by_key(|version| numbers(version))
}

/// The first two numbers: what comes after them changes without breaking anybody.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|letter: char| !letter.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).take(2).collect()
}
