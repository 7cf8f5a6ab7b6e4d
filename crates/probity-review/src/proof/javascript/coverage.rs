//! What V8 has counted: how often each function of a file was called.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;

use super::super::{Evidence, Reach, runner::Flagged, untrusted};

#[derive(Deserialize)]
struct Profile {
    result: Vec<Script>,
}

#[derive(Deserialize)]
struct Script {
    url: String,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    function_name: String,
    ranges: Vec<Range>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    start_offset: usize,
    end_offset: usize,
    count: u64,
}

/// Counts of the functions of one file, by where they are.
#[derive(Debug, Default)]
pub(super) struct Functions {
    counts: BTreeMap<(usize, usize), (String, u64)>,
    /// Whether the file was loaded at all.
    pub(super) loaded: bool,
}

impl Functions {
    /// Sums up the profiles of a run; each thread and process has written its own.
    pub(super) fn read(out: &Path, profiles: &str, file: &str, source: &str) -> Self {
        let mut functions = Self::default();
        let own = |url: &str| url.strip_prefix("file://").unwrap_or(url) == file;
        for entry in fs::read_dir(out.join(profiles)).into_iter().flatten().flatten() {
            let path = Path::new(profiles).join(entry.file_name());
            let Ok(text) = untrusted::read(out, path) else { continue };
            let Ok(profile) = serde_json::from_str::<Profile>(&text) else { continue };
            for script in profile.result.into_iter().filter(|script| own(&script.url)) {
                functions.loaded = true;
                for function in script.functions {
                    functions.add(function);
                }
            }
        }
        functions.forget_wrappers(source);
        functions
    }

    fn add(&mut self, function: Function) {
        if let Some(whole) = function.ranges.first() {
            let place = (whole.start_offset, whole.end_offset);
            let known = self.counts.entry(place).or_insert((function.function_name, 0));
            known.1 += whole.count;
        }
    }

    /// The file as a whole is a function, and around it may be others of a loader; so are the
    /// exports that a bundler writes before the code. Neither are the file's own: whatever has
    /// no name and begins before the first that has one is left out, unless the source has a
    /// function just there, as a list of handlers has.
    fn forget_wrappers(&mut self, source: &str) {
        // A function of the file may stand at its very beginning.
        self.counts.retain(|(start, _), (name, _)| *start > 0 || !name.is_empty());
        let named = self.counts.iter().filter(|(_, (name, _))| !name.is_empty());
        if let Some(first) = named.map(|((start, _), _)| *start).min() {
            let units: Vec<u16> = source.encode_utf16().collect();
            self.counts.retain(|(start, end), (name, _)| {
                !name.is_empty() || *start >= first || is_function(&units, *start, *end)
            });
        }
    }

    /// What was called more often than when the file was only loaded.
    pub(super) fn beyond(&self, idle: &Self, flagged: &Flagged, source: &str) -> Reach {
        let called: Vec<(usize, usize)> = self
            .counts
            .iter()
            .filter(|(place, (_, count))| {
                *count > idle.counts.get(place).map_or(0, |known| known.1)
            })
            .map(|(place, _)| *place)
            .collect();
        if called.is_empty() {
            return Reach::NotReached;
        }
        let line = |offset: usize| {
            // Offsets are in UTF-16 units.
            let before =
                source.encode_utf16().take(offset).filter(|unit| *unit == u16::from(b'\n'));
            u32::try_from(before.count()).unwrap_or(u32::MAX).saturating_add(1)
        };
        let within = |place: &(usize, usize)| {
            source.encode_utf16().count() >= place.1 && flagged.holds(line(place.0), line(place.1))
        };
        Reach::Reached { by: Evidence::Coverage, lines: called.iter().any(within) }
    }
}

/// Whether a function is written from here to there, in UTF-16 units.
fn is_function(units: &[u16], start: usize, end: usize) -> bool {
    let text = String::from_utf16_lossy(units.get(start..end).unwrap_or_default());
    let whole = text.ends_with(['}', ')']) || !text.contains(['{', '\n']);
    let begins = text.starts_with("function") || text.starts_with("async ");
    let arrow = text.starts_with(|first: char| first == '(' || first.is_alphabetic());
    whole && (begins || (arrow && text.contains("=>")))
}

#[cfg(test)]
mod tests {
    use super::{Flagged, Function, Functions, Range, Reach};

    #[test]
    fn a_function_at_the_very_beginning_is_none_of_a_loader() {
        let counted = |calls: u64| {
            let mut functions = Functions::default();
            for (name, start, end, count) in
                [("", 0, 60, 1), ("merge", 0, 40, calls), ("", 45, 50, 0)]
            {
                let range = Range { start_offset: start, end_offset: end, count };
                functions.add(Function { function_name: name.to_owned(), ranges: vec![range] });
            }
            functions.forget_wrappers("");
            functions
        };
        let flagged = Flagged { file: "merge.js".to_owned(), first: 1, last: 1 };
        let reach = |calls| counted(calls).beyond(&counted(0), &flagged, &"x".repeat(60));
        assert!(matches!(reach(1), Reach::Reached { lines: true, .. }));
        assert_eq!(reach(0), Reach::NotReached);
    }

    #[test]
    fn a_handler_before_every_named_function_is_the_files_own() {
        let source = "on('x', async (it) => { return it; });\nfunction named() {}\n";
        let start = source.find("async").unwrap();
        let end = source.find(");").unwrap();
        let left = |start, end| {
            let mut functions = Functions::default();
            for (name, start, end) in
                [("", 0, source.len()), ("", start, end), ("named", end + 3, source.len() - 1)]
            {
                let range = Range { start_offset: start, end_offset: end, count: 1 };
                functions.add(Function { function_name: name.to_owned(), ranges: vec![range] });
            }
            functions.forget_wrappers(source);
            functions.counts.len()
        };
        assert_eq!(left(start, end), 2);
        // One of a bundler's stands where the source has something else.
        assert_eq!(left(start + 3, end - 2), 1);
    }
}
