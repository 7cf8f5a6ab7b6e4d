//! What a program needs before its first instruction: interpreter, libraries, symbol versions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Image, Pair};
use crate::{
    Difference,
    root::elf::{self, Elf},
};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Lack {
    Interpreter(String),
    Library(String),
    Version { library: String, version: String },
}

/// What the proposal's program lacks and the original's does not.
pub(super) fn lost(pair: &Pair<'_>, before: &str, after: &str) -> Vec<Difference> {
    let known = lacks(pair.original, before);
    let new = lacks(pair.proposal, after).into_iter().filter(|lack| !known.contains(lack));
    new.map(|lack| {
        let program = after.to_owned();
        match lack {
            Lack::Interpreter(interpreter) => {
                Difference::InterpreterMissing { program, interpreter }
            }
            Lack::Library(library) => Difference::LibraryMissing { program, library },
            Lack::Version { library, version } => {
                Difference::VersionMissing { program, library, version }
            }
        }
    })
    .collect()
}

fn lacks(image: &Image, path: &str) -> BTreeSet<Lack> {
    let mut found = BTreeSet::new();
    let Some((path, entry)) = image.root.resolve(path) else { return found };
    let head = image.root.bytes(entry, 256);
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line);
        let mut words = line.lines().next().unwrap_or_default().split_whitespace();
        let Some(interpreter) = words.next() else { return found };
        if !is_program(image, interpreter) {
            found.insert(Lack::Interpreter(interpreter.to_owned()));
        } else if interpreter.ends_with("/env") {
            let name = words.find(|word| !word.starts_with('-') && !word.contains('='));
            let is_there = |name: &str| {
                let mut directories = image.configuration.path().into_iter();
                directories.any(|directory| is_program(image, &format!("{directory}/{name}")))
            };
            found.extend(
                name.filter(|name| !is_there(name)).map(|name| Lack::Interpreter(name.to_owned())),
            );
        } else {
            found.extend(libraries(image, interpreter.trim_start_matches('/')));
        }
        return found;
    }
    found.extend(libraries(image, &path));
    found
}

fn is_program(image: &Image, path: &str) -> bool {
    image.root.resolve(path).is_some_and(|(_, entry)| entry.is_executable())
}

/// Follows the needs of a program as its loader would, breadth first.
fn libraries(image: &Image, path: &str) -> BTreeSet<Lack> {
    let mut found = BTreeSet::new();
    let Some((_, first)) = parsed(image, path) else { return found };
    if let Some(interpreter) = &first.interpreter
        && !is_program(image, interpreter)
    {
        found.insert(Lack::Interpreter(interpreter.clone()));
    }
    let class = first.class;
    let places = Places::of(image);
    let mut loaded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut wanted: Vec<(String, String)> = Vec::new();
    let mut pending: VecDeque<(String, Elf)> = VecDeque::from([(path.to_owned(), first)]);
    while let Some((path, program)) = pending.pop_front() {
        wanted.extend(program.wanted_versions.iter().cloned());
        for name in &program.needed {
            if loaded.contains_key(name) {
                continue;
            }
            let candidates = places.candidates(name, &program, &path);
            let library = candidates.iter().find_map(|candidate| {
                parsed(image, candidate).filter(|(_, library)| library.class == class)
            });
            match library {
                Some((path, library)) => {
                    loaded.insert(name.clone(), library.offered_versions.clone());
                    pending.push_back((path, library));
                }
                None => {
                    loaded.insert(name.clone(), Vec::new());
                    found.insert(Lack::Library(name.clone()));
                }
            }
        }
    }
    for (library, version) in wanted {
        let offered = loaded.get(&library);
        // The loader accepts a library without any versions and only warns.
        let is_lacking = offered.is_some_and(|all| !all.is_empty() && !all.contains(&version));
        if is_lacking {
            found.insert(Lack::Version { library, version });
        }
    }
    found
}

fn parsed(image: &Image, path: &str) -> Option<(String, Elf)> {
    let (path, entry) = image.root.resolve(path)?;
    if !entry.is_file() || entry.size > elf::LARGEST {
        return None;
    }
    if image.root.bytes(entry, 4) != b"\x7fELF" {
        return None;
    }
    elf::parse(&image.root.bytes(entry, elf::LARGEST)).map(|program| (path, program))
}

/// Where the loaders of an image look for libraries.
struct Places {
    variable: Vec<String>,
    /// Full paths that `ldconfig` wrote down.
    cached: Vec<String>,
    usual: Vec<String>,
}

impl Places {
    fn of(image: &Image) -> Self {
        let variable = image.configuration.environment.get("LD_LIBRARY_PATH");
        let variable = variable.map(|value| value.split(':').map(str::to_owned).collect());
        let cache = image.root.resolve("etc/ld.so.cache");
        let cache = cache.map(|(_, entry)| image.root.bytes(entry, 16 << 20)).unwrap_or_default();
        let cached = cache
            .split(|byte| *byte == 0)
            .filter(|word| word.first() == Some(&b'/'))
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let mut usual: Vec<String> = Vec::new();
        for above in ["lib", "usr/lib"] {
            usual.push(above.to_owned());
            usual.push(format!("{above}64"));
            for triplet in ["x86_64-linux-gnu", "aarch64-linux-gnu", "i386-linux-gnu"] {
                usual.push(format!("{above}/{triplet}"));
            }
        }
        // The loader of musl has this in its own list, and reads no cache.
        let is_musl = image.root.below("lib").any(|(path, _)| path.starts_with("lib/ld-musl-"));
        if is_musl {
            usual.push("usr/local/lib".to_owned());
        }
        Self { variable: variable.unwrap_or_default(), cached, usual }
    }

    fn candidates(&self, name: &str, program: &Elf, path: &str) -> Vec<String> {
        if name.contains('/') {
            return vec![name.to_owned()];
        }
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        let own = program
            .search
            .iter()
            .map(|directory| directory.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", above));
        let mut found: Vec<String> = own
            .chain(self.variable.iter().cloned())
            .map(|directory| format!("{directory}/{name}"))
            .collect();
        let cached = self.cached.iter().filter(|path| path.rsplit('/').next() == Some(name));
        found.extend(cached.cloned());
        found.extend(self.usual.iter().map(|directory| format!("{directory}/{name}")));
        found
    }
}
