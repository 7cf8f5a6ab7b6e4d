//! `acp setup`: the setting that runs an agent behind the proxy, printed or written for an editor.

mod editor;
mod file;
mod lua;

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_agent::KnownAgent;
use probity_seat::{Unseated, find_program};

use crate::{
    config::word::Word as _,
    containment::Users,
    exit::Exit,
    failure::Failure,
    jsonc::{Inserted, insert},
    streams,
};
pub(crate) use editor::Editor;
use editor::Setting;
use file::File;

pub(crate) struct Options {
    pub(crate) editor: Editor,
    /// The configured one if none is named.
    pub(crate) agent: Option<String>,
    /// Whether the setting is written to the editor's file.
    pub(crate) write: bool,
    /// The file, instead of the one that the editor usually reads.
    pub(crate) file: Option<PathBuf>,
    pub(crate) quiet: bool,
}

pub(crate) fn run(options: Options) -> anyhow::Result<Exit> {
    let Options { editor, agent, write, file, quiet } = options;
    let Users { agent: usual, table, .. } = Users::load()?;
    // The editor's settings are the user's, so a repository has no say here.
    let agent = agent.or(usual).unwrap_or_else(|| "claude".to_owned());
    let known = || table.iter().map(|agent| agent.name.clone()).collect();
    let agent = table
        .get(&agent)
        .ok_or_else(|| Failure::from(Unseated::Unknown { name: agent.clone(), known: known() }))?;
    let setting = Setting { editor, agent: agent.name.clone(), program: own_program()? };
    let path = file.map_or_else(|| editor.file(), |path| Ok(std::path::absolute(path)?))?;
    let mut out = streams::stdout().lock();
    if write {
        let done = written(&setting, &path)?;
        writeln!(out, "{done}\n{}", setting.next_step())?;
    } else {
        writeln!(streams::stdout().for_programs(), "{}", setting.text())?;
        out.flush()?;
        if !quiet {
            let (place, editor) = (setting.where_to_paste(&path), editor.word());
            let write = format!("probity acp setup {editor} --agent {} --write", setting.agent);
            // With stderr gone there is nobody left to tell.
            drop(writeln!(streams::stderr(), "{place}, or run `{write}`"));
        }
    }
    warn_missing(agent);
    Ok(Exit::Clean)
}

/// Adds the setting to the file, and says what was done.
fn written(setting: &Setting, path: &Path) -> anyhow::Result<String> {
    let refused = |place: String, why: String| {
        Failure::new(
            format!("{place}: {why}; the file is as it was"),
            format!("{}:\n{}", setting.where_to_paste(path), setting.text()),
        )
    };
    let plain = |error: file::FileError| refused(path.display().to_string(), error.to_string());
    let found = File::read(path).map_err(plain)?;
    let before = found.as_ref().map_or("", |file| file.text.as_str());
    let inserted = match setting.editor {
        Editor::Nvim => lua::insert(before, setting)
            .map_err(|error| refused(path.display().to_string(), error.to_string()))?,
        _ => insert(before, &setting.entry(), editor::is_ours).map_err(|error| {
            let (line, column) = place(before, error.at());
            refused(format!("{}:{line}:{column}", path.display()), error.to_string())
        })?,
    };
    let (name, shown) = (setting.name(), path.display());
    let (verb, after) = match &inserted {
        Inserted::Same => return Ok(format!("`{name}` is already in {shown}.")),
        Inserted::Added(after) => ("Added", after),
        Inserted::Updated(after) => ("Updated", after),
    };
    let Some(file) = found else {
        file::create(path, after).map_err(plain)?;
        return Ok(format!("{verb} `{name}` to the new file {shown}."));
    };
    let backup = file.replace(after).map_err(plain)?;
    Ok(format!("{verb} `{name}` in {shown}. The previous version is {}.", backup.display()))
}

/// The path by which editors start this program: the one in `PATH`, which stays the same after an
/// update, or that of the binary. It is whole, since editors started from a desktop have another
/// `PATH` than a shell.
fn own_program() -> anyhow::Result<String> {
    let binary = env::current_exe().context("cannot tell where this program is")?;
    let is_this = |path: &PathBuf| {
        path.is_absolute() && path.canonicalize().ok() == binary.canonicalize().ok()
    };
    let program = find_program("probity").filter(is_this).unwrap_or_else(|| binary.clone());
    program.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        Failure::new(
            format!("the path of this program is not UTF-8: {path}"),
            "install probity in a directory whose name is UTF-8, and run that one",
        )
        .into()
    })
}

/// The line and column of a byte, both from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text).trim_start_matches('\u{feff}');
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

fn warn_missing(agent: &KnownAgent) {
    let Some(program) = agent.acp.first().filter(|program| find_program(program).is_none()) else {
        return;
    };
    let install = agent.install.as_ref();
    let way = install.map_or_else(String::new, |install| format!("; install it with `{install}`"));
    tracing::warn!("`{program}` is not in your PATH{way}");
}
