//! Rewriting single values of a message and leaving every other byte alone.

pub(crate) mod scan;

use std::borrow::Cow;
use std::ops::Range;

use crate::envelope::Envelope;

/// Replacements in one message. What lies outside them comes out as it went in.
///
/// A path names values by their keys, joined with dots; `*` stands for every element of an array
/// and every value of an object: `params.sessionId`, `result.sessions.*.sessionId`. A key that comes
/// twice is found twice, since nobody knows which of them the reader on the other side takes.
#[derive(Debug)]
pub struct Splice<'a> {
    text: &'a str,
    /// Sorted by place; they never overlap.
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Splice<'a> {
    #[must_use]
    pub fn new(message: &Envelope<'a>) -> Self {
        Self { text: message.text(), edits: Vec::new() }
    }

    /// Calls `rewrite` with the raw JSON of every value at `path` and puts its answer in that place.
    ///
    /// The answer must be one JSON value without a newline; `None` leaves the value as it is. A place
    /// inside one that is rewritten already, or around one, is left too. Gives the number of values
    /// rewritten.
    pub fn replace(&mut self, path: &str, rewrite: impl FnMut(&'a str) -> Option<String>) -> usize {
        self.replace_any(&[path], rewrite)
    }

    /// The same for the values at any of several paths, in one pass over the message.
    pub fn replace_any(
        &mut self,
        paths: &[&str],
        rewrite: impl FnMut(&'a str) -> Option<String>,
    ) -> usize {
        self.replace_at(&Places(scan::locate(self.text, paths)), rewrite)
    }

    /// The same for values of this message that were looked for before.
    pub fn replace_at(
        &mut self,
        places: &Places,
        mut rewrite: impl FnMut(&'a str) -> Option<String>,
    ) -> usize {
        let mut count = 0;
        for place in places.0.iter().cloned() {
            let Some(raw) = self.text.get(place.clone()) else { continue };
            let at = self.edits.partition_point(|(edit, _)| edit.end <= place.start);
            if self.edits.get(at).is_some_and(|(edit, _)| edit.start < place.end) {
                continue;
            }
            if let Some(replacement) = rewrite(raw) {
                self.edits.insert(at, (place, replacement));
                count += 1;
            }
        }
        count
    }

    /// Whether the message comes out as it went in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The places that are rewritten, in order, with what stands there afterwards.
    pub fn edits(&self) -> impl Iterator<Item = (Range<usize>, &str)> {
        self.edits.iter().map(|(place, text)| (place.clone(), text.as_str()))
    }

    /// The message with the replacements in it.
    #[must_use]
    pub fn finish(self) -> Cow<'a, str> {
        if self.edits.is_empty() {
            return Cow::Borrowed(self.text);
        }
        let added: usize = self.edits.iter().map(|(_, text)| text.len()).sum();
        let mut output = String::with_capacity(self.text.len() + added);
        let mut copied = 0;
        for (place, replacement) in &self.edits {
            output.push_str(self.text.get(copied..place.start).unwrap_or_default());
            output.push_str(replacement);
            copied = place.end;
        }
        output.push_str(self.text.get(copied..).unwrap_or_default());
        Cow::Owned(output)
    }
}

/// Where values stand in one message.
#[derive(Clone, Debug)]
pub struct Places(Vec<Range<usize>>);

impl Places {
    /// The places of all values at `path`, for who needs both the values and their places.
    #[must_use]
    pub fn of(message: &Envelope<'_>, path: &str) -> Self {
        Self(scan::locate(message.text(), &[path]))
    }

    /// The last one: of a key that comes twice the last counts.
    #[must_use]
    pub fn last(&self) -> Option<Range<usize>> {
        self.0.last().cloned()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The raw JSON of every value at `path`, in the order of the text.
pub fn find<'a>(message: &Envelope<'a>, path: &str) -> Vec<&'a str> {
    let text = message.text();
    scan::locate(text, &[path]).into_iter().filter_map(|place| text.get(place)).collect()
}
