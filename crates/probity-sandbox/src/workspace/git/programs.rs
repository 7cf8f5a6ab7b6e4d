//! Files of a workspace that commands in git's configuration can run, found by their names.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use super::{
    config::expanded,
    name::is_dot_git,
    real, shell,
    shell::{TYPED, UNKNOWN},
    without_dots,
};

/// Directories that one command may change to.
const MOST_BASES: usize = 16;

/// Files that one pattern may mean, and directories that are looked at for it.
const MOST_FILES: usize = 256;
const MOST_DIRECTORIES: usize = 100_000;

/// Where commands look for programs, whether they are there or not.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in super::super) struct Programs {
    /// Paths, which may be patterns.
    pub(in super::super) paths: BTreeSet<String>,
    /// Names, which may be patterns, of files in directories that are not known.
    pub(in super::super) names: BTreeSet<String>,
}

/// What a command says about itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    All,
    /// It runs something that only running it would tell.
    NotAll,
}

impl Programs {
    /// Adds what a command can run that git starts in `tree`.
    pub(super) fn add(&mut self, root: &Path, tree: &Path, command: &str) -> Known {
        let (mut known, mut bases) = (Known::All, vec![tree.to_owned()]);
        for word in shell::words(command, tree) {
            for piece in word.text.split(['=', ':']).filter(|piece| !piece.is_empty()) {
                if piece.contains([UNKNOWN, TYPED]) {
                    let last = piece.rsplit('/').next().unwrap_or_default();
                    if !word.is_program {
                        continue;
                    }
                    if !last.contains([UNKNOWN, TYPED]) && !last.is_empty() {
                        self.names.insert(last.to_owned());
                    } else if piece.contains(UNKNOWN) {
                        known = Known::NotAll;
                    }
                    continue;
                }
                self.add_piece(root, piece, word.is_program, &mut bases);
            }
        }
        known
    }

    /// One word, or a part of it, in every directory that the command may be in.
    fn add_piece(&mut self, root: &Path, piece: &str, is_program: bool, bases: &mut Vec<PathBuf>) {
        let is_pattern = is_pattern(piece);
        for index in 0..bases.len() {
            let base = &bases[index];
            let Some(path) = expanded(piece, base) else { continue };
            let path = without_dots(&path);
            if path.is_dir() {
                let is_new = real(&path).starts_with(root) && !bases.contains(&path);
                if is_new && bases.len() < MOST_BASES {
                    bases.push(path);
                }
                continue;
            }
            // A word that is not a path means a file only if there is one. A pattern that is not run
            // means files that are read.
            let is_path = piece.contains('/') || (is_program && index > 0);
            let is_meant = if is_pattern { is_program } else { is_path || path.is_file() };
            if is_meant
                && real(&path).starts_with(root)
                && let Some(path) = path.to_str()
            {
                self.paths.insert(path.to_owned());
            }
        }
    }

    /// Those that are there now.
    pub(super) fn files(&self, root: &Path) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        for path in &self.paths {
            if is_pattern(path) {
                files.extend(matching(path));
            } else if Path::new(path).is_file() {
                files.insert(PathBuf::from(path));
            }
        }
        if !self.names.is_empty() {
            files.extend(self.named_anywhere(root));
        }
        files
    }

    fn named_anywhere(&self, root: &Path) -> Vec<PathBuf> {
        let (mut found, mut pending, mut seen) = (Vec::new(), vec![root.to_owned()], 0);
        while let Some(directory) = pending.pop() {
            seen += 1;
            if seen > MOST_DIRECTORIES || found.len() > MOST_FILES {
                break;
            }
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
                if kind.is_dir() && !is_dot_git(&name) {
                    pending.push(entry.path());
                } else if !kind.is_dir() && self.names.iter().any(|wanted| matches(wanted, &name)) {
                    found.push(entry.path());
                }
            }
        }
        found
    }
}

/// The files that a pattern means, as a shell would find them.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for directory in found {
            if !is_pattern(part) {
                next.push(directory.join(part));
                continue;
            }
            let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name());
            next.extend(names.filter(|name| matches(part, name)).map(|name| directory.join(name)));
        }
        next.truncate(MOST_FILES);
        found = next;
    }
    found.retain(|path| path.is_file());
    found
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a name fits a pattern. A set of letters stands for any letter, which is more than a shell
/// would take.
fn matches(pattern: &str, name: &OsStr) -> bool {
    let name: Vec<char> = name.to_string_lossy().chars().collect();
    let (mut parts, mut letters) = (Vec::new(), pattern.chars());
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '*' => None,
            '?' => Some('?'),
            '[' => {
                letters.by_ref().find(|letter| *letter == ']');
                Some('?')
            }
            letter => Some(letter),
        });
    }
    fits(&parts, &name)
}

fn fits(parts: &[Option<char>], name: &[char]) -> bool {
    // The places in the name that the parts so far can end at.
    let mut ends: BTreeSet<usize> = BTreeSet::from([0]);
    for part in parts {
        ends = match part {
            None => ends.first().map(|first| (*first..=name.len()).collect()).unwrap_or_default(),
            Some(letter) => {
                let fits = |at: &&usize| {
                    name.get(**at).is_some_and(|found| *letter == '?' || found == letter)
                };
                ends.iter().filter(fits).map(|at| at + 1).collect()
            }
        };
    }
    ends.contains(&name.len())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Known, Programs, matches};

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("f*", "f.sh", true),
            ("f*", "g.sh", false),
            ("*.sh", "f.sh", true),
            ("*", "f", true),
            ("f?sh", "f.sh", true),
            ("f?", "f", false),
            ("[fg].sh", "g.sh", true),
            ("f**h", "f.sh", true),
            ("", "f", false),
        ] {
            assert_eq!(matches(pattern, name.as_ref()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn programs_are_found_however_the_command_spells_them() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for file in ["tools/f.sh", "tools/deep/g.sh", "log", "notes.txt", "my tools/h.sh"] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        for (command, expected) in [
            ("FOO=1 sh \"$PWD/tools/f.sh\"", &["tools/f.sh"][..]),
            ("!cd tools && ./f.sh", &["tools/f.sh"]),
            ("!cd tools; cd deep; ./g.sh", &["tools/deep/g.sh"]),
            ("$(git rev-parse --show-toplevel)/tools/f.sh", &["tools/f.sh"]),
            ("tools/f*", &["tools/f.sh"]),
            ("\"tools\"/f.sh", &["tools/f.sh"]),
            ("'my tools/h.sh' x", &["my tools/h.sh"]),
            ("my\\ tools/h.sh", &["my tools/h.sh"]),
            ("sh -c 'cd tools && sh f.sh'", &["tools/f.sh"]),
            ("D=tools; $D/f.sh", &["tools/f.sh"]),
            ("PATH=$PWD/tools:$PATH f.sh", &["tools/f.sh"]),
            ("--program=tools/f.sh", &["tools/f.sh"]),
            ("$(cat where)/g.sh", &["tools/deep/g.sh"]),
            ("$NO_SUCH_VARIABLE/tools/f.sh", &["tools/f.sh"]),
            ("sh $(cat where)/?.sh", &["my tools/h.sh", "tools/deep/g.sh", "tools/f.sh"]),
            ("tools/../tools/./f.sh", &["tools/f.sh"]),
            // Files that are read, and words that are none.
            ("!git add *", &[]),
            ("!git log --format=%h", &["log"]),
            ("!f() { git push \"$@\"; }; f", &[]),
            ("cat *.txt", &[]),
            ("/usr/bin/less", &[]),
        ] {
            let mut programs = Programs::default();
            assert_eq!(programs.add(&root, &root, command), Known::All, "{command}");
            let files = programs.files(&root);
            let files: Vec<&Path> =
                files.iter().map(|path| path.strip_prefix(&root).unwrap()).collect();
            let expected: Vec<&Path> = expected.iter().map(Path::new).collect();
            assert_eq!(files, expected, "{command}");
        }
        for command in ["$(cat tools/which)", "sh `cat which`", "!${X%y}"] {
            assert_eq!(Programs::default().add(&root, &root, command), Known::NotAll, "{command}");
        }
    }
}
