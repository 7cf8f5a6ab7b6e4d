//! `grep`: what `grep -n -C` would print, for a file or for everything below a directory.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch, sinks::Bytes,
};
use probity_scope::{Kind, Scope};

use super::{
    MOST_BYTES, Target,
    basic::{from_basic, from_extended},
    cut::{Output, failed},
    find::LIMITS,
};
use crate::secrets::Secrets;

/// A longer line is not source code, and is not worth the memory.
const MOST_LINE_BYTES: usize = 4 << 20;

/// Where a file shows whether it is text.
const HEAD_BYTES: u64 = 32 << 10;

/// Patterns that compile to more than this are refused.
const MOST_PATTERN_BYTES: usize = 4 << 20;

pub(super) fn grep(
    scope: &Scope,
    target: &Target,
    pattern: &str,
    context: usize,
    secrets: Option<&Secrets>,
) -> String {
    let files = match target.metadata.kind {
        Kind::File => vec![target.path.clone()],
        Kind::Directory => match scope.walk(&target.path, LIMITS, &|_| false) {
            Ok(walk) => walk.files,
            Err(error) => return failed(&format!("grep: {error}"), 2),
        },
        Kind::Link | Kind::Special => {
            return failed(&format!("grep: {}: not a regular file", target.shown()), 2);
        }
    };
    let named = target.metadata.kind == Kind::Directory;
    let search = Search { scope, files: &files, named, context, secrets };
    let mut why = String::new();
    // What fits as a basic expression was meant as one; else the pattern is tried as extended.
    for regex in [from_basic(pattern), from_extended(pattern)] {
        match compile(&regex) {
            Ok(matcher) => {
                let output = search.run(&matcher);
                if !output.is_empty() {
                    return output.end(0);
                }
                why.clear();
            }
            Err(error) if why.is_empty() => why = error,
            Err(_) => {}
        }
    }
    if why.is_empty() { Output::default().end(1) } else { failed(&format!("grep: {why}"), 2) }
}

fn compile(regex: &str) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .size_limit(MOST_PATTERN_BYTES)
        .dfa_size_limit(MOST_PATTERN_BYTES)
        .build(regex)
        .map_err(|error| {
            let message = error.to_string();
            let last = message.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        })
}

struct Search<'a> {
    scope: &'a Scope,
    files: &'a [PathBuf],
    /// Whether lines begin with the name of their file.
    named: bool,
    context: usize,
    secrets: Option<&'a Secrets>,
}

impl Search<'_> {
    fn run(&self, matcher: &RegexMatcher) -> Output {
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .heap_limit(Some(MOST_LINE_BYTES))
            .build();
        let mut output = Output::default();
        for path in self.files {
            let name = if self.named { path.to_string_lossy().into_owned() } else { String::new() };
            let mut lines = Lines { name, output: &mut output, is_binary: false, last: None };
            let searched = self.file(path, matcher, &mut searcher, &mut lines);
            if let Err(error) = searched
                && !self.named
            {
                return self.complaint(path, &error.to_string());
            }
            if output.is_full() {
                break;
            }
        }
        output
    }

    fn file(
        &self,
        path: &Path,
        matcher: &RegexMatcher,
        searcher: &mut Searcher,
        lines: &mut Lines<'_>,
    ) -> io::Result<()> {
        let mut file = self.scope.open_file(path).map_err(io::Error::other)?;
        let mut head = Vec::new();
        file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
        lines.is_binary = head.contains(&0);
        let mut bytes = head;
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        // Looking for secrets takes longer than looking for a pattern, so that only files with a hit
        // are starred out; then the hit has to be outside of the stars.
        if let Some(secrets) = self.secrets
            && !lines.is_binary
        {
            let mut is_hit = false;
            let first = Bytes(|_, _| {
                is_hit = true;
                Ok(false)
            });
            searcher.search_reader(matcher, bytes.as_slice(), first)?;
            if !is_hit {
                return Ok(());
            }
            bytes = secrets.mask(&String::from_utf8_lossy(&bytes)).into_bytes();
        }
        searcher.search_reader(matcher, bytes.as_slice(), &mut *lines)?;
        if lines.is_binary && lines.last.is_some() {
            lines.output.push(&format!("grep: {}: binary file matches\n", path.display()));
        }
        Ok(())
    }

    fn complaint(&self, path: &Path, why: &str) -> Output {
        let mut output = Output::default();
        output.push(&format!("grep: {}: {why}", path.display()));
        output
    }
}

/// Writes hits as grep does: `N:` before a match, `N-` before context, and `--` where lines are left
/// out.
struct Lines<'a> {
    name: String,
    output: &'a mut Output,
    is_binary: bool,
    /// The number of the last line that was written.
    last: Option<u64>,
}

impl Lines<'_> {
    fn push(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) -> bool {
        let number = number.unwrap_or_default();
        let follows = self.last.is_some_and(|last| last + 1 == number);
        self.last = Some(number);
        if self.is_binary {
            return false;
        }
        if !follows && !self.output.is_empty() {
            self.output.push("--\n");
        }
        let line = String::from_utf8_lossy(bytes);
        let line = line.strip_suffix('\n').unwrap_or(&line);
        if self.name.is_empty() {
            self.output.push(&format!("{number}{mark}{line}\n"))
        } else {
            self.output.push(&format!("{}{mark}{number}{mark}{line}\n", self.name))
        }
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        Ok(self.push(found.line_number(), ':', found.bytes()))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.push(context.line_number(), '-', context.bytes()))
    }
}
