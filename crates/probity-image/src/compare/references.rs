//! Which of the files that a new image lacks served building alone.
//!
//! A file is needed for building alone if a build step names it, or a file that such a step runs,
//! and nothing that the new image keeps names it. Programs name what they read: by the file's name
//! or by that of a directory above it.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use super::{Pair, embedded, paths};
use crate::Entry;

/// A program larger than this is not searched, and its files count as needed.
const LARGEST: u64 = 64 << 20;
/// All that is searched of one image.
const MOST: u64 = 512 << 20;

/// The lost paths without those that only building needs, or that nothing needs.
pub(super) fn needed<'p>(pair: &Pair<'_>, lost: Vec<&'p str>) -> Vec<&'p str> {
    if lost.is_empty() {
        return lost;
    }
    let names: Vec<Vec<String>> = lost.iter().map(|path| names(pair, path)).collect();
    let all: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    // A pattern that is too large to be searched for leaves every path needed.
    let Ok(search) = AhoCorasick::new(&all) else { return lost };
    let mentioned = |bytes: &[u8], is_mention: fn(&[u8], usize, usize) -> bool| {
        let found = search.find_overlapping_iter(bytes);
        let found = found.filter(|found| is_mention(bytes, found.start(), found.end()));
        let found: BTreeSet<&str> = found.map(|found| all[found.pattern().as_usize()]).collect();
        found
    };
    let Some(at_run_time) = kept_mentions(pair, &mentioned) else { return lost };
    let root = &pair.original.root;
    let steps = pair.original.steps.join("\n");
    let mut in_building = mentioned(steps.as_bytes(), is_word);
    let mut is_spared: Vec<bool> = lost.iter().map(|path| is_beside_the_point(path)).collect();
    let mut is_read = vec![false; lost.len()];
    // A step runs a script, and the script names further files.
    loop {
        let next = (0..lost.len()).find(|&index| {
            !is_read[index] && names[index].iter().any(|name| in_building.contains(name.as_str()))
        });
        let Some(index) = next else { break };
        is_read[index] = true;
        is_spared[index] = true;
        let text = root.text(lost[index]).unwrap_or_default();
        in_building.extend(mentioned(text.as_bytes(), is_word));
    }
    let kept = pair.proposal.root.iter().filter(|(_, entry)| entry.is_file());
    let kept: BTreeSet<&str> = kept.map(|(path, _)| file_name(path)).collect();
    // A name that a kept file has too, or that many directories have, says nothing about a lost one.
    let telling = |name: &&String| !kept.contains(name.as_str()) && !is_common(name);
    // A bundle names the files that it was made of, and has their contents.
    let is_named = |index: usize| {
        let telling: Vec<&String> = names[index].iter().filter(telling).collect();
        let mut naming = at_run_time
            .iter()
            .filter(|(_, mentions)| telling.iter().any(|name| mentions.contains(name.as_str())));
        let contents = || root.text(lost[index]).unwrap_or_default();
        naming.any(|(file, _)| match file {
            Some(file) => !embedded::is_in(&contents(), &pair.proposal.root.bytes(file, LARGEST)),
            None => true,
        })
    };
    let is_needed = |index: usize| !is_spared[index] || is_named(index);
    lost.iter().enumerate().filter(|(index, _)| is_needed(*index)).map(|(_, path)| *path).collect()
}

/// A file of the new image, or its configuration, and the names that it mentions.
type Mentions<'p, 's> = (Option<&'p Entry>, BTreeSet<&'s str>);

/// Names that the new image mentions; none if there is too much to search.
fn kept_mentions<'p, 's>(
    pair: &Pair<'p>,
    mentioned: &impl Fn(&[u8], fn(&[u8], usize, usize) -> bool) -> BTreeSet<&'s str>,
) -> Option<Vec<Mentions<'p, 's>>> {
    let root = &pair.proposal.root;
    let mut found = Vec::new();
    let mut searched = 0;
    for (path, entry) in root.iter() {
        let is_searched = entry.is_file() && !paths::is_package_file(path) && pair.is_added(path);
        if !is_searched || paths::is_manifest(path) {
            continue;
        }
        searched += entry.size;
        if entry.size > LARGEST || searched > MOST {
            return None;
        }
        let bytes = root.bytes(entry, LARGEST);
        let is_binary = bytes.contains(&0);
        let names = mentioned(&bytes, if is_binary { is_path_of_binary } else { is_path });
        if !names.is_empty() {
            found.push((Some(entry), names));
        }
    }
    let configuration = &pair.proposal.configuration;
    let start = configuration.start().join("\n") + "\n" + &configuration.healthcheck.join("\n");
    found.push((None, mentioned(start.as_bytes(), is_word)));
    Some(found)
}

/// The name of the file, those of the directories above it up to that of the whole project, and the
/// path of the directory that it is in, unless that is the project itself.
fn names(pair: &Pair<'_>, path: &str) -> Vec<String> {
    let directory = pair.original.configuration.directory.trim_matches('/');
    let inside = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
    // A step that names `src` reads what is there; a program that names it may mean any directory.
    let is_of_project =
        |word: &str| inside.is_none() && directory.split('/').any(|above| above == word);
    let is_own = |word: &&str| (*word == "src" || !is_common(word)) && !is_of_project(word);
    let mut words: Vec<&str> = inside.unwrap_or(path).split('/').collect();
    let file = words.pop().unwrap_or(path);
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    let is_project = format!("{directory}/").starts_with(&format!("{above}/"));
    let whole = (!is_project && above.contains('/')).then(|| format!("/{above}"));
    // A program on PATH is there to be called, unless a step calls it by its own name: a step that
    // names the directory puts something there.
    let is_on_path =
        pair.original.configuration.path().iter().any(|on| on.trim_matches('/') == above);
    if is_on_path {
        return vec![file.to_owned()];
    }
    let words = words.into_iter().filter(is_own).chain([file]).map(str::to_owned);
    words.chain(whole).collect()
}

/// Directories that images and projects have for everything.
fn is_common(name: &str) -> bool {
    const COMMON: [&str; 22] = [
        "usr",
        "src",
        "opt",
        "srv",
        "var",
        "app",
        "lib",
        "local",
        "home",
        "etc",
        "share",
        "build",
        "www",
        "go",
        "root",
        "bin",
        "code",
        "work",
        "workspace",
        "html",
        "project",
        "pkg",
    ];
    COMMON.contains(&name)
}

/// Whether a name stands by itself.
fn is_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    !is_part(start.checked_sub(1).and_then(|at| bytes.get(at))) && !is_part(bytes.get(end))
}

/// Whether a name is written as a path or a part of one, and not as a word of a language.
fn is_path(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_edge = |byte: Option<&u8>| {
        byte.is_some_and(|byte| matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'\\' | 0))
    };
    let has_ending = bytes.get(start..end).is_some_and(|name| name.contains(&b'.'));
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let is_whole = bytes.get(start) == Some(&b'/');
    is_word(bytes, start, end)
        && !is_in_url(bytes, start)
        && (is_whole || has_ending || is_edge(before) || is_edge(bytes.get(end)))
}

/// Whether a scheme precedes this place of the same word.
fn is_in_url(bytes: &[u8], start: usize) -> bool {
    const LONGEST: usize = 2048;
    let before = bytes.get(start.saturating_sub(LONGEST)..start).unwrap_or_default();
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>()=".contains(byte);
    let word = before.iter().rposition(is_end).map_or(0, |at| at + 1);
    before.get(word..).is_some_and(|word| word.windows(3).any(|three| three == b"://"))
}

/// The same in a compiled program, where texts stand side by side without an end. Short names of
/// directories are in there by chance.
fn is_path_of_binary(bytes: &[u8], start: usize, end: usize) -> bool {
    const SHORT: usize = 5;
    let is_slash = |byte: Option<&u8>| byte == Some(&b'/');
    let before = is_slash(start.checked_sub(1).and_then(|at| bytes.get(at)));
    let after = is_slash(bytes.get(end));
    let has_ending = bytes.get(start..end).is_some_and(|name| name.contains(&b'.'));
    let is_whole = bytes.get(start) == Some(&b'/');
    is_whole || has_ending || (before && after) || (end - start >= SHORT && (before || after))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Files for people and for checks of the source: no program reads them to do its work.
fn is_beside_the_point(path: &str) -> bool {
    const DIRECTORIES: [&str; 12] = [
        "docs",
        "doc",
        "man",
        "t",
        "spec",
        "__tests__",
        "coverage",
        "bench",
        "benches",
        "benchmarks",
        "examples",
        "fuzz",
    ];
    const STEMS: [&str; 14] = [
        "CHANGELOG",
        "CHANGES",
        "HISTORY",
        "NEWS",
        "AUTHORS",
        "CONTRIBUTORS",
        "CONTRIBUTING",
        "NOTICE",
        "COPYING",
        "LICENSE",
        "README",
        "SECURITY",
        "CODEOWNERS",
        "TODO",
    ];
    const NAMES: [&str; 16] = [
        "Makefile.PL",
        "cpanfile",
        "Rakefile",
        "Gemfile",
        "composer.json",
        "package.json",
        "phpunit.xml",
        "phpunit.xml.dist",
        "jest.config.js",
        "tox.ini",
        "pytest.ini",
        ".eslintrc.json",
        ".eslintrc.js",
        ".prettierrc",
        ".npmrc",
        "Justfile",
    ];
    let mut words: Vec<&str> = path.split('/').collect();
    let name = words.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or(name);
    words.iter().any(|word| DIRECTORIES.contains(word))
        || STEMS.contains(&stem)
        || NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_name_at_a_slash_or_in_quotes_or_with_an_ending() {
        for (text, name, word, path) in [
            ("open('icons/cat.svg')", "icons", true, true),
            ("open(\"icons\")", "icons", true, true),
            ("let icons = pack(icons);", "icons", true, false),
            ("read cat.svg now", "cat.svg", true, true),
            ("bobcat.svg", "cat.svg", false, false),
            ("sh tools/gen.sh", "tools", true, true),
            ("toolset", "tools", false, false),
            ("get https://example.org/docs now", "docs", true, false),
        ] {
            let start = text.find(name).unwrap();
            let end = start + name.len();
            assert_eq!(is_word(text.as_bytes(), start, end), word, "{text}");
            assert_eq!(is_path(text.as_bytes(), start, end), path, "{text}");
        }
    }
}
