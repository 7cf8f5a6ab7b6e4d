//! Splitting the expanded text into words, while it is being expanded.

use std::ops::Range;

use super::ExpandedWord;

/// Collects words. White space separates them unless it is added as protected text.
#[derive(Default)]
pub(super) struct Words {
    done: Vec<ExpandedWord>,
    text: String,
    range: Option<Range<usize>>,
}

impl Words {
    /// Adds text whose white space separates words; `source` is where in the input it came from.
    pub(super) fn add(&mut self, text: &str, source: &Range<usize>) {
        for character in text.chars() {
            if character.is_whitespace() {
                self.end_word();
            } else {
                self.text.push(character);
                self.extend(source);
            }
        }
    }

    /// Adds text that belongs to the current word whatever it holds.
    pub(super) fn add_protected(&mut self, text: &str, source: &Range<usize>) {
        self.text.push_str(text);
        self.extend(source);
    }

    /// Forgets the word that is being collected.
    pub(super) fn drop_word(&mut self) {
        self.text.clear();
        self.range = None;
    }

    pub(super) fn finish(mut self) -> Vec<ExpandedWord> {
        self.end_word();
        self.done
    }

    /// Ends the word, unless it is empty: an empty pair of quotes makes no word of its own.
    fn end_word(&mut self) {
        let text = std::mem::take(&mut self.text);
        let range = self.range.take().unwrap_or_default();
        if !text.is_empty() {
            self.done.push(ExpandedWord { text, range });
        }
    }

    fn extend(&mut self, source: &Range<usize>) {
        match &mut self.range {
            Some(range) => range.end = source.end,
            None => self.range = Some(source.clone()),
        }
    }
}
