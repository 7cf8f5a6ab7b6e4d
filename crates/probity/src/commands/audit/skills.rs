//! Skills on disk: those an audit uses, and the commands that list, show, check and write them.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_audit::{Pack, Skill, embedded};
use probity_report::Table;
use probity_scope::{HeldDirectory, Missing, TreeFile, WithoutGit};

use crate::{
    config::table::audit::DEFAULT_SKILLS, exit::Exit, failure::Failure, name::Name, screen, streams,
};

/// A longer file is not a page for a model.
const MOST_BYTES: u64 = 1 << 20;

const WRITING: &str = "`probity audit skills new ID` writes an example of a skill; `probity audit skills check DIR` \
     checks all";

/// The skills of all places that are named, in their order. Under our own name those of the usual
/// directory add to the embedded ones; a skill takes the place of an earlier one with its id.
pub(super) fn load(places: &[String], name: Name) -> anyhow::Result<Vec<Skill>> {
    let mut skills: Vec<Skill> = Vec::new();
    for place in places {
        let usual = Path::new(place) == Path::new(DEFAULT_SKILLS);
        let found = match place.strip_prefix("builtin:") {
            Some(pack) if name != Name::Trix => builtin(pack)?,
            _ if usual && name != Name::Trix && Path::new(place).exists() => {
                merged(embedded()?, of_directory(Path::new(place))?)
            }
            _ => of_directory(Path::new(place))?,
        };
        skills = merged(skills, found);
    }
    Ok(skills)
}

fn merged(mut skills: Vec<Skill>, more: Vec<Skill>) -> Vec<Skill> {
    for skill in more {
        match skills.iter_mut().find(|known| known.id == skill.id) {
            Some(known) => *known = skill,
            None => skills.push(skill),
        }
    }
    skills
}

fn builtin(name: &str) -> anyhow::Result<Vec<Skill>> {
    match Pack::ALL.into_iter().find(|pack| pack.name() == name) {
        Some(pack) => Ok(pack.skills()?),
        None => {
            let names: Vec<String> =
                Pack::ALL.iter().map(|pack| format!("builtin:{}", pack.name())).collect();
            let what = format!("there are no skills called builtin:{name}");
            Err(Failure::new(what, format!("there are {}", names.join(" and "))).into())
        }
    }
}

/// The skills of a directory, in the order of their files. Where the usual directory is missing the
/// embedded ones take its place; one that was asked for has to exist.
fn of_directory(dir: &Path) -> anyhow::Result<Vec<Skill>> {
    if !dir.exists() {
        if dir == Path::new(DEFAULT_SKILLS) {
            return Ok(embedded()?);
        }
        return Err(Failure::new(
            format!("Audit skills directory not found: {}", dir.display()),
            "pass a directory that exists; without --skills-dir, an audit uses the embedded skills",
        )
        .into());
    }
    let files = files(dir)?;
    if files.is_empty() {
        return Err(Failure::new(
            format!("No vulnerability skills found in {}", dir.display()),
            "remove the directory to use the embedded skills, or write one: `probity audit skills new ID`",
        )
        .into());
    }
    files.iter().map(|file| read(file)).collect()
}

/// Lists the skills that an audit would use.
pub(crate) fn list(places: &[String]) -> anyhow::Result<Exit> {
    listed(places).map_err(super::as_audit_error)
}

/// Shows what a skill tells the model.
pub(crate) fn show(id: &str, places: &[String]) -> anyhow::Result<Exit> {
    shown(id, places).map_err(super::as_audit_error)
}

/// Checks every skill of a directory.
pub(crate) fn check(dir: &Path) -> anyhow::Result<Exit> {
    checked(dir).map_err(super::as_audit_error)
}

/// Writes the beginning of a new skill.
pub(crate) fn new(id: &str, dir: &Path) -> anyhow::Result<Exit> {
    written(id, dir).map_err(super::as_audit_error)
}

fn files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let failed = || {
        Failure::new("Failed to read skills directory", "check that it is a directory you may read")
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> anyhow::Result<Skill> {
    let shown = file.display().to_string();
    let failed =
        || Failure::new(format!("Failed to read vulnerability skill file {shown}"), WRITING);
    let size = fs::metadata(file).with_context(failed)?.len();
    if size > MOST_BYTES {
        return Err(io::Error::other(format!("{size} bytes, more than {MOST_BYTES}")))
            .with_context(failed);
    }
    // A model gets the text, so a link of the repository must not choose another file for it.
    let found = TreeFile::find(file, WithoutGit::OwnDirectory).with_context(failed)?;
    let mut text = String::new();
    found.open().with_context(failed)?.read_to_string(&mut text).with_context(failed)?;
    Skill::parse(&shown, &text).map_err(|error| Failure::new(error.to_string(), WRITING).into())
}

fn listed(places: &[String]) -> anyhow::Result<Exit> {
    let mut table = Table::default();
    for skill in load(places, Name::Probity)? {
        table.row([skill.id, skill.severity.as_str().to_owned(), skill.name]);
    }
    screen::print(&table.text(0))?;
    Ok(Exit::Clean)
}

fn shown(id: &str, places: &[String]) -> anyhow::Result<Exit> {
    let skills = load(places, Name::Probity)?;
    let Some(skill) = skills.iter().find(|skill| skill.id == id) else {
        let ids: Vec<&str> = skills.iter().map(|skill| skill.id.as_str()).collect();
        return Err(Failure::new(
            format!("there is no skill `{id}`"),
            format!("there are {}", ids.join(", ")),
        )
        .into());
    };
    streams::stdout().for_programs().write_all(skill.mini_prompt().as_bytes())?;
    Ok(Exit::Clean)
}

/// Every file is looked at, however many are wrong.
fn checked(dir: &Path) -> anyhow::Result<Exit> {
    if !dir.exists() {
        of_directory(dir)?;
    }
    let mut out = streams::stdout().lock();
    let mut ids: Vec<(String, PathBuf)> = Vec::new();
    let mut wrong = 0;
    let files = files(dir)?;
    for file in &files {
        match read(file) {
            Ok(skill) => match ids.iter().find(|(id, _)| *id == skill.id) {
                Some((id, other)) => {
                    wrong += 1;
                    writeln!(
                        out,
                        "{}: the id `{id}` is also that of {}",
                        file.display(),
                        other.display()
                    )?;
                }
                None => ids.push((skill.id, file.clone())),
            },
            Err(error) => {
                wrong += 1;
                writeln!(out, "{error:#}")?;
            }
        }
    }
    writeln!(out, "{} of {} skills are fine", files.len() - wrong, files.len())?;
    Ok(if wrong == 0 && !files.is_empty() { Exit::Clean } else { Exit::Findings })
}

fn written(id: &str, dir: &Path) -> anyhow::Result<Exit> {
    if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(Failure::new(
            format!("`{id}` is not an id"),
            "an id has letters, digits and dashes, for example locked-value-004",
        )
        .into());
    }
    let file = dir.join(format!("{id}.md"));
    let failed =
        || Failure::new(format!("cannot write {}", file.display()), "name another id or directory");
    let place = HeldDirectory::place(dir, &[Path::new(".")], Missing::Make);
    let place = place.with_context(failed)?.directory;
    // What is there already is somebody's work.
    let mut out = place.create_file(format!("{id}.md"), 0o666).with_context(failed)?;
    out.write_all(template(id).as_bytes()).with_context(failed)?;
    writeln!(streams::stdout().lock(), "{}", file.display())?;
    Ok(Exit::Clean)
}

fn template(id: &str) -> String {
    format!(
        "---\nid: {id}\nname: One line that names the weakness\nseverity: medium\ndescription: >-\n  \
         What is wrong, and what somebody gains by it.\nprompt_fragment: >-\n  What to look for in the \
         sources, as an instruction to a careful reader.\nexamples:\n  - \"`code` that has the weakness\"\n\
         false_positives:\n  - \"`code` that looks like it and is fine\"\nreferences: []\ntags: []\n\
         confidence_hint: medium\n---\n\n# How to recognize it\n\n1. What to `grep` for.\n2. What to read \
         around a hit.\n3. What makes it a finding.\n\n# How it is mitigated\n\nWhat the fixed code looks \
         like.\n\n# What an exploit must show\n\nWhat somebody does who must not be able to.\n\n# What to \
         report\n\nQuote the line word for word.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_skill_is_a_skill() {
        let skill = Skill::parse("new.md", &template("locked-value-004")).unwrap();
        assert_eq!(skill.id, "locked-value-004");
    }
}
