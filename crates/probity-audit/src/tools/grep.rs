//! `grep`: what `grep -n -C` would print, for a file or for everything below a directory.

use std::{
    collections::BTreeSet,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch, sinks::Bytes,
};
use probity_scope::{EntryKind, Scope};

use super::{
    MOST_BYTES, Target,
    basic::{from_basic, from_extended},
    cut::{Output, Reading, failed},
    find::below,
};
use crate::{Rules, coverage::ShownLines, secrets::Secrets, text::shown_name};

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
    sources: &BTreeSet<PathBuf>,
    rules: Rules,
) -> Reading {
    if matches!(target.metadata.kind, EntryKind::Link | EntryKind::Special) {
        return failed(&format!("grep: {}: not a regular file", target.shown()), 2).into();
    }
    let below = match below(scope, target, sources) {
        Ok(below) => below,
        Err(error) => return failed(&format!("grep: {error}"), 2).into(),
    };
    let named = target.metadata.kind == EntryKind::Directory;
    let search = Search { scope, files: &below.files, named, context, secrets };
    // What fits as a basic expression was meant as one; otherwise the pattern is tried as extended.
    let mut wrong = Vec::new();
    for regex in [from_basic(pattern), from_extended(pattern)] {
        match compile(&regex) {
            Ok(matcher) => {
                let (output, shown) = search.run(&matcher);
                if !output.is_empty() {
                    let says_so = rules == Rules::Probity && output.is_full();
                    let cut = if says_so { CUT } else { "" };
                    return Reading { text: output.end(0) + cut + &below.left_out(), shown };
                }
            }
            Err(error) => wrong.push(error),
        }
    }
    // A parenthesis that is not closed is a character of a basic expression. Nobody who wrote one
    // meant that, and "no match" would be taken for an answer.
    match wrong.first() {
        Some(error) => failed(&format!("grep: no line matches as a basic expression, and as an extended one it is not valid: {}", reason(error)), 2).into(),
        None => Reading::from(Output::default().end(1) + &below.left_out()),
    }
}

/// What follows a list of hits that does not fit.
const CUT: &str = "\n(there are more hits; search a smaller path or a longer pattern)";

fn compile(regex: &str) -> Result<RegexMatcher, grep_regex::Error> {
    RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .size_limit(MOST_PATTERN_BYTES)
        .dfa_size_limit(MOST_PATTERN_BYTES)
        .build(regex)
}

/// The last line of an error, which gives the reason; those before it draw the pattern.
fn reason(error: &grep_regex::Error) -> String {
    let message = error.to_string();
    message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
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
    fn run(&self, matcher: &RegexMatcher) -> (Output, Vec<ShownLines>) {
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .heap_limit(Some(MOST_LINE_BYTES))
            .build();
        let mut output = Output::default();
        let mut shown = Vec::new();
        for path in self.files {
            let name = if self.named { shown_name(&path.to_string_lossy()) } else { String::new() };
            let mut lines = Lines {
                path,
                name,
                output: &mut output,
                shown: &mut shown,
                is_binary: false,
                last: None,
            };
            let searched = self.file(path, matcher, &mut searcher, &mut lines);
            if let Err(error) = searched
                && !self.named
            {
                return (self.complaint(path, &error.to_string()), Vec::new());
            }
            if output.is_full() {
                break;
            }
        }
        (output, shown)
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
    path: &'a Path,
    name: String,
    output: &'a mut Output,
    shown: &'a mut Vec<ShownLines>,
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
        let has_room = if self.name.is_empty() {
            self.output.push(&format!("{number}{mark}{line}\n"))
        } else {
            self.output.push(&format!("{}{mark}{number}{mark}{line}\n", self.name))
        };
        if has_room {
            let path = self.path.to_owned();
            self.shown.push(ShownLines { path, first: number, last: number });
        }
        has_room
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
