//! The environments that tools make for a project, in the places where they keep them, and the command
//! that makes one.

use std::path::{Path, PathBuf};

use probity_scope::HeldDirectory;
use sha2::{Digest as _, Sha256};

use crate::{host, places::read_text, runner::context::RunnerContext};

/// Environments of one tool in a repository that are tried.
const MOST: usize = 12;

/// Where they are in a repository: one, or several in a directory.
const OWN: [&str; 3] = [".venv", "venv", "env"];
const SEVERAL: [&str; 2] = [".tox", ".nox"];

/// Files of a project, or words in one, and what installs all that its tests need.
const COMMANDS: [(&str, &str, &str); 8] = [
    ("uv.lock", "", "uv sync"),
    ("poetry.lock", "", "poetry install"),
    ("pyproject.toml", "[tool.poetry]", "poetry install"),
    ("pdm.lock", "", "pdm install"),
    ("Pipfile", "", "pipenv install --dev"),
    ("pyproject.toml", "[tool.hatch.envs", "hatch env create"),
    ("noxfile.py", "", "nox --install-only"),
    ("tox.ini", "", "tox --notest"),
];
const USUAL: &str = "python3 -m venv .venv && .venv/bin/pip install -e . pytest";

/// The places in a repository where an environment may be, the likeliest first.
pub(super) fn of_repository(repo: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = OWN.map(PathBuf::from).into();
    for place in SEVERAL {
        let mut names = host::names_in(&repo.join(place));
        names.sort();
        // Those for tests have these names; others check types or build documents.
        let is_for_tests = |name: &String| {
            name == "test" || name == "tests" || name.starts_with("py") || name.starts_with("test")
        };
        names.sort_by_key(|name| !is_for_tests(name));
        found.extend(names.into_iter().take(MOST).map(|name| Path::new(place).join(name)));
    }
    found
}

/// The interpreters of environments that poetry, hatch and pipenv made for this repository. They are
/// the user's own, and have a hash of the repository's path in their names.
pub(super) fn of_tools(context: &RunnerContext, repo: &Path) -> Vec<PathBuf> {
    let home = context.variable("HOME").map(PathBuf::from).unwrap_or_default();
    let directory = |variable: &str, below: &str, usual: &str| {
        let given = context.variable(variable).map(|root| Path::new(root).join(below));
        given.unwrap_or_else(|| home.join(usual).join(below))
    };
    let mut found = Vec::new();
    let own = short_hash(repo);
    let poetry = match context.variable("POETRY_VIRTUALENVS_PATH") {
        Some(path) => PathBuf::from(path),
        None if context.variable("POETRY_CACHE_DIR").is_some() => {
            directory("POETRY_CACHE_DIR", "virtualenvs", "")
        }
        None => directory("XDG_CACHE_HOME", "pypoetry/virtualenvs", ".cache"),
    };
    found.extend(named(&poetry, |name| name.contains(&format!("-{own}-py"))));
    let hatch = match context.variable("HATCH_DATA_DIR") {
        Some(path) => Path::new(path).join("env/virtual"),
        None => directory("XDG_DATA_HOME", "hatch/env/virtual", ".local/share"),
    };
    for project in named(&hatch, |_| true) {
        found.extend(named(&project.join(&own), |_| true));
    }
    let pipenv = match context.variable("WORKON_HOME") {
        Some(path) => PathBuf::from(path),
        None => directory("XDG_DATA_HOME", "virtualenvs", ".local/share"),
    };
    let of_pipfile = short_hash(&repo.join("Pipfile"));
    found.extend(named(&pipenv, |name| name.ends_with(&format!("-{of_pipfile}"))));
    found.into_iter().map(|root| root.join("bin/python")).collect()
}

/// The directories of such names in another one.
fn named(directory: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut names = host::names_in(directory);
    names.retain(|name| is_wanted(name));
    names.sort();
    names.into_iter().take(MOST).map(|name| directory.join(name)).collect()
}

/// The beginning of the hash of a path, as these tools write it.
fn short_hash(path: &Path) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let letters = digest.chunks(3).take(2).flat_map(|three| {
        let bits = three.iter().fold(0, |bits, byte| (bits << 8) | u32::from(*byte));
        [18, 12, 6, 0].map(|shift| ((bits >> shift) & 63) as usize)
    });
    letters.filter_map(|letter| LETTERS.get(letter).copied().map(char::from)).collect()
}

/// What installs all that the tests of a project need.
pub(super) fn install_command(files: &HeldDirectory) -> &'static str {
    let fits = |(file, word, _): &&(&str, &str, &str)| {
        read_text(files, file).is_ok_and(|text| text.contains(word))
    };
    COMMANDS.iter().find(fits).map_or(USUAL, |(_, _, command)| *command)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use probity_scope::HeldDirectory;

    use super::{install_command, of_repository, short_hash};

    #[test]
    fn a_path_has_the_short_hash_of_poetry_hatch_and_pipenv() {
        // `base64.urlsafe_b64encode(hashlib.sha256(path).digest())[:8]`
        assert_eq!(short_hash(Path::new("/tmp/demo")), "hKjNfXom");
    }

    #[test]
    fn environments_for_tests_come_before_others() {
        let place = tempfile::tempdir().unwrap();
        for name in [".tox/docs", ".tox/py312", ".nox/lint", ".nox/tests-3-12"] {
            fs::create_dir_all(place.path().join(name)).unwrap();
        }
        let found = of_repository(place.path());
        let found: Vec<&str> = found.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(
            found,
            [".venv", "venv", "env", ".tox/py312", ".tox/docs", ".nox/tests-3-12", ".nox/lint"]
        );
    }

    #[test]
    fn the_command_is_that_of_the_tool_that_the_project_uses() {
        let place = tempfile::tempdir().unwrap();
        let held = HeldDirectory::open(place.path()).unwrap();
        assert_eq!(install_command(&held), super::USUAL);
        for (file, text, command) in [
            ("tox.ini", "", "tox --notest"),
            ("pyproject.toml", "[tool.hatch.envs.default]", "hatch env create"),
            ("poetry.lock", "", "poetry install"),
            ("uv.lock", "", "uv sync"),
        ] {
            fs::write(place.path().join(file), text).unwrap();
            assert_eq!(install_command(&held), command);
        }
    }
}
