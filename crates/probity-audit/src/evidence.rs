//! Whether the quotes of a model occur in the sources.
//!
//! A quote is compared without regard to spaces and newlines. It has to have some length, or it
//! would be found anywhere, and it has to hold code: a comment or an import shows nothing. A quote that
//! occurs once in the file says by itself where it is. One that occurs several times has to stand
//! within three lines of the one that the finding names, if it names one. The line is then the quote's.

use std::{collections::HashMap, path::Path};

use probity_scope::Scope;

use crate::{Finding, language::Language};

/// The shortest quote that proves something, in characters besides spaces.
const LEAST_CHARS: usize = 12;

/// How far a quote may stand from the line that is named.
const NEAR_LINES: u64 = 3;

/// The sources as they are compared: each file read once.
pub(crate) struct Evidence<'a> {
    scope: &'a Scope,
    sources: &'a [String],
    files: HashMap<String, Option<Packed>>,
}

/// A text without spaces, and where its lines begin in it.
struct Packed {
    text: String,
    /// The offset in `text` at which each line begins.
    lines: Vec<usize>,
    /// Which lines show nothing that the program does.
    idle: Vec<bool>,
}

impl<'a> Evidence<'a> {
    pub(crate) fn new(scope: &'a Scope, sources: &'a [String]) -> Self {
        Self { scope, sources, files: HashMap::new() }
    }

    /// Judges a finding, and puts its path and line right.
    pub(crate) fn check(&mut self, finding: &mut Finding) {
        let quotes: Vec<String> = finding.evidence.iter().flat_map(|text| quotes(text)).collect();
        finding.verified = Some(match finding.file.clone() {
            Some(file) => match self.scope.relative(Path::new(&file)) {
                Ok(real) => match self.source(&file, &real) {
                    Some(name) => {
                        finding.file = Some(name.to_owned());
                        self.place(name, &quotes, finding.line).is_some_and(|line| {
                            finding.line = Some(line);
                            true
                        })
                    }
                    // Our own report repeats what a model once said, and a skill's page is full of
                    // code: quotes of such files prove nothing about the project.
                    None => {
                        finding.file = Some(real.to_string_lossy().into_owned());
                        false
                    }
                },
                Err(_) => {
                    finding.file = Some(without_root(&file));
                    false
                }
            },
            None => self.anywhere(&quotes, finding),
        });
    }

    /// Whether the quotes of an older finding still exist; its line may have moved since.
    pub(crate) fn find(&mut self, finding: &mut Finding) -> bool {
        self.check(finding);
        if finding.verified != Some(true) {
            finding.line = None;
            self.check(finding);
        }
        finding.verified == Some(true)
    }

    /// The source that is meant. The name under which it is one wins over where a link leads.
    fn source(&self, file: &str, real: &Path) -> Option<&'a str> {
        let plain = file.trim_start_matches("./");
        let sources = self.sources.iter().map(String::as_str);
        let is_meant = |source: &&str| {
            self.scope.relative(Path::new(source)).is_ok_and(|target| target == real)
        };
        sources.clone().find(|source| *source == plain).or_else(|| sources.clone().find(is_meant))
    }

    /// A finding that names no file is placed by a quote that occurs in one source only.
    fn anywhere(&mut self, quotes: &[String], finding: &mut Finding) -> bool {
        let sources = self.sources;
        let mut places = sources
            .iter()
            .filter_map(|source| Some((source, self.place(source, quotes, finding.line)?)))
            .collect::<Vec<_>>()
            .into_iter();
        match (places.next(), places.next()) {
            (Some((file, line)), None) => {
                finding.file = Some(file.clone());
                finding.line = Some(line);
                true
            }
            _ => false,
        }
    }

    /// The line of the first quote that proves its place.
    fn place(&mut self, file: &str, quotes: &[String], claimed: Option<u64>) -> Option<u64> {
        let scope = self.scope;
        let packed = self.files.entry(file.to_owned()).or_insert_with(|| {
            let bytes = scope.read(Path::new(file), u64::MAX).ok()?;
            Some(Packed::new(&String::from_utf8_lossy(&bytes), Language::of_file(file)))
        });
        let packed = packed.as_ref()?;
        quotes.iter().find_map(|quote| {
            let lines = packed.lines_of(quote);
            match (claimed, lines.as_slice()) {
                (None, _) | (_, [_]) => lines.first().copied(),
                (Some(claimed), _) => {
                    let near = |line: &&u64| line.abs_diff(claimed) <= NEAR_LINES;
                    let near = lines.iter().filter(near);
                    near.min_by_key(|line| line.abs_diff(claimed)).copied()
                }
            }
        })
    }
}

impl Packed {
    fn new(text: &str, language: Language) -> Self {
        let text_without_spaces = String::with_capacity(text.len());
        let mut packed = Self { text: text_without_spaces, lines: Vec::new(), idle: Vec::new() };
        for line in text.lines() {
            packed.lines.push(packed.text.len());
            packed.idle.push(language.is_idle(line.trim()));
            packed.text.extend(line.chars().filter(|c| !c.is_whitespace()));
        }
        packed
    }

    /// Every line on which a packed quote begins that holds code.
    fn lines_of(&self, quote: &str) -> Vec<u64> {
        let line_at = |at: usize| self.lines.partition_point(|start| *start <= at);
        let mut lines = Vec::new();
        for (at, found) in self.text.match_indices(quote) {
            let (first, last) = (line_at(at), line_at(at + found.len() - 1));
            let quoted = self.idle.get(first - 1..last).unwrap_or_default();
            if quoted.iter().any(|is_idle| !is_idle) {
                lines.push(first as u64);
            }
        }
        lines.dedup();
        lines
    }
}

/// Whether a text has enough characters besides spaces to prove something.
pub(crate) fn is_long_enough(text: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace()).count() >= LEAST_CHARS
}

/// What of a piece of evidence may be a quote, packed: all of it, and what it sets in backquotes.
fn quotes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut push = |text: &str| {
        let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if is_long_enough(&packed) && !found.contains(&packed) {
            found.push(packed);
        }
    };
    let text = text.trim().trim_matches('`');
    let text = text.strip_prefix("aiken\n").unwrap_or(text);
    push(text);
    push(&without_numbers(text));
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            push(part);
        }
    }
    // An outer pair of quotation marks is the model's.
    if let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        push(inner);
    }
    found
}

/// The lines as they were before grep, or we, put numbers in front of them.
fn without_numbers(text: &str) -> String {
    let stripped: Vec<&str> = text
        .lines()
        .filter(|line| *line != "--")
        .map(|line| {
            let digits = line.trim_start();
            let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == digits.len() {
                return line;
            }
            rest.strip_prefix([':', '-', '\t', '|']).unwrap_or(line)
        })
        .collect();
    stripped.join("\n")
}

/// A path that was refused is still shown, but not where on this machine it would be.
fn without_root(file: &str) -> String {
    if Path::new(file).is_absolute() {
        file.rsplit('/').next().unwrap_or_default().to_owned()
    } else {
        file.to_owned()
    }
}

#[cfg(test)]
mod tests;
