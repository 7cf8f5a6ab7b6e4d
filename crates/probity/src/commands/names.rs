//! `names`: links under the names of the tools that probity stands in for.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_report::Table;

use crate::{exit::Exit, failure::Failure, name::Name, screen, streams};

pub(crate) fn list(dir: Option<PathBuf>) -> anyhow::Result<Exit> {
    let binary = this_program()?;
    let dir = directory(dir, &binary)?;
    let mut table = Table::default();
    for name in Name::OTHERS {
        let state = state(&dir.join(name.as_str()), &binary)?;
        table.row([name.as_str(), state.as_str(), name.about()].map(str::to_owned));
    }
    screen::print(&table.text(0))?;
    Ok(Exit::Clean)
}

pub(crate) fn install(dir: Option<PathBuf>, names: &[String]) -> anyhow::Result<Exit> {
    let binary = this_program()?;
    let dir = directory(dir, &binary)?;
    each(&chosen(names)?, &dir, |path| install_one(path, &binary))
}

pub(crate) fn remove(dir: Option<PathBuf>, names: &[String]) -> anyhow::Result<Exit> {
    let binary = this_program()?;
    let dir = directory(dir, &binary)?;
    each(&chosen(names)?, &dir, |path| remove_one(path, &binary))
}

fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot tell where this program is")
}

/// What stands where a link would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Absent,
    Installed,
    Foreign,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "not installed",
            Self::Installed => "installed",
            Self::Foreign => "another tool",
        }
    }
}

fn state(path: &Path, binary: &Path) -> anyhow::Result<State> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::Absent),
        Err(error) => Err(error).with_context(|| format!("cannot look at {}", path.display())),
        // A link of ours points at this very binary; a dangling link is somebody else's business.
        Ok(_) => match (path.canonicalize(), binary.canonicalize()) {
            (Ok(target), Ok(own)) if target == own => Ok(State::Installed),
            _ => Ok(State::Foreign),
        },
    }
}

/// Does the work for every name; one that cannot be done does not stop the others.
fn each(
    names: &[Name],
    dir: &Path,
    work: impl Fn(&Path) -> anyhow::Result<String>,
) -> anyhow::Result<Exit> {
    let mut out = streams::stdout().lock();
    let mut failed = Vec::new();
    for name in names {
        match work(&dir.join(name.as_str())) {
            Ok(done) => writeln!(out, "{done}")?,
            Err(error) => failed.push(format!("{error:#}")),
        }
    }
    if failed.is_empty() {
        return Ok(Exit::Clean);
    }
    Err(Failure::new(
        failed.join("\n"),
        "move it away first, or choose another directory with --dir",
    )
    .into())
}

fn install_one(path: &Path, binary: &Path) -> anyhow::Result<String> {
    match state(path, binary)? {
        State::Installed => Ok(format!("{} already exists", path.display())),
        State::Foreign => {
            anyhow::bail!("{} is another tool's file and stays as it is", path.display())
        }
        State::Absent => {
            link(binary, path).with_context(|| format!("cannot make {}", path.display()))?;
            Ok(format!("{} -> {}", path.display(), binary.display()))
        }
    }
}

fn remove_one(path: &Path, binary: &Path) -> anyhow::Result<String> {
    match state(path, binary)? {
        State::Absent => Ok(format!("{} is not there", path.display())),
        State::Foreign => {
            anyhow::bail!("{} is another tool's file and stays as it is", path.display())
        }
        State::Installed if fs::symlink_metadata(path)?.is_symlink() => {
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
            Ok(format!("{} removed", path.display()))
        }
        State::Installed => {
            anyhow::bail!("{} is probity itself and stays as it is", path.display())
        }
    }
}

#[cfg(unix)]
fn link(binary: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(binary, path)
}

#[cfg(not(unix))]
fn link(binary: &Path, path: &Path) -> io::Result<()> {
    fs::hard_link(binary, path)
}

fn directory(dir: Option<PathBuf>, binary: &Path) -> anyhow::Result<PathBuf> {
    let dir = dir.or_else(|| binary.parent().map(Path::to_path_buf)).unwrap_or_default();
    if dir.is_dir() {
        return Ok(dir);
    }
    Err(Failure::new(
        format!("{} is not a directory", dir.display()),
        "make it first, or choose another with --dir",
    )
    .into())
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<Name>> {
    if names.is_empty() {
        return Ok(Name::OTHERS.to_vec());
    }
    names
        .iter()
        .map(|wanted| {
            Name::OTHERS.into_iter().find(|name| name.as_str() == wanted).ok_or_else(|| {
                let all: Vec<&str> = Name::OTHERS.iter().map(|name| name.as_str()).collect();
                Failure::new(
                    format!("`{wanted}` is not a name that probity answers to"),
                    format!("the names are {}", all.join(", ")),
                )
                .into()
            })
        })
        .collect()
}
