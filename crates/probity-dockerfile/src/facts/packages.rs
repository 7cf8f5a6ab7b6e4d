//! Calls of package managers in the shell texts of an instruction: what is installed, in which
//! version, and with which flags.
//!
//! The managers are rows of a table; what a version looks like is the only thing that each of them
//! says in its own way. Words that the shell expands are kept as they are: a version in a variable is
//! a version.

mod managers;
mod specification;

use std::sync::OnceLock;

use probity_finding::Span;
use probity_shell::{Call, Opaque, Script};

use crate::{Dockerfile, Facts, Instruction, facts::packages::managers::Row};

pub use self::managers::{Action, Manager};

/// One cell for each instruction that has commands, filled when a rule first asks.
#[derive(Clone, Debug)]
pub(super) struct Packages(Vec<OnceLock<Box<[PackageCall]>>>);

impl Packages {
    pub(super) fn with_room_for(instructions: usize) -> Self {
        Self(vec![OnceLock::new(); instructions])
    }
}

/// One call of a package manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageCall {
    pub manager: Manager,
    pub action: Action,
    /// The subcommand as it is written: `install`, `i`, `add`.
    pub subcommand: Span,
    /// From the manager's name to its last argument.
    pub span: Span,
    pub name_span: Span,
    /// The script among [`Facts::scripts`] and the command in it.
    pub script: usize,
    pub command: usize,
    pub packages: Box<[Package]>,
    /// Files that say what to install: `-r requirements.txt`, `-c constraints.txt`.
    pub files: Box<[Package]>,
    /// The name of a set of packages that is removed as one: `apk add --virtual NAME`.
    pub virtual_name: Option<Box<str>>,
    /// Where it is installed to, if not where the manager always does.
    pub target: Option<Box<str>>,
    /// Every flag as it is written, `--name=value` without the value.
    pub flags: Box<[PackageFlag]>,
}

/// A flag of a package manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFlag {
    pub name: String,
    pub span: Span,
    /// Whether it is known if the word behind the flag is its value. Where not, that word counts as a
    /// package and may be none.
    pub known: bool,
}

/// Something that a package manager is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub span: Span,
    /// As it is written, quotes and variables included.
    pub text: String,
    pub kind: PackageKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageKind {
    /// A package of a repository.
    Named { name: String, version: Version },
    /// A file or directory of the build: `./tool.deb`, `.`, `dist/app.whl`.
    Local,
    /// An address: `https://…`, `git+ssh://…`.
    Remote,
    /// The whole word is a variable or the output of a command, so nothing is known about it.
    Unknown,
}

/// What is said about the version of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    None,
    /// `=1.2`, also where the number is in a variable.
    Exact(String),
    /// `>=1.2`, `~1.2`, `^1`, a tag such as `latest`: more than one version fits.
    Range(String),
}

impl PackageCall {
    #[must_use]
    pub fn has_flag(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|flag| names.contains(&flag.name.as_str()))
    }
}

impl Facts {
    /// The calls of package managers in an instruction, in the order of the source. The Dockerfile is
    /// the one that the facts are of.
    #[must_use]
    pub fn package_calls(&self, dockerfile: &Dockerfile<'_>, instruction: usize) -> &[PackageCall] {
        let Some(cell) = self.command_cell(instruction).and_then(|cell| self.packages.0.get(cell))
        else {
            return &[];
        };
        cell.get_or_init(|| {
            let scripts = self.scripts(dockerfile, instruction);
            scripts.iter().enumerate().flat_map(|(index, script)| calls(index, script)).collect()
        })
    }
}

impl Facts {
    /// The same in the PowerShell and cmd scripts of an instruction, which few rules understand. Their
    /// commands are those of [`Script::all_commands`].
    #[must_use]
    pub fn windows_package_calls(
        &self,
        dockerfile: &Dockerfile<'_>,
        instruction: usize,
    ) -> Vec<PackageCall> {
        let scripts = self.scripts(dockerfile, instruction).iter().enumerate();
        let lexed = scripts.filter(|(_, script)| script.opaque == Some(Opaque::Dialect));
        let calls = lexed.flat_map(|(index, script)| {
            script.all_commands().iter().enumerate().filter_map(move |(at, command)| {
                let call = command.call();
                let call = package_call(&call, managers::windows_row(&call)?)?;
                Some(PackageCall { script: index, command: at, ..call })
            })
        });
        calls.collect()
    }
}

impl Instruction {
    /// The targets of the mounts of a RUN that leave nothing in the image: caches and memory.
    pub fn passing_mounts(&self) -> impl Iterator<Item = &str> {
        let mounts = self.flags_named("mount").filter(|flag| {
            flag.option("type").is_some_and(|kind| kind.text == "cache" || kind.text == "tmpfs")
        });
        let targets = mounts.filter_map(|flag| {
            ["target", "dst", "destination"].iter().find_map(|key| flag.option(key))
        });
        targets.map(|target| target.text.as_str())
    }
}

fn calls(script_index: usize, script: &Script) -> Vec<PackageCall> {
    let calls = script.commands.iter().enumerate().filter_map(|(index, command)| {
        let call = command.effective();
        let call = package_call(&call, managers::row(&call)?)?;
        Some(PackageCall { script: script_index, command: index, ..call })
    });
    calls.collect()
}

fn package_call(call: &Call<'_>, (row, skip): (&Row, usize)) -> Option<PackageCall> {
    // `python -m pip install` has the manager's name two words on.
    let call = &Call { wrappers: call.wrappers, words: call.words.get(skip..)? };
    // What follows `--` is for whoever builds the extension of a gem.
    let own = call.words.iter().take_while(|word| row.manager != Manager::Gem || !word.is("--"));
    let call = &Call { wrappers: call.wrappers, words: call.words.get(..own.count())? };
    let valued = row.flags.valued_in(row.manager, call);
    let valued: Vec<&str> = valued.iter().map(String::as_str).collect();
    let positional = call.positional(&valued);
    // `yarn` alone installs; `yarn --version` only answers.
    if positional.is_empty() && call.has_flag(&["--version", "-v", "--help", "-h"]) {
        return None;
    }
    let (subcommand, action, rest) = row.action(&positional)?;
    let mut packages = Vec::new();
    if action == Action::Install || action == Action::Remove {
        for word in rest {
            let package = Package {
                span: word.span(),
                text: word.text().to_string(),
                kind: specification::kind(row, word),
            };
            match packages.last_mut() {
                Some(owner) if specification::is_bare_version(row, word) => {
                    give_version(owner, &package);
                }
                _ => packages.push(package),
            }
        }
    }
    apply_version_flag(row, call, &mut packages);
    Some(PackageCall {
        manager: row.manager,
        action,
        subcommand,
        span: call.span()?,
        name_span: call.name_word()?.span(),
        script: 0,
        command: 0,
        packages: packages.into(),
        files: files(row, call).into(),
        virtual_name: call.flag_value(row.virtual_flags).map(|(_, name)| name.into()),
        target: call.flag_value(row.target_flags).map(|(_, target)| target.into()),
        flags: flags(row, call).into(),
    })
}

/// `composer require a/b 1.2` says the version in a word of its own.
fn give_version(owner: &mut Package, word: &Package) {
    owner.span = owner.span.to(word.span);
    owner.text = format!("{} {}", owner.text, word.text);
    if let PackageKind::Named { version, .. } = &mut owner.kind {
        let is_exact = word.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        *version = if is_exact {
            Version::Exact(word.text.clone())
        } else {
            Version::Range(word.text.clone())
        };
    }
}

/// `gem install rails -v 7.1` and `cargo install tool --version 1.2` say the version beside the name.
fn apply_version_flag(row: &Row, call: &Call<'_>, packages: &mut [Package]) {
    let Some(word) = call.flag(row.version_flags) else { return };
    let value =
        call.flag_value(row.version_flags).map_or_else(|| word.text().to_string(), |(_, v)| v);
    for package in packages {
        if let PackageKind::Named { version: version @ Version::None, .. } = &mut package.kind {
            *version = Version::Exact(value.clone());
        }
    }
}

/// The values of flags such as `-r`, which may be given several times.
fn files(row: &Row, call: &Call<'_>) -> Vec<Package> {
    let mut found = Vec::new();
    let mut words = call.args().iter();
    while let Some(word) = words.next() {
        let prefix = word.prefix();
        let Some(flag) = row.file_flags.iter().find(|flag| prefix.starts_with(**flag)) else {
            continue;
        };
        let value = if prefix == *flag { words.next() } else { Some(word) };
        found.extend(value.map(|word| Package {
            span: word.span(),
            text: word.text().to_string(),
            kind: PackageKind::Local,
        }));
    }
    found
}

fn flags(row: &Row, call: &Call<'_>) -> Vec<PackageFlag> {
    let words = call.args().iter().take_while(|word| !word.is("--"));
    let mut found = Vec::new();
    for word in words {
        let text = word.prefix();
        let known = row.flags.knows(&text);
        let name = text.split('=').next().unwrap_or_default();
        let flag = |name: String| PackageFlag { name, span: word.span(), known };
        match name.as_bytes() {
            [b'-', b'-', _, ..] => found.push(flag(name.to_owned())),
            // `-yq` is `-y` and `-q`; a letter that takes a value ends the row, which does not matter
            // to anybody who asks for a flag by its name.
            [b'-', letters @ ..] => {
                let letters = letters.iter().take_while(|letter| letter.is_ascii_alphabetic());
                found.extend(letters.map(|letter| flag(format!("-{}", *letter as char))));
            }
            _ => {}
        }
    }
    found
}
