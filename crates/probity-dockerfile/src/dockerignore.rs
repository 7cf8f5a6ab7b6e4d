//! `.dockerignore`: which paths of the build context never reach the builder.
//!
//! Reading and matching follow moby's pattern matcher, which is neither git's nor a shell's: every
//! pattern is anchored at the context's root, the last one that matches decides, and a pattern that
//! matches a directory matches all that lies below it.

mod glob;

#[cfg(test)]
mod tests;

use std::{error, fmt};

use self::glob::Glob;

/// The longest path that can exist; a longer one names no file and is not matched at all.
const MAX_PATH_LENGTH: usize = 4096;

/// The patterns of one `.dockerignore` file.
#[derive(Clone, Debug, Default)]
pub struct Dockerignore {
    patterns: Vec<IgnorePattern>,
}

impl Dockerignore {
    /// Reads a file. A line that BuildKit would refuse is left out and reported.
    pub fn parse(text: &str) -> (Self, Vec<DockerignoreError>) {
        let mut patterns = Vec::new();
        let mut errors = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.split('\n').enumerate() {
            let line_number = index + 1;
            let Some(normal) = normalize_line(line) else { continue };
            match IgnorePattern::new(&normal, line_number) {
                Ok(pattern) => patterns.push(pattern),
                Err(kind) => errors.push(DockerignoreError { line: line_number, kind }),
            }
        }
        (Self { patterns }, errors)
    }

    pub fn patterns(&self) -> &[IgnorePattern] {
        &self.patterns
    }

    /// Whether some `!` pattern takes paths back in.
    pub fn has_exclusions(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.exclusion)
    }

    /// Whether the file at `path`, relative to the context, is ignored. The context itself never is.
    pub fn matches(&self, path: &str) -> bool {
        let path = clean_path(path);
        path != "." && self.matches_path_or_parent(&path)
    }

    /// Whether a build warns that the source of a COPY or ADD is ignored.
    ///
    /// With `!` patterns it never does, because a directory may be ignored and a file in it not. The
    /// context's root counts as ignored only where a pattern takes every entry of it: a pattern like
    /// `.*` matches the text `.` but not what it stands for.
    pub fn ignores_copy_source(&self, source: &str) -> bool {
        if self.has_exclusions() {
            return false;
        }
        let source = clean_path(source);
        let takes_everything =
            |pattern: &IgnorePattern| matches!(pattern.text.as_str(), "*" | "**" | "**/*");
        if (source == "." || source == "/") && !self.patterns.iter().any(takes_everything) {
            return false;
        }
        self.matches_path_or_parent(&source)
    }

    fn matches_path_or_parent(&self, path: &str) -> bool {
        if path.len() > MAX_PATH_LENGTH {
            return false;
        }
        let mut matched = false;
        for pattern in &self.patterns {
            // A pattern that could not change the answer is not tried.
            if pattern.exclusion == matched && pattern.glob.matches_path_or_parent(path) {
                matched = !pattern.exclusion;
            }
        }
        matched
    }
}

/// One pattern, cleaned.
#[derive(Clone, Debug)]
pub struct IgnorePattern {
    text: String,
    exclusion: bool,
    line: usize,
    glob: Glob,
}

impl IgnorePattern {
    /// The pattern without its `!`, its path cleaned.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern takes paths back in (`!pattern`).
    pub fn is_exclusion(&self) -> bool {
        self.exclusion
    }

    /// The line it stands on, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    fn new(normal: &str, line: usize) -> Result<Self, DockerignoreErrorKind> {
        // The whole is cleaned again, its `!` included, so that `!/` means a lone `!`.
        let cleaned = clean_path(normal);
        let (exclusion, text) = match cleaned.strip_prefix('!') {
            Some("") => return Err(DockerignoreErrorKind::EmptyExclusion),
            Some(rest) => (true, rest.to_owned()),
            None => (false, cleaned),
        };
        let Some(glob) = Glob::parse(&text) else {
            return Err(DockerignoreErrorKind::BadPattern { pattern: text });
        };
        Ok(Self { text, exclusion, line, glob })
    }
}

/// A line that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DockerignoreError {
    /// Counted from 1.
    pub line: usize,
    pub kind: DockerignoreErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DockerignoreErrorKind {
    /// A `!` with nothing to take back in.
    EmptyExclusion,
    /// A class that is not closed, an escape that escapes nothing, or the like.
    BadPattern { pattern: String },
}

impl fmt::Display for DockerignoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        match &self.kind {
            DockerignoreErrorKind::EmptyExclusion => {
                write!(formatter, "line {line}: illegal exclusion pattern: \"!\"")
            }
            DockerignoreErrorKind::BadPattern { pattern } => {
                write!(formatter, "line {line}: syntax error in pattern \"{pattern}\"")
            }
        }
    }
}

impl error::Error for DockerignoreError {}

/// Cleans a path as Go's `path.Clean` does: no empty and no `.` elements, `..` resolved where it can
/// be, no slash at the end, and `.` for nothing.
pub fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut elements: Vec<&str> = Vec::new();
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." if elements.last().is_some_and(|last| *last != "..") => {
                elements.pop();
            }
            ".." if rooted => {}
            _ => elements.push(element),
        }
    }
    match (rooted, elements.is_empty()) {
        (true, _) => format!("/{}", elements.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => elements.join("/"),
    }
}

/// The pattern of a line, relative to the context; `None` for a comment or a blank line.
fn normalize_line(line: &str) -> Option<String> {
    // Only a `#` in the first column makes a comment.
    if line.starts_with('#') {
        return None;
    }
    let trimmed = line.trim();
    let (mark, pattern) = match trimmed.strip_prefix('!') {
        Some(rest) => ("!", rest.trim()),
        None => ("", trimmed),
    };
    if pattern.is_empty() {
        return (!mark.is_empty()).then(|| mark.to_owned());
    }
    let cleaned = clean_path(pattern);
    let relative = match cleaned.strip_prefix('/') {
        Some(rest) if !rest.is_empty() => rest,
        _ => &cleaned,
    };
    Some(format!("{mark}{relative}"))
}
