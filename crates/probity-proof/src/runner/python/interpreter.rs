//! The Python interpreters of the machine, and what they say of themselves.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use probity_scope::HeldDirectory;
use serde::Deserialize;

use crate::{
    host::{self, HostTools},
    places::read_text,
    runner::{context::RunnerContext, succeeded},
};

use super::environments;

/// An interpreter of the machine, by what it says of itself.
#[derive(Debug, Clone, Deserialize)]
pub(in crate::runner) struct Interpreter {
    pub(super) executable: PathBuf,
    /// Its own directory, that of the installation it is made from, and those that it imports from.
    pub(super) directories: Vec<PathBuf>,
    pub(super) has_pytest: bool,
}

const ASK: &str = "import importlib.util, json, sys; print(json.dumps({'executable': sys.executable, \
    'directories': [sys.prefix, sys.base_prefix, *sys.path], \
    'has_pytest': importlib.util.find_spec('pytest') is not None}))";

/// Where version managers keep interpreters, from the directory that a variable names or, below the
/// home, from the usual one.
const MANAGED: [(&str, &str, &str); 5] = [
    ("PYENV_ROOT", ".pyenv", "versions"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", ""),
    ("ASDF_DATA_DIR", ".asdf", "installs/python"),
    ("MISE_DATA_DIR", ".local/share/mise", "installs/python"),
    ("AGENT_TOOLSDIRECTORY", "/opt/hostedtoolcache", "Python"),
];

/// What the machine has: the interpreters that answered, and the programs that did not.
#[derive(Debug, Default)]
pub(in crate::runner) struct Interpreters {
    pub(super) found: Vec<Interpreter>,
    pub(super) silent: Vec<PathBuf>,
}

/// An interpreter that runs no tests here, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedInterpreter {
    pub path: PathBuf,
    pub why: NotTaken,
}

/// Why an interpreter runs no tests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    #[error("pytest is not installed")]
    NoPytest,
    #[error("it does not answer")]
    Silent,
    #[error("it has no pyvenv.cfg")]
    NoSettings,
    #[error("no known interpreter is at {}, which it is made from", .0.display())]
    UnknownBase(PathBuf),
}

/// All interpreters of the machine: the active environment's first, then those that tools made for
/// this repository, then those on the path.
pub(in crate::runner) fn interpreters(
    host: &HostTools<'_>,
    repo: &Path,
    files: &HeldDirectory,
) -> Interpreters {
    let context = host.context;
    let active = context.variable("VIRTUAL_ENV").map(|root| Path::new(root).join("bin/python"));
    let is_inside = |path: &Path| {
        let directory = host::real_path(path.parent().unwrap_or(path));
        directory.is_none_or(|real| real.starts_with(repo))
    };
    let active = active.filter(|path| !is_inside(path));
    let on_path = context.programs(|name| {
        let rest = name.strip_prefix("python");
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    });
    // pyenv's choice of a version, by its name alone: one that is not installed is not asked for.
    let wanted = read_text(files, ".python-version").unwrap_or_default();
    let wanted = wanted.lines().next().map(str::trim).filter(|version| {
        !version.is_empty()
            && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
    });
    let mut all = Interpreters::default();
    let of_tools = environments::of_tools(context, repo).into_iter();
    let candidates = active.into_iter().chain(of_tools).chain(on_path);
    // One file in one directory, whatever names and links lead there.
    let mut seen = BTreeSet::new();
    let mut is_new = |path: &PathBuf| {
        seen.insert((host::real_path(path), path.parent().and_then(host::real_path)))
    };
    for path in candidates.filter(|path| host::is_file(path) && is_new(path)) {
        let answer = |variables: &[(&str, &str)]| {
            let ran = succeeded(host.ask(&path, &["-I", "-c", ASK], variables)).ok()?;
            serde_json::from_slice::<Interpreter>(&ran.stdout).ok()
        };
        let chosen = wanted.and_then(|version| answer(&[("PYENV_VERSION", version)]));
        match chosen.or_else(|| answer(&[])) {
            Some(one) if all.found.iter().any(|known| known.is_same(&one)) => {}
            Some(one) => all.found.push(one),
            None => all.silent.push(path),
        }
    }
    all
}

impl Interpreter {
    /// Whether both are one program in one environment, whatever it was called by.
    fn is_same(&self, other: &Self) -> bool {
        let program =
            |one: &Self| host::real_path(&one.executable).unwrap_or_else(|| one.executable.clone());
        self.directories.first() == other.directories.first() && program(self) == program(other)
    }

    /// Whether this directory is the one that it is installed in.
    pub(super) fn is_made_from(&self, base: &Path) -> bool {
        let installed = self.directories.get(1).and_then(|path| host::real_path(path));
        installed.is_some_and(|installed| installed == base)
    }
}

/// Whether a directory is one in which a version manager has installed an interpreter.
pub(super) fn is_managed(context: &RunnerContext, base: &Path) -> bool {
    let home = context.variable("HOME").map(Path::new).unwrap_or(Path::new("/nonexistent"));
    MANAGED.iter().any(|(variable, usual, below)| {
        let root = context.variable(variable).map_or_else(|| home.join(usual), PathBuf::from);
        let real = host::real_path(&root.join(below));
        real.is_some_and(|real| {
            base.parent().is_some_and(|parent| parent == real || parent.parent() == Some(&real))
        })
    })
}
