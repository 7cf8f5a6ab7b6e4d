//! Files of the build context that rules ask about: scripts that an image starts, and lock files.
//!
//! Rules never read a file. The caller asks which paths matter for a Dockerfile, reads those that
//! exist in the build context, and hands them in.

use std::collections::{BTreeMap, BTreeSet};

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, clean_path};

use crate::Parsed;

/// Lock files that `npm ci` installs from.
pub(crate) const NPM_LOCKFILES: [&str; 2] = ["package-lock.json", "npm-shrinkwrap.json"];

/// A Dockerfile that names more is not one that somebody wrote.
const MOST_PATHS: usize = 64;

/// Paths of the build context that matter for one Dockerfile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedFiles {
    /// Files whose text rules read, if they exist.
    pub texts: BTreeSet<String>,
    /// Files that only have to exist.
    pub names: BTreeSet<String>,
}

impl WantedFiles {
    #[must_use]
    pub fn of(parsed: &Parsed<'_>) -> Self {
        let file = &parsed.file;
        let has_npm = file.text.contains("npm");
        let starts = |it: &&Instruction| matches!(it.keyword, Keyword::Cmd | Keyword::Entrypoint);
        let started: BTreeSet<&str> = file
            .instructions
            .iter()
            .filter(starts)
            .flat_map(started_names)
            .take(MOST_PATHS)
            .collect();
        let mut wanted = Self::default();
        for instruction in file.instructions.iter().filter(|instruction| is_copy(instruction)) {
            for name in &started {
                if wanted.texts.len() < MOST_PATHS {
                    wanted.texts.extend(paths_in_context(instruction, name));
                }
            }
            if has_npm && wanted.names.len() < MOST_PATHS {
                let locks = NPM_LOCKFILES.iter();
                wanted.names.extend(locks.flat_map(|name| paths_in_context(instruction, name)));
            }
        }
        wanted
    }
}

/// Those of the wanted files that exist, with the texts that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextFiles {
    /// Empty texts for files that only have to exist.
    files: BTreeMap<String, String>,
}

impl ContextFiles {
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { files: files.into_iter().collect() }
    }

    /// The text of the file that a `COPY` brings under this name.
    pub(crate) fn copied(&self, instruction: &Instruction, name: &str) -> Option<&str> {
        let paths = paths_in_context(instruction, name);
        paths.iter().find_map(|path| self.files.get(path)).map(String::as_str)
    }
}

/// The last components of the words that a container starts.
fn started_names(instruction: &Instruction) -> Vec<&str> {
    let words: Vec<&str> = match &instruction.arguments {
        Arguments::Command(Command::Shell(word)) => word.text.split_whitespace().collect(),
        Arguments::Command(Command::Json { words, .. }) => {
            words.iter().flat_map(|word| word.text.split_whitespace()).collect()
        }
        _ => Vec::new(),
    };
    let names = words.into_iter().map(|word| last_component(word.trim_matches(['"', '\'', ';'])));
    names.filter(|name| !name.is_empty() && !name.starts_with('-')).collect()
}

fn is_copy(instruction: &Instruction) -> bool {
    matches!(instruction.keyword, Keyword::Copy | Keyword::Add)
        && instruction.heredocs().is_empty()
        && instruction.flag_value("from").is_none()
}

/// Where in the build context a file may be that a `COPY` brings under this name.
fn paths_in_context(instruction: &Instruction, name: &str) -> Vec<String> {
    let Arguments::Transfer { sources, destination: Some(destination), .. } =
        &instruction.arguments
    else {
        return Vec::new();
    };
    if !is_copy(instruction) {
        return Vec::new();
    }
    let is_renamed = sources.len() == 1 && last_component(&destination.text) == name;
    let known = sources.iter().filter(|source| !source.text.contains(['$', ':']));
    let path = |source: &str| {
        let source = clean_path(source.trim_matches(['"', '\'']));
        let source = source.trim_start_matches('/');
        let last = last_component(source);
        match source.strip_suffix(last) {
            // What a pattern matches is not known here, so the name itself is looked for.
            Some(directory) if last.contains(['*', '?', '[']) => format!("{directory}{name}"),
            _ if last == name || is_renamed => source.to_owned(),
            _ if matches!(source, "" | ".") => name.to_owned(),
            _ => format!("{source}/{name}"),
        }
    };
    known.map(|source| path(&source.text)).collect()
}

fn last_component(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn started_scripts_and_lock_files_are_wanted_where_a_copy_takes_them_from() {
        let text = "FROM a\nCOPY . .\nCOPY docker/start /usr/bin/\nCOPY tools/*.sh /x/\n\
                    COPY run.sh /start\nCOPY --from=b start /\nADD https://c/start /\n\
                    RUN npm install\nENTRYPOINT [\"/usr/bin/start\", \"-v\"]\n";
        let WantedFiles { texts, names } = WantedFiles::of(&Parsed::of(text));
        let expected = ["docker/start", "run.sh", "start", "tools/start"];
        assert_eq!(texts.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        assert!(names.contains("package-lock.json") && names.contains("tools/npm-shrinkwrap.json"));
        assert_eq!(WantedFiles::of(&Parsed::of("FROM a\nCOPY . .\n")), WantedFiles::default());
    }

    #[test]
    fn a_file_of_many_copies_asks_for_few_paths() {
        let copies: String = (0..1000).map(|at| format!("COPY a{at} /b/\n")).collect();
        let text = format!("FROM a\n{copies}CMD [\"x\", \"y\", \"npm\"]\n");
        let wanted = WantedFiles::of(&Parsed::of(&text));
        assert!(wanted.texts.len() <= MOST_PATHS + 3 && wanted.names.len() <= MOST_PATHS + 2);
    }
}
