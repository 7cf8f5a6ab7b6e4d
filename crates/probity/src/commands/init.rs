//! `init`: a commented `probity.toml`, and if wanted a pre-commit hook and a GitHub workflow.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::Path,
};

use anyhow::Context as _;

use crate::{config, exit::Exit, failure::Failure, screen::is_confirmed, streams};

const CONFIGURATION: &str = "probity.toml";
const HOOKS: &str = ".pre-commit-config.yaml";
const WORKFLOW: &str = ".github/workflows/probity.yml";

/// What is written; a part that is not chosen is asked for at a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) yes: bool,
    pub(crate) hook: bool,
    pub(crate) workflow: bool,
}

pub(crate) fn run(options: Options) -> anyhow::Result<Exit> {
    let asks = !options.yes && io::stdin().is_terminal();
    let files = [
        (CONFIGURATION, true, config::template()),
        (HOOKS, options.hook || (asks && wanted("a pre-commit hook", HOOKS)?), hooks()),
        (
            WORKFLOW,
            options.workflow || (asks && wanted("a GitHub workflow", WORKFLOW)?),
            workflow(),
        ),
    ];
    let chosen: Vec<(&str, String)> = files
        .into_iter()
        .filter(|(_, is_chosen, _)| *is_chosen)
        .map(|(file, _, text)| (file, text))
        .collect();
    // Nothing is written if one of the files is there already.
    if let Some((file, text)) = chosen.iter().find(|(file, _)| Path::new(file).exists()) {
        let way_out = match *file {
            CONFIGURATION => {
                "edit it, or remove it first; `probity config` shows the effective settings"
                    .to_owned()
            }
            _ => format!("add this to it:\n\n{text}"),
        };
        return Err(Failure::new(format!("{file} exists already"), way_out).into());
    }
    let mut out = streams::stdout().lock();
    for (file, text) in chosen {
        write(Path::new(file), &text).with_context(|| {
            Failure::new(format!("cannot write {file}"), "check the directory's permissions")
        })?;
        writeln!(out, "Wrote {file}")?;
    }
    writeln!(out, "Next: probity check")?;
    Ok(Exit::Clean)
}

fn wanted(what: &str, file: &str) -> io::Result<bool> {
    is_confirmed(&format!("Add {what} ({file})?"))
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    // Another program may have made the file since we looked.
    fs::OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn hooks() -> String {
    format!(
        "# Replace OWNER by the account that you install probity from.\nrepos:\n  - repo: https://github.com/OWNER/probity\n    rev: v{}\n    hooks:\n      - id: probity-check\n",
        version()
    )
}

fn workflow() -> String {
    format!(
        "# Lints Dockerfiles in every pull request.\n# Replace OWNER by the account that you install probity from.\nname: probity\n\non:\n  pull_request:\n  push:\n    branches: [main]\n\npermissions:\n  contents: read\n  security-events: write\n\njobs:\n  check:\n    runs-on: ubuntu-24.04\n    timeout-minutes: 10\n    steps:\n      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2\n        with:\n          persist-credentials: false\n      - uses: OWNER/probity@v{}\n",
        version()
    )
}
