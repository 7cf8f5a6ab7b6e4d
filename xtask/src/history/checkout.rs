//! A commit of a project in a folder of its own, with the packages that its tests need.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::cases::{Pair, Project};
use crate::output;

/// So many commits before it come along: some answers come from them.
const DEPTH: &str = "--depth=300";

pub(super) struct Checkout {
    pub(super) root: PathBuf,
}

impl Checkout {
    /// A repository of its own that shares nothing with the history.
    pub(super) fn at(history: &Path, commit: &str, root: &Path) -> Result<Self, String> {
        let mut parse = git(history);
        parse.args(["rev-parse", "--verify", "--quiet", &format!("{commit}^{{commit}}")]);
        let commit = text(parse)?;
        fs::create_dir_all(root).map_err(|error| format!("{}: {error}", root.display()))?;
        let from = history.canonicalize().map_err(|error| error.to_string())?;
        for words in [
            vec!["init", "--quiet", "--initial-branch=main"],
            vec!["fetch", "--quiet", "--no-tags", DEPTH, &from.to_string_lossy(), &commit],
            vec!["checkout", "--quiet", "-B", "main", &commit],
        ] {
            let mut command = git(root);
            command.args(words);
            output(command)?;
        }
        Ok(Self { root: root.to_owned() })
    }

    /// Installs what the tests of the project need, where its tools look for it.
    pub(super) fn install(&self, project: &Project) -> Result<(), String> {
        match project.language.as_str() {
            "python" => self.install_python(&project.packages),
            "javascript" => self.install_javascript(&project.packages),
            _ => Ok(()),
        }
    }

    fn install_python(&self, packages: &[String]) -> Result<(), String> {
        let mut make = self.command("python3");
        make.args(["-m", "venv", ".venv"]);
        output(make)?;
        let mut install = self.command(".venv/bin/python");
        install.args(["-m", "pip", "install", "--quiet"]).args(packages);
        output(install)?;
        self.ignore(".venv")
    }

    fn install_javascript(&self, packages: &[String]) -> Result<(), String> {
        let mut install = self.command("npm");
        install.args(["install", "--no-audit", "--no-fund", "--no-save", "--prefer-offline"]);
        install.args(["--legacy-peer-deps", "--no-package-lock"]).args(packages);
        output(install)?;
        self.ignore("node_modules")
    }

    /// What was installed is no part of the repository.
    fn ignore(&self, name: &str) -> Result<(), String> {
        let path = self.root.join(".git/info/exclude");
        let mut lines = fs::read_to_string(&path).unwrap_or_default();
        lines.push_str(&format!("/{name}\n"));
        fs::write(&path, lines).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The difference of some files from here to another checkout, as a patch.
    pub(super) fn change_to(
        &self,
        after: &Self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Change, String> {
        let (before, after_commit) = (self.commit()?, after.commit()?);
        change(&after.root, &before, &after_commit, is_wanted)
    }

    /// The difference of the files to another checkout that are not the program's, with whole
    /// functions.
    pub(super) fn changed_tests(
        &self,
        after: &Self,
        is_program: impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let (before, after_commit) = (self.commit()?, after.commit()?);
        let mut names = git(&after.root);
        names.args(["diff", "--name-only", "--no-renames", &before, &after_commit]);
        let names = text(names)?;
        let mut diff = git(&after.root);
        diff.args(["diff", "--no-renames", "--no-color", "--no-ext-diff", "--function-context"]);
        diff.args([&before, &after_commit]).arg("--");
        diff.args(names.lines().filter(|path| !is_program(path)));
        text(diff)
    }

    /// The fix of another pair of the project.
    pub(super) fn fix_of(
        &self,
        history: &Path,
        project: &Project,
        other: &Pair,
    ) -> Result<String, String> {
        let before = format!("{}^", other.fix);
        let change = change(history, &before, &other.fix, |path| project.is_production(path))?;
        Ok(change.forward)
    }

    fn commit(&self) -> Result<String, String> {
        let mut parse = git(&self.root);
        parse.args(["rev-parse", "HEAD"]);
        text(parse)
    }

    fn command(&self, program: &str) -> Command {
        // A relative program would be looked for where we are.
        let program = if program.contains('/') { self.root.join(program) } else { program.into() };
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }
}

/// A change of production code, and the change that undoes it.
pub(super) struct Change {
    pub(super) forward: String,
    pub(super) backward: String,
}

fn change(
    repository: &Path,
    before: &str,
    after: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Change, String> {
    let mut names = git(repository);
    names.args(["diff", "--name-only", "--no-renames", "--diff-filter=M", before, after]);
    let names = text(names)?;
    let wanted: Vec<&str> = names.lines().filter(|path| is_wanted(path)).collect();
    if wanted.is_empty() {
        return Err(format!("{after} changes no file of the program"));
    }
    let diff = |from: &str, to: &str| {
        let mut diff = git(repository);
        diff.args(["diff", "--no-renames", "--no-color", "--no-ext-diff", from, to, "--"]);
        let printed = output({
            diff.args(&wanted);
            diff
        })?;
        Ok::<_, String>(String::from_utf8_lossy(&printed).into_owned())
    };
    Ok(Change { forward: diff(before, after)?, backward: diff(after, before)? })
}

fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).stdin(Stdio::null());
    command
}

fn text(command: Command) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&output(command)?).trim().to_owned())
}
