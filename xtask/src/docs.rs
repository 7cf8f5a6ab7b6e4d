//! `cargo xtask docs`: documents that the binary writes about itself, kept in the repository.
//!
//! They are committed so that they can be read and linked to; `--check` shows that they are what
//! the binary says today.

mod difference;
mod tree;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use crate::{Report, cargo, output};
use tree::Tree;

/// What the command does with a file that is not what the binary says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// A generated file or directory, and the arguments that make the binary produce it.
struct Generated {
    path: &'static str,
    arguments: &'static [&'static str],
    kind: Kind,
}

enum Kind {
    /// Standard output is the file.
    File,
    /// The binary fills the directory that is its last argument; nothing else may be in there.
    Directory,
    /// Standard output stands between two marks, `<!-- begin: NAME -->` and `<!-- end: NAME -->`, in a
    /// file that people write.
    Section(&'static str),
}

const GENERATED: &[Generated] = &[
    Generated {
        path: "docs/schema/probity.schema.json",
        arguments: &["config", "schema"],
        kind: Kind::File,
    },
    Generated {
        path: "docs/schema/tally.schema.json",
        arguments: &["config", "schema", "--for", "tally"],
        kind: Kind::File,
    },
    Generated {
        path: "docs/environment.md",
        arguments: &["config", "variables", "--markdown"],
        kind: Kind::File,
    },
    Generated { path: "docs/cli.md", arguments: &["man", "--markdown"], kind: Kind::File },
    Generated {
        path: "docs/threat-model.md",
        arguments: &["config", "mounts"],
        kind: Kind::Section("mounts"),
    },
    Generated {
        path: "docs/containment.md",
        arguments: &["config", "promises"],
        kind: Kind::Section("promises"),
    },
    Generated { path: "docs/rules", arguments: &["rules", "--write-docs"], kind: Kind::Directory },
];

pub(crate) fn run(root: &Path, mode: Mode, binary: Option<PathBuf>) -> Result<Report, String> {
    let binary = match binary {
        Some(binary) => binary,
        None => build(root)?,
    };
    let mut text = String::new();
    let mut changes = 0;
    for generated in GENERATED {
        let wanted = produce(root, &binary, generated)?;
        // A command that does nothing and succeeds must not empty what is there.
        if wanted.is_empty() {
            let arguments = generated.arguments.join(" ");
            return Err(format!("`probity {arguments}` gives nothing for {}", generated.path));
        }
        let present = match generated.kind {
            Kind::File | Kind::Section(_) => Tree::of_file(root, generated.path)?,
            Kind::Directory => Tree::of_directory(root, generated.path)?,
        };
        for change in tree::changes(&present, &wanted) {
            changes += 1;
            match mode {
                Mode::Write => {
                    change.carry_out(root)?;
                    text.push_str(&format!("{change}\n"));
                }
                Mode::Check => text.push_str(&format!("{change}\n{}", change.difference())),
            }
        }
    }
    text.push_str(&match (mode, changes) {
        (_, 0) => "docs: up to date\n".to_owned(),
        (Mode::Write, _) => format!("docs: {changes} written or removed\n"),
        (Mode::Check, _) => {
            format!("docs: {changes} not up to date; run `cargo xtask docs` and commit\n")
        }
    });
    Ok(Report { text, clean: mode == Mode::Write || changes == 0 })
}

fn produce(root: &Path, binary: &Path, generated: &Generated) -> Result<Tree, String> {
    let mut command = Command::new(binary);
    // What is written must not depend on who runs it: no colours, no width of a terminal.
    command.current_dir(root).env("NO_COLOR", "1").env_remove("COLUMNS").env_remove("LINES");
    command.args(generated.arguments);
    match generated.kind {
        Kind::File => Ok(Tree::single(generated.path, output(command)?)),
        Kind::Section(name) => {
            let page = fs::read_to_string(root.join(generated.path))
                .map_err(|error| format!("{}: {error}", generated.path))?;
            let section = String::from_utf8_lossy(&output(command)?).into_owned();
            let page = with_section(&page, name, &section).ok_or_else(|| {
                format!("{}: the section {name} has no marks or no text", generated.path)
            })?;
            Ok(Tree::single(generated.path, page.into_bytes()))
        }
        Kind::Directory => {
            let scratch = tempfile::tempdir()
                .map_err(|error| format!("a directory for {}: {error}", generated.path))?;
            // One level down, so that the path in the tree is the same as in the repository.
            let directory = scratch.path().join(generated.path);
            fs::create_dir_all(&directory)
                .map_err(|error| format!("{}: {error}", directory.display()))?;
            output({
                command.arg(&directory);
                command
            })?;
            Tree::of_directory(scratch.path(), generated.path)
        }
    }
}

/// The page with this text between its marks; nothing without both of them or without a text.
fn with_section(page: &str, name: &str, section: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->"));
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    (!section.is_empty()).then(|| format!("{before}{begin}\n{section}\n{end}{after}"))
}

#[derive(Deserialize)]
struct Message {
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Builds the binary and asks cargo where it is, which settings may move.
fn build(root: &Path) -> Result<PathBuf, String> {
    let mut command = cargo(root);
    command.args(["build", "-q", "-p", "probity"]);
    command.arg("--message-format=json-render-diagnostics");
    let messages = output(command)?;
    let messages = serde_json::Deserializer::from_slice(&messages).into_iter::<Message>();
    messages
        .filter_map(Result::ok)
        .filter(|message| message.target.as_ref().is_some_and(|target| target.name == "probity"))
        .find_map(|message| message.executable)
        .ok_or_else(|| "cargo build: no executable named probity".to_owned())
}
